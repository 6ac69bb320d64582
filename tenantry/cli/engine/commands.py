"""`tenantry preview`, `up` and `destroy`: Pulumi for the stack of an environment, with checks before and after."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from tenantry.cli import options
from tenantry.cli.commands import Command
from tenantry.cli.engine.session import Asked, opened
from tenantry.cli.fleet_file import reads_file
from tenantry.stacks.outcome import CONDITIONS, IGNORE, OFFBOARD, THROUGH, ignore_variable, through_variable

_REST, _LINES = "tenantry.rest", "tenantry.lines"
"""Keys of a context's `meta`."""


class _EngineCommand(Command):
    """A command that takes options for Pulumi after `--`, and lines after `--ignore NAMES`, up to the next option."""

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        return [*super().collect_usage_pieces(ctx), "[-- PULUMI-OPTION...]"]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        end = args.index("--") if "--" in args else len(args)
        args, ctx.meta[_REST] = args[:end], tuple(args[end + 1 :])
        at = next((index for index, word in enumerate(args) if word.partition("=")[0] == "--ignore"), end)
        first = at + (1 if "=" in "".join(args[at : at + 1]) else 2)
        last = next((index for index in range(first, end) if args[index].startswith("-")), end)
        ctx.meta[_LINES] = tuple(args[first:last])
        return super().parse_args(ctx, [*args[:first], *args[last:]])


def _runs_stack(command: Callable[..., int]) -> Callable[..., int]:
    """Which stack a command runs."""
    environment: Callable[[Any], Any] = options.environment(
        "The environment whose stack runs.", required=True, argument=True
    )
    stack: Callable[[Any], Any] = click.option(
        "--stack", metavar="NAME", help="The stack; needed if the files of several stacks name the environment."
    )
    runs: Callable[..., int] = environment(stack(command))
    return runs


_yes = click.option("-y", "--yes", is_flag=True, help="Do not ask before anything is changed.")
_skip_preview = click.option("--skip-preview", is_flag=True, help="Do not compute a preview first.")


def _asked(file: Path, environment: str, stack: str | None, *, yes: bool = False, skip_preview: bool = False) -> Asked:
    own = (*(("--yes",) if yes else ()), *(("--skip-preview",) if skip_preview else ()))
    return Asked(file, environment, stack, (*own, *click.get_current_context().meta[_REST]))


@click.command(
    "preview",
    cls=_EngineCommand,
    epilog="""\
Examples:
  tenantry preview prod
  tenantry preview --environment prod -- --diff
  tenantry preview --environment prod -- --expect-no-changes

Exit codes:
  0    Pulumi has shown what it would do
  1    Pulumi failed
  2    tenants.yaml is invalid, or pulumi, a stack, a login, a passphrase or
       the management cluster is missing
  4    the guard refuses the change
  130  interrupted
""",
)
@_runs_stack
@reads_file
def preview(file: Path, environment: str, stack: str | None) -> int:
    """Show with Pulumi what `tenantry up` would create, change and delete. Nothing is changed.

    Prints the `pulumi` command that it runs. Options after `--` go to pulumi; they and your own environment variables win
    over the settings that Tenantry chooses.
    """
    asked = _asked(file, environment, stack)
    return opened(asked, "preview").run("preview", asked.passed)


def _conditions(_: click.Context, __: click.Parameter, value: str | None) -> tuple[str, ...]:
    names = [name.strip() for name in (value or "").split(",") if name.strip()]
    if wrong := [name for name in names if name not in CONDITIONS]:
        raise click.BadParameter(f"'{wrong[0]}' is none of: {', '.join(CONDITIONS)}.")
    return tuple(condition for condition in CONDITIONS if condition in names)


@click.command(
    "up",
    cls=_EngineCommand,
    epilog="""\
Examples:
  tenantry up dev
  tenantry up --environment prod --yes --skip-preview
  tenantry up prod --yes --through canary
  tenantry up prod --yes --ignore waves,after rocky/web platform/dns
  tenantry up --environment prod -- --message "Tenant movy" --parallel 16

Exit codes:
  0    applied, and every app is ready; with --through, up to that wave
  1    Pulumi failed, preflight found errors, apps are not ready, a value is
       missing, an object was refused, or another run came between
  2    tenants.yaml is invalid, or pulumi, a stack, a login, a passphrase or
       the management cluster is missing
  4    the guard refuses the change
  5    a change waits for a soak or the environment before; nothing has failed
  130  interrupted, or answered with "no"
""",
)
@_runs_stack
@click.option("--no-preflight", is_flag=True, help="Do not check the live clusters first.")
@click.option(
    "--ignore",
    metavar="NAMES LINE...",
    callback=_conditions,
    help=f"In an emergency: let the named lines through. With commas between them: {', '.join(CONDITIONS)}.",
)
@click.option(
    "--through", metavar="WAVE", help="End well when every wave up to this one is ready: its name, or its number."
)
@click.option("--no-wait", is_flag=True, help="Do not wait until every app is ready.")
@options.timeout(600, "How long to wait until every app is ready.")
@_yes
@_skip_preview
@reads_file
def up(
    file: Path,
    environment: str,
    stack: str | None,
    *,
    ignore: tuple[str, ...],
    through: str | None,
    no_preflight: bool,
    no_wait: bool,
    timeout: int,
    yes: bool,
    skip_preview: bool,
) -> int:
    """Apply an environment with Pulumi and its fastest safe settings, with a check before and the status after.

    Prints the `pulumi` command that it runs, and leaves the terminal to it. Options after `--` go to pulumi; they and your
    own environment variables win over the settings that Tenantry chooses.

    First, `tenantry preflight` checks the clusters. An error ends the command before Pulumi starts. Afterwards the command
    waits until every app is ready or one fails again and again, as `tenantry status --wait` does, unless Pulumi's --target
    confines the run.

    A change goes wave by wave, in one run. What a wave does not run ready, a soak, and what the environment before does not run yet
    is blocked and held: it remains as it was applied last, and the same command goes on later. In an emergency, --ignore lets
    LINES through, such as rocky/web, platform/dns or rocky. What the file does not have any more leaves wave by wave, too, in
    further runs that begin by themselves.
    """
    asked = _asked(file, environment, stack, yes=yes, skip_preview=skip_preview)
    session = opened(asked, "up")
    lines: tuple[str, ...] = click.get_current_context().meta[_LINES]
    if ignore and not lines:
        raise click.UsageError("name the lines that go through, such as: --ignore waves rocky/web")
    variables = {IGNORE: ignore_variable(asked.environment, ignore, lines)} if ignore else {}
    variables |= {THROUGH: through_variable(asked.environment, through)} if through else {}
    session = replace(session, variables=variables)
    planned = None
    if not (no_preflight and no_wait):
        from tenantry.cli.engine.checks import Planned

        planned = Planned.of(asked.file, session.stack)
        if not no_preflight and (code := planned.preflight()):
            return code
    code = session.run("up", asked.passed)
    partly = asked.has("--target", "-t", "--exclude", "--preview-only", "--json")
    return code if code or planned is None or no_wait or partly or through else planned.wait(timeout)


@click.command(
    "destroy",
    cls=_EngineCommand,
    epilog="""\
Examples:
  tenantry destroy dev
  tenantry destroy --environment dev --yes --skip-preview
  tenantry destroy --environment dev --offboard

Exit codes:
  0    everything is deleted but what stays with its data
  1    Pulumi failed, objects of the environment are left on the cluster, or
       with --offboard a cluster did not follow in time
  2    tenants.yaml is invalid, or pulumi, a stack, a login, a passphrase or
       the management cluster is missing
  4    the environment is protected, the claims on the cluster say that a stack
       runs something else
  130  interrupted, or answered with "no"
""",
)
@_runs_stack
@click.option("--offboard", is_flag=True, help="Delete the namespaces too, with all data in them.")
@options.timeout(600, "How long to wait with --offboard until every cluster has what is given up.")
@_yes
@_skip_preview
@reads_file
def destroy(
    file: Path, environment: str, stack: str | None, *, offboard: bool, timeout: int, yes: bool, skip_preview: bool
) -> int:
    """Delete all objects of an environment with Pulumi, in order: Flux uninstalls what each app installed.

    Namespaces stay with their data, and what else can hold data; the command lists the namespaces. With --offboard they are deleted
    too: a first run gives up every tenant and add-on, as `state: offboarding` does, and the second deletes everything.

    Prints the `pulumi` command that it runs. Options after `--` go to pulumi; they and your own environment variables win
    over the settings that Tenantry chooses.

    A protected environment is refused: remove `protected` from it, run `tenantry up`, then destroy it. Afterwards the
    command checks that no object of the environment is left on the management cluster.
    """
    from tenantry.cli.engine.checks import Planned

    asked = _asked(file, environment, stack, yes=yes, skip_preview=skip_preview)
    session = opened(asked, "destroy")
    planned = Planned.of(asked.file, session.stack)
    if not asked.has("--exclude-protected", "--preview-only") and (code := planned.refuse_protected()):
        return code
    if code := planned.refuse_others():
        return code
    partly = asked.has("--target", "-t", "--exclude", "--exclude-protected", "--preview-only")
    if offboard and partly:
        raise click.UsageError("--offboard is for a whole environment")
    if offboard:
        giving_up = replace(session, variables={OFFBOARD: asked.environment})
        if code := giving_up.run("up", asked.passed) or planned.wait_until_freed(timeout):
            return code
    retained = planned.retained()
    code = session.run("destroy", asked.passed)
    return code if code or partly else planned.report_orphaned(retained)


commands = {"preview": preview, "up": up, "destroy": destroy}
