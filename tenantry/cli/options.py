"""Options that several commands share, and what a shell completes after TAB: names that the fleet's files declare."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

from tenantry.cli.fleet_file import fleet_data
from tenantry.kube.names import ADDON_PREFIX, PLATFORM
from tenantry.messages.data import mapping_at
from tenantry.messages.text import listed

_F = TypeVar("_F", bound=Callable[..., Any])


# --- completion -------------------------------------------------------------------------------------------------------


def _keys(context: click.Context, start: str, *path: str) -> list[str]:
    """The keys at a path of the fleet's files, if the files can be read."""
    return [name for name in mapping_at(fleet_data(context), *path) if name.startswith(start)]


def complete_environments(context: click.Context, _: click.Parameter, start: str) -> list[str]:
    """Complete the environments that have a stack."""
    from tenantry.fleet.lineages import stacks_in

    return [name for name in stacks_in(fleet_data(context)) if name.startswith(start)]


def complete_subjects(context: click.Context, _: click.Parameter, start: str) -> list[str]:
    """Complete tenants, and behind `rocky/` the apps of that tenant."""
    owner, slash = start.partition("/")[:2]
    addons = [f"{ADDON_PREFIX}{name}" for name in _keys(context, "", "platform", "addons")]
    apps = [f"{owner}/{name}" for name in _keys(context, "", "tenants", owner, "apps")] if slash else []
    return [*_keys(context, start, "tenants"), *(name for name in (*apps, PLATFORM, *addons) if name.startswith(start))]


def complete_clusters(context: click.Context, _: click.Parameter, start: str) -> list[str]:
    return _keys(context, start, "clusters")


def _complete_owners(context: click.Context, _: click.Parameter, start: str) -> list[str]:
    return [*_keys(context, start, "tenants"), *([PLATFORM] if PLATFORM.startswith(start) else [])]


# --- arguments and options --------------------------------------------------------------------------------------------


def subject(command: _F) -> _F:
    """`TENANT[/APP]`, or `platform[/ADDON]`, as a tenant and an app, which is None without one."""

    def parted(_: click.Context, __: click.Parameter, word: str) -> tuple[str, str | None]:
        tenant, slash, app = word.partition("/")
        if not tenant or (slash and not app):
            raise click.BadParameter(f"'{word}' is neither TENANT nor TENANT/APP, such as 'rocky/web'.")
        return tenant, app or None

    return click.argument("subject", metavar="TENANT[/APP]", callback=parted, shell_complete=complete_subjects)(command)


def app(command: _F) -> _F:
    """`TENANT/APP`, or `platform/ADDON`, as a tenant and an app."""

    def parted(_: click.Context, __: click.Parameter, word: str) -> tuple[str, str]:
        tenant, _slash, app = word.partition("/")
        if not (tenant and app):
            raise click.BadParameter(f"'{word}' is not TENANT/APP, such as 'rocky/web'.")
        return tenant, app

    return click.argument("app", metavar="TENANT/APP", callback=parted, shell_complete=complete_subjects)(command)


def cluster(help: str) -> Callable[[_F], _F]:
    """`-c, --cluster NAME`"""
    return click.option("-c", "--cluster", metavar="NAME", help=help, shell_complete=complete_clusters)


_WORD = "tenantry.environment"
"""The key of a context's `meta` for the argument that says the same as `--environment`."""


def environment(help: str, *, required: bool = False, argument: bool = False) -> Callable[[_F], _F]:
    """`-e, --environment NAME`. Args: argument: it may also be the command's argument, `tenantry status dev`."""

    def settle(context: click.Context, _: click.Parameter, value: str | None) -> str | None:
        words = {word for word in (context.meta.get(_WORD), value) if word is not None}
        if "" in words:  # a script's variable that is not set must not select all environments
            raise click.UsageError("The name of the environment is empty.", context)
        if len(words) > 1:
            raise click.UsageError(f"Two environments are named, {' and '.join(sorted(words))}: name one.", context)
        if required and not words:
            declared = listed(mapping_at(fleet_data(context), "environments"))
            raise click.UsageError(f"Name an environment{f': {declared}' if declared else ''}.", context)
        return next(iter(words), None)

    def keep(context: click.Context, _: click.Parameter, word: str | None) -> None:
        context.meta[_WORD] = word

    common: dict[str, Any] = {"shell_complete": complete_environments}
    option: Callable[[_F], _F] = click.option(
        "-e", "--environment", metavar="NAME", help=help, callback=settle, **common
    )
    # Before the option, which takes its value.
    word: Callable[[_F], _F] = click.argument(
        "word", metavar="[ENVIRONMENT]", required=False, is_eager=True, expose_value=False, callback=keep, **common
    )
    return (lambda command: word(option(command))) if argument else option


def tenants(help: str) -> Callable[[_F], _F]:
    """`-n, --tenant NAME`, or `platform`; may be repeated."""
    return _names("tenant", help, _complete_owners, "-n")


def apps(help: str) -> Callable[[_F], _F]:
    """`--app NAME` of an app or add-on; may be repeated."""
    return _names("app", help, None)


def clusters(help: str) -> Callable[[_F], _F]:
    """`-c, --cluster NAME`; may be repeated."""
    return _names("cluster", help, complete_clusters, "-c")


def _names(name: str, help: str, complete: Callable[..., list[str]] | None, *short: str) -> Callable[[_F], _F]:
    return click.option(
        *short, f"--{name}", f"{name}s", metavar="NAME", multiple=True, help=help, shell_complete=complete
    )


def timeout(default: int, help: str) -> Callable[[_F], _F]:
    """`--timeout SECONDS`"""
    return click.option(
        "--timeout", type=click.IntRange(min=1), default=default, show_default=True, metavar="SECONDS", help=help
    )


class FormatOption(click.Option):
    """The option `--output`. kind: of the command's JSON document; "" without one."""

    def __init__(self, names: Sequence[str], *, kind: str, formats: Sequence[str], **attributes: Any) -> None:
        super().__init__(names, type=click.Choice(formats), default=formats[0], **attributes)
        self.kind = kind


def output(*formats: str, kind: str) -> Callable[[_F], _F]:
    """`-o, --output FORMAT`; the first format is the default. kind: of the JSON document."""
    return click.option(
        "-o",
        "--output",
        cls=FormatOption,
        kind=kind,
        formats=formats,
        show_default=True,
        help="The format of the result.",
    )
