"""Options that several commands share, and what a shell completes after TAB: names that the fleet's files declare."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

from tenantry.cli.commands import Late
from tenantry.cli.environment import ARGUMENT, EnvironmentOption
from tenantry.cli.fleet_file import fleet_data, fleet_file
from tenantry.kube.names import ADDON_PREFIX, PLATFORM
from tenantry.messages.data import mapping_at
from tenantry.messages.errors import TenantryError

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


def complete_revisions(context: click.Context, _: click.Parameter, start: str) -> list[CompletionItem]:
    """Complete branches and tags. The shell completes paths."""
    from tenantry.facts.git import Repository

    try:
        names = Repository(fleet_file(context).absolute().parent).names()
    except TenantryError:
        names = []
    items = [CompletionItem(name) for name in ("HEAD", *names) if name.startswith(start)]
    return items or [CompletionItem(start, type="file")]


def _complete_apps(context: click.Context, _: click.Parameter, start: str) -> list[str]:
    """Complete the apps of the tenant before it; none if `rocky/web` names one already."""
    tenant = str(context.params.get("tenant"))
    own = _keys(context, start, "tenants", tenant, "apps")
    return own or (_keys(context, start, "platform", "addons") if tenant == PLATFORM else [])


def _complete_any_app(context: click.Context, _: click.Parameter, start: str) -> list[str]:
    """Complete the apps of the tenants on the command line, or of all tenants, and the add-ons."""
    tenants = context.params.get("tenants") or _keys(context, "", "tenants")
    apps = (name for tenant in tenants for name in _keys(context, start, "tenants", tenant, "apps"))
    return list(dict.fromkeys((*apps, *_keys(context, start, "platform", "addons"))))


def _complete_owners(context: click.Context, _: click.Parameter, start: str) -> list[str]:
    return [*_keys(context, start, "tenants"), *([PLATFORM] if PLATFORM.startswith(start) else [])]


# --- arguments and options --------------------------------------------------------------------------------------------


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
        if (app := context.params["app"]) is not None:
            raise click.UsageError(f"'{owner}/{name}' names an app already: leave out '{app}'", context)
        context.params.update(tenant=owner, app=name)


def subject(command: _F) -> _F:
    """`TENANT [APP]`, or `platform [ADDON]`. `rocky/web` and `rocky web` give the same two values."""
    app = click.argument("app", required=False, cls=_AppArgument, shell_complete=_complete_apps)
    return click.argument("tenant", shell_complete=complete_subjects)(app(command))


def cluster(help: str) -> Callable[[_F], _F]:
    """`-c, --cluster NAME`"""
    return click.option("-c", "--cluster", metavar="NAME", help=help, shell_complete=complete_clusters)


def environment(
    help: str,
    *,
    required: bool = False,
    argument: bool = False,
    typed: bool = False,
    unless: Sequence[str] = (),
    multiple: bool = False,
) -> Callable[[_F], _F]:
    """`-e, --environment NAME`

    Args:
        required: The command is about one: without the option, that of the variable, or the only one of the file.
        argument: It may also be the command's argument, `tenantry status dev`: for commands that have no other.
        typed, unless: As for `EnvironmentOption`.
        multiple: It may be repeated.
    """
    option: Callable[[_F], _F] = click.option(
        "-e",
        "--environment",
        cls=EnvironmentOption,
        multiple=multiple,
        help=help,
        shell_complete=complete_environments,
        needed=required,
        typed=typed,
        unless=unless,
    )
    word: Callable[[_F], _F] = click.argument(
        ARGUMENT,
        metavar="[ENVIRONMENT]..." if multiple else "[ENVIRONMENT]",
        nargs=-1 if multiple else 1,
        required=False,
        shell_complete=complete_environments,
    )
    return (lambda command: word(option(command))) if argument else option


def tenants(help: str) -> Callable[[_F], _F]:
    """`-n, --tenant NAME`, or `platform`; may be repeated."""
    return _names("--tenant", help, _complete_owners, "-n")


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


def apps(help: str) -> Callable[[_F], _F]:
    """`--app NAME` of an app or add-on, beside `tenants`; may be repeated."""
    return _names("--app", help, _complete_any_app, cls=_AppsOption)


def clusters(help: str) -> Callable[[_F], _F]:
    """`-c, --cluster NAME`; may be repeated."""
    return _names("--cluster", help, complete_clusters, "-c")


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


def timeout(default: int, help: str) -> Callable[[_F], _F]:
    """`--timeout SECONDS`"""
    return click.option(
        "--timeout", type=click.IntRange(min=1), default=default, show_default=True, metavar="SECONDS", help=help
    )


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
