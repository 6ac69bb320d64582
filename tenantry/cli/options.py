"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.shell_completion import CompletionItem

from tenantry.cli.fleet_file import fleet_file
from tenantry.kube.names import ADDON_PREFIX, PLATFORM
from tenantry.messages.errors import TenantryError

if TYPE_CHECKING:
    pass

_F = TypeVar("_F", bound=Callable[..., Any])


def fleet_data(context: click.Context) -> dict[str, Any]:
    """The data of the fleet's files, for completion; empty if the files cannot be read."""
    from tenantry.grants.frames import filled
    from tenantry.source.include import read_all

    try:
        return filled(read_all(fleet_file(context))).data
    except TenantryError:
        return {}


def _keys(context: click.Context, start: str, *path: str) -> list[str]:
    """Complete the keys at a path of the fleet's files, if the files can be read."""
    found: Any = fleet_data(context)
    for part in path:
        found = found.get(part) if isinstance(found, dict) else None
    return [name for name in found if name.startswith(start)] if isinstance(found, dict) else []


def _environments(context: click.Context, _: click.Parameter, start: str) -> list[str]:
    return _keys(context, start, "environments")


def _subjects(context: click.Context, _: click.Parameter, start: str) -> list[str]:
    addons = [f"{ADDON_PREFIX}{name}" for name in _keys(context, "", "platform", "addons")]
    platform = [name for name in (PLATFORM, *addons) if name.startswith(start)]
    return [*_keys(context, start, "tenants"), *platform]


def _tenants(context: click.Context, _: click.Parameter, start: str) -> list[str]:
    return _keys(context, start, "tenants")


def _apps(context: click.Context, _: click.Parameter, start: str) -> list[str]:
    tenant = str(context.params.get("tenant"))
    own = _keys(context, start, "tenants", tenant, "apps")
    return own or (_keys(context, start, "platform", "addons") if tenant == PLATFORM else [])


def _tenants_or_platform(context: click.Context, _: click.Parameter, start: str) -> list[str]:
    return [*_keys(context, start, "tenants"), *([PLATFORM] if PLATFORM.startswith(start) else [])]


def _any_app(context: click.Context, _: click.Parameter, start: str) -> list[str]:
    """Complete the apps of the tenants on the command line, or of all tenants, and the add-ons."""
    tenants = context.params.get("tenants") or _keys(context, "", "tenants")
    apps = (name for tenant in tenants for name in _keys(context, start, "tenants", tenant, "apps"))
    return list(dict.fromkeys((*apps, *_keys(context, start, "platform", "addons"))))


def _clusters(context: click.Context, _: click.Parameter, start: str) -> list[str]:
    return _keys(context, start, "clusters")


def _groups(context: click.Context, _: click.Parameter, start: str) -> list[str]:
    return _keys(context, start, "clusterGroups")


def _revisions(context: click.Context, _: click.Parameter, start: str) -> list[CompletionItem]:
    """Complete branches and tags. The shell completes paths."""
    from tenantry.compare.git import Repository

    try:
        names = Repository(fleet_file(context).absolute().parent).names()
    except TenantryError:
        names = []
    found = [CompletionItem(name) for name in ("HEAD", *names) if name.startswith(start)]
    return found or [CompletionItem(start, type="file")]


def complete_sources(context: click.Context, _: click.Parameter, start: str) -> list[CompletionItem]:
    """Complete `TENANT/SOURCE=` and `platform/ADDON=`, then a directory."""
    if "=" in start:
        return [CompletionItem(start, type="dir")]
    owned = (f"{tenant}/{name}" for tenant in _keys(context, "", "tenants") for name in _own(context, tenant))
    addons = (f"{PLATFORM}/{name}" for name in _keys(context, "", "platform", "addons"))
    return [CompletionItem(f"{name}=") for name in (*owned, *addons) if name.startswith(start)]


def _own(context: click.Context, tenant: str) -> list[str]:
    return _keys(context, "", "tenants", tenant, "sources")


def tenant() -> Callable[[_F], _F]:
    """`TENANT`, or `platform`, or `platform/ADDON`; completed from the file."""
    return click.argument("tenant", shell_complete=_subjects)


def tenant_name(help: str) -> Callable[[_F], _F]:
    """`--tenant NAME`, completed from the file."""
    return click.option("--tenant", metavar="NAME", help=help, shell_complete=_tenants)


def app() -> Callable[[_F], _F]:
    """`[APP]` of the tenant before it, completed from the file."""
    return click.argument("app", required=False, shell_complete=_apps)


def cluster(help: str) -> Callable[[_F], _F]:
    """`-c, --cluster NAME`, completed from the file."""
    return click.option("-c", "--cluster", metavar="NAME", help=help, shell_complete=_clusters)


def cluster_name() -> Callable[[_F], _F]:
    """`NAME` of a cluster, completed from the file."""
    return click.argument("name", shell_complete=_clusters)


def group(help: str) -> Callable[[_F], _F]:
    """`--group NAME` of clusters, completed from the file."""
    return click.option("--group", metavar="NAME", help=help, shell_complete=_groups)


def environment(help: str, *, required: bool = False) -> Callable[[_F], _F]:
    """`-e, --environment NAME`, completed from the file."""
    return click.option(
        "-e", "--environment", metavar="NAME", required=required, help=help, shell_complete=_environments
    )


def environment_name(name: str) -> Callable[[_F], _F]:
    """An argument with the name of an environment, completed from the file."""
    return click.argument(name, shell_complete=_environments)


def environments(help: str, *, required: bool = False) -> Callable[[_F], _F]:
    """`-e, --environment NAME`, which may be repeated, completed from the file."""
    return click.option(
        "-e",
        "--environment",
        metavar="NAME",
        multiple=True,
        required=required,
        help=help,
        shell_complete=_environments,
    )


def tenant_names(help: str) -> Callable[[_F], _F]:
    """`--tenant NAME`, or `platform`, which may be repeated, completed from the file."""
    return _names("--tenant", help, _tenants_or_platform)


def app_names(help: str) -> Callable[[_F], _F]:
    """`--app NAME` of an app or add-on, which may be repeated, completed from the file."""
    return _names("--app", help, _any_app)


def cluster_names(help: str) -> Callable[[_F], _F]:
    """`-c, --cluster NAME`, which may be repeated, completed from the file."""
    return _names("--cluster", help, _clusters, "-c")


def _names(name: str, help: str, complete: Callable[..., list[str]], *short: str) -> Callable[[_F], _F]:
    parameter = f"{name.removeprefix('--')}s"
    return click.option(*short, name, parameter, metavar="NAME", multiple=True, help=help, shell_complete=complete)


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
    return click.argument(name, default=default, shell_complete=_revisions)


FORMAT_OPTIONS = ("-o", "--output")


class FormatOption(click.Option):
    """The option `--output`. kind: of the command's JSON document; "" for a command without JSON."""

    def __init__(self, *arguments: Any, kind: str, **attributes: Any) -> None:
        super().__init__(*arguments, **attributes)
        self.kind = kind


def output(*formats: str, kind: str = "") -> Callable[[_F], _F]:
    """`-o, --output FORMAT`; the first format is the default. kind: of the JSON document, required if there is one."""
    assert bool(kind) == ("json" in formats), "the document of a command with JSON has a kind"
    return click.option(
        *FORMAT_OPTIONS,
        cls=FormatOption,
        kind=kind,
        type=click.Choice(formats),
        default=formats[0],
        show_default=True,
        help="The format of the result.",
    )


trust_sources = click.option(
    "--trust-sources",
    is_flag=True,
    help="Run kustomize and helm without a cage: what they render can read your files and reach your network.",
)
