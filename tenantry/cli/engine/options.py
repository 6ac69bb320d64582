"""The options that `up`, `preview` and `destroy` share, and those that go to Pulumi as they are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from tenantry.cli import options
from tenantry.cli.commands import Command
from tenantry.cli.environment import values
from tenantry.cli.fleet_file import fleet_file, reads_file
from tenantry.messages.errors import TenantryError

if TYPE_CHECKING:
    from tenantry.stacks.file import Stack

_F = TypeVar("_F", bound=Callable[..., Any])
_REST = "tenantry.rest"


class EngineCommand(Command):
    """A command that takes options for Pulumi after `--`."""

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        return [*super().collect_usage_pieces(ctx), "[-- PULUMI-OPTION...]"]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        end = args.index("--") if "--" in args else len(args)
        ctx.meta[_REST] = tuple(args[end + 1 :])
        return super().parse_args(ctx, args[:end])


def _stacks(context: click.Context) -> list[Stack]:
    """The stacks of the environments on the command line, or of all; empty if they cannot be read."""
    from tenantry.stacks.file import stacks_of

    environments = values(context.params.get("environment"))
    try:
        found = stacks_of(fleet_file(context).resolve().parent)
    except TenantryError:
        return []
    return [each for each in found if not environments or each.environment in environments]


def _names(context: click.Context, _: click.Parameter, start: str) -> list[str]:
    return [stack.name for stack in _stacks(context) if stack.name.startswith(start)]


def stack_options(command: _F) -> _F:
    """Which stack a command runs, for `pulumi_options`, which collects them."""
    return _stack_options(
        command, options.environment("The environment whose stack runs.", required=True, argument=True)
    )


def deleted_stack_options(command: _F) -> _F:
    """The same for a command that deletes the environment.

    It has to be typed: a variable that was set for something else, or a file with one environment, must not choose it.
    `up` takes these defaults, because the file can undo what it does, and the guard limits what it removes.
    """
    return _stack_options(
        command, options.environment("The environment whose stack runs.", required=True, argument=True, typed=True)
    )


def _stack_options(command: _F, environment: Callable[[_F], _F]) -> _F:
    options = (
        environment,
        click.option(
            "--stack",
            metavar="NAME",
            help="The stack; needed if the files of several stacks name the environment.",
            shell_complete=_names,
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


_PASSED = {
    "yes": click.option("-y", "--yes", is_flag=True, help="Do not ask before anything is changed."),
    "skip_preview": click.option("--skip-preview", is_flag=True, help="Do not compute a preview first."),
}


class Asked(NamedTuple):
    """Which stack runs, and with what. passed: options for pulumi."""

    file: Path
    environment: str
    stack: str | None
    passed: tuple[str, ...]

    @property
    def project(self) -> Path:
        return self.file.resolve().parent


def pulumi_options(*names: str) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Options of Pulumi's, beside those of `stack_options`. The command gets both as its first argument, an `Asked`."""

    def decorate(command: Callable[..., int]) -> Callable[..., int]:
        def with_passed(file: Path, **options: Any) -> int:
            given = [f"--{name.replace('_', '-')}" for name in names if options.pop(name)]
            rest = click.get_current_context().meta.get(_REST, ())
            environment, stack = options.pop("environment"), options.pop("stack")
            return command(Asked(file, environment, stack, (*given, *rest)), **options)

        with_passed.__doc__ = command.__doc__
        with_passed.__click_params__ = getattr(command, "__click_params__", [])  # type: ignore[attr-defined]
        decorated: Callable[..., int] = reads_file(with_passed)
        for name in reversed(names):
            decorated = _PASSED[name](decorated)
        return decorated

    return decorate


def has(passed: Sequence[str], *options: str) -> bool:
    """Whether one of the options is among those for Pulumi."""
    return any(each.partition("=")[0] in options for each in passed)
