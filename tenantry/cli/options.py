"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

from tenantry.cli import completers
from tenantry.cli.commands import Late
from tenantry.cli.environment import ARGUMENT, EnvironmentOption
from tenantry.kube.names import PLATFORM

_F = TypeVar("_F", bound=Callable[..., Any])


def tenant() -> Callable[[_F], _F]:
    """`TENANT`, or `platform`, or with the app `TENANT/APP` or `platform/ADDON`; completed from the file."""
    return click.argument("tenant", shell_complete=completers.subjects)


class _AppArgument(click.Argument, Late):
    """`[APP]`, which may also be part of the tenant before it: `rocky/web` is `rocky web`."""

    def settle(self, context: click.Context) -> None:
        owner, slash, name = context.params["tenant"].partition("/")
        if context.params["app"] == "":  # a script's variable that is not set must not select all apps
            raise click.UsageError("The name of the app is empty.", context)
        if not slash:
            return
        if not owner or not name:
            raise click.UsageError(f"'{context.params['tenant']}' is not TENANT/APP, such as 'rocky/web'", context)
        if (other := context.params["app"]) is not None:
            raise click.UsageError(f"'{owner}/{name}' names an app already: leave out '{other}'", context)
        context.params.update(tenant=owner, app=name)


def app() -> Callable[[_F], _F]:
    """`[APP]` of the tenant before it, completed from the file. `rocky/web` and `rocky web` give the same two values."""
    return click.argument("app", required=False, cls=_AppArgument, shell_complete=completers.apps)


def cluster(help: str) -> Callable[[_F], _F]:
    """`-c, --cluster NAME`, completed from the file."""
    return click.option("-c", "--cluster", metavar="NAME", help=help, shell_complete=completers.clusters)


def environment(
    help: str, *, required: bool = False, argument: bool = False, typed: bool = False, unless: Sequence[str] = ()
) -> Callable[[_F], _F]:
    """`-e, --environment NAME`, completed from the file.

    Args:
        required: The command is about one: without the option, that of the variable, or the only one of the file.
        argument: It may also be the command's argument, `tenantry status dev`: for commands that have no other.
        typed, unless: As for `EnvironmentOption`.
    """
    return _environment(help, multiple=False, argument=argument, needed=required, typed=typed, unless=unless)


def environments(help: str, *, required: bool = False, argument: bool = False) -> Callable[[_F], _F]:
    """The same, which may be repeated."""
    return _environment(help, multiple=True, argument=argument, needed=required)


def _environment(help: str, *, multiple: bool, argument: bool, **how: Any) -> Callable[[_F], _F]:
    option: Callable[[_F], _F] = click.option(
        "-e",
        "--environment",
        cls=EnvironmentOption,
        multiple=multiple,
        help=help,
        shell_complete=completers.environments,
        **how,
    )
    word: Callable[[_F], _F] = click.argument(
        ARGUMENT,
        metavar="[ENVIRONMENT]..." if multiple else "[ENVIRONMENT]",
        nargs=-1 if multiple else 1,
        required=False,
        shell_complete=completers.environments,
    )
    return (lambda command: word(option(command))) if argument else option


def tenant_names(help: str) -> Callable[[_F], _F]:
    """`-n, --tenant NAME`, or `platform`, which may be repeated, completed from the file."""
    return _names("--tenant", help, completers.tenants_or_platform, "-n")


class _AppsOption(click.Option, Late):
    """`--app NAME`. With `--app rocky/web`, the tenant is named too, as with `--tenant rocky --app web`."""

    def settle(self, context: click.Context) -> None:
        apps, tenants = context.params["apps"], context.params["tenants"]
        owners = {app.partition("/")[0] for app in apps if "/" in app} - {PLATFORM}
        if not owners:
            return
        if len({*owners, *tenants}) > 1 or not all("/" in app for app in apps):
            raise click.UsageError("--app TENANT/APP is for the apps of one tenant: run the command for each", context)
        context.params.update(tenants=(*owners,), apps=tuple(app.partition("/")[2] for app in apps))


def app_names(help: str) -> Callable[[_F], _F]:
    """`--app NAME` of an app or add-on beside `tenant_names`, which may be repeated, completed from the file."""
    return _names("--app", help, completers.any_app, cls=_AppsOption)


def cluster_names(help: str) -> Callable[[_F], _F]:
    """`-c, --cluster NAME`; may be repeated, completed from the file."""
    return _names("--cluster", help, completers.clusters, "-c")


def _names(
    name: str,
    help: str,
    complete: Callable[..., list[str]],
    *short: str,
    cls: type[click.Option] = click.Option,
) -> Callable[[_F], _F]:
    parameter = f"{name.removeprefix('--')}s"
    return click.option(
        *short, name, parameter, cls=cls, metavar="NAME", multiple=True, help=help, shell_complete=complete
    )


def tenant_apps(command: _F) -> _F:
    """`TENANT [APP] --environment NAME [--cluster NAME]...`: the apps of one tenant, or one of them."""
    for option in (
        cluster_names("Only on this cluster; repeatable."),
        environment("The environment of the apps.", required=True),
        app(),
        tenant(),
    ):
        command = option(command)
    return command


def timeout(default: int, help: str) -> Callable[[_F], _F]:
    """`--timeout SECONDS`"""
    return click.option(
        "--timeout", type=click.IntRange(min=1), default=default, show_default=True, metavar="SECONDS", help=help
    )


def revision(name: str, *, default: str) -> Callable[[_F], _F]:
    """A Git revision, completed with branches and tags, or a path."""
    return click.argument(name, default=default, shell_complete=completers.revisions)


FORMAT_OPTIONS = ("-o", "--output")


class FormatOption(click.Option):
    """The option `--output`. kind: of the command's JSON document; "" without one."""

    def __init__(self, names: Sequence[str], *, kind: str, formats: Sequence[str], **attributes: Any) -> None:
        super().__init__(names, type=click.Choice(formats), default=formats[0], **attributes)
        self.kind = kind


def output(*formats: str, kind: str = "") -> Callable[[_F], _F]:
    """`-o, --output FORMAT`; the first format is the default. kind: of the JSON document, required if there is one."""
    assert bool(kind) == ("json" in formats), "the document of a command with JSON has a kind"
    return click.option(
        *FORMAT_OPTIONS,
        cls=FormatOption,
        kind=kind,
        formats=formats,
        show_default=True,
        help="The format of the result.",
    )
