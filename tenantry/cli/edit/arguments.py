"""Arguments and options of the edit commands, completed from the file."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any, TypeVar

import click

from tenantry.cli.options import fleet_data
from tenantry.edit.subjects.overriding import Labels, Place
from tenantry.kube.names import ADDON_PREFIX, PLATFORM
from tenantry.messages.data import mapping_at

_F = TypeVar("_F", bound=Callable[..., Any])

DEFAULTS = "defaults"


def _found(context: click.Context, start: str, *paths: tuple[str, ...]) -> list[str]:
    """Complete the keys at some paths of the file; `*` stands for every tenant, whose keys are `TENANT/NAME`."""
    data = fleet_data(context)
    return [name for path in paths for name in _names(data, path) if name.startswith(start)]


def _names(data: dict[str, Any], path: tuple[str, ...]) -> Iterable[str]:
    if "*" not in path:
        prefix = ADDON_PREFIX if path == ("platform", "addons", "") else ""
        return (f"{prefix}{name}" for name in mapping_at(data, *filter(None, path)))
    group = path[-1]
    return (
        f"{tenant}/{name}"
        for tenant in mapping_at(data, "tenants")
        for name in mapping_at(data, "tenants", tenant, group)
    )


def _completing(*paths: tuple[str, ...], more: tuple[str, ...] = ()) -> Callable[..., list[str]]:
    def complete(context: click.Context, _: click.Parameter, start: str) -> list[str]:
        return [*(word for word in more if word.startswith(start)), *_found(context, start, *paths)]

    return complete


def _completing_list(*paths: tuple[str, ...], more: tuple[str, ...] = ()) -> Callable[..., list[str]]:
    """Complete the last name of `a,b,c`."""

    def complete(context: click.Context, _: click.Parameter, start: str) -> list[str]:
        before, comma, last = start.rpartition(",")
        head = f"{before}{comma}"
        words = [word for word in more if not head and word.startswith(last)]
        return [f"{head}{name}" for name in (*words, *_found(context, last, *paths)) if name not in before.split(",")]

    return complete


TENANTS, APPS, SOURCES = ("tenants",), ("tenants", "*", "apps"), ("tenants", "*", "sources")
CREDENTIALS, CONFIGS = ("tenants", "*", "credentials"), ("tenants", "*", "configs")
CLUSTERS, GROUPS, ENVIRONMENTS, ADDONS = ("clusters",), ("clusterGroups",), ("environments",), ("platform", "addons")
_PREFIXED_ADDONS = ("platform", "addons", "")


def existing(*paths: tuple[str, ...], name: str = "name") -> Callable[[_F], _F]:
    """An argument with the name of something that the file declares."""
    return click.argument(name, shell_complete=_completing(*paths))


promotable = _completing(TENANTS, APPS, _PREFIXED_ADDONS)
"""Completes a tenant, `TENANT/APP` or `platform/ADDON`."""

updatable = _completing(TENANTS, APPS, _PREFIXED_ADDONS, more=(PLATFORM,))
"""The same, and `platform` for all add-ons."""


def owned(name: str = "name") -> Callable[[_F], _F]:
    """An argument `TENANT/NAME` with a name that is new."""

    def complete(context: click.Context, _: click.Parameter, start: str) -> list[str]:
        return [f"{tenant}/" for tenant in _found(context, start, TENANTS)] if "/" not in start else []

    return click.argument(name, metavar="TENANT/NAME", shell_complete=complete)


def holder() -> Callable[[_F], _F]:
    """An argument with what has a selector or overrides: a tenant, `TENANT/APP`, `platform/ADDON` or `defaults`."""
    complete = _completing(TENANTS, APPS, _PREFIXED_ADDONS, more=(DEFAULTS,))
    return click.argument("owner", metavar="OWNER", shell_complete=complete)


def clusters(help: str, *, required: bool = False) -> Callable[[_F], _F]:
    """`--clusters all|NAMES|LABELS`."""
    complete = _completing_list(CLUSTERS, more=("all",))
    return click.option("--clusters", metavar="all|NAMES|LABELS", required=required, help=help, shell_complete=complete)


def exclude() -> Callable[[_F], _F]:
    """`--exclude NAMES` of clusters."""
    return names("--exclude", "Clusters to leave out.", CLUSTERS)


def names(option: str, help: str, *paths: tuple[str, ...], required: bool = False) -> Callable[[_F], _F]:
    """An option with names of what the file declares, separated by commas; may be repeated."""
    return click.option(
        option,
        metavar="NAMES",
        multiple=True,
        required=required,
        help=help,
        callback=_split,
        shell_complete=_completing_list(*paths),
    )


def one(
    option: str, help: str, *paths: tuple[str, ...], required: bool = False, short: tuple[str, ...] = ()
) -> Callable[[_F], _F]:
    """An option with the name of something that the file declares."""
    return click.option(
        *short, option, metavar="NAME", required=required, help=help, shell_complete=_completing(*paths)
    )


def labels(option: str, help: str) -> Callable[[_F], _F]:
    """An option with `KEY=VALUE`, several separated by commas; may be repeated."""
    return click.option(option, metavar="KEY=VALUE", multiple=True, help=help, callback=_pairs)


def place(function: Callable[..., int]) -> Callable[..., int]:
    """The options that say where an override holds, given to the function as `place`."""

    @one("--environment", "Where it differs: in an environment.", ENVIRONMENTS, short=("-e",))
    @one("--cluster", "Where it differs: on a cluster.", CLUSTERS, short=("-c",))
    @labels("--labels", "Where it differs: on clusters with these labels.")
    @wraps(function)
    def placed(*given: Any, environment: str | None, cluster: str | None, labels: Labels, **options: Any) -> int:
        return function(*given, place=Place(environment, cluster, labels), **options)

    return placed


def file_to(help: str) -> Callable[[_F], _F]:
    """`--to FILE`."""
    return click.option("--to", "to", metavar="FILE", type=click.Path(dir_okay=False), help=help)


def _split(_: click.Context, __: click.Parameter, given: tuple[str, ...]) -> list[str]:
    return [name.strip() for each in given for name in each.split(",") if name.strip()]


def _pairs(context: click.Context, parameter: click.Parameter, given: tuple[str, ...]) -> dict[str, str]:
    pairs = {}
    for each in _split(context, parameter, given):
        key, equals, value = each.partition("=")
        if not equals or not key:
            raise click.BadParameter(f"'{each}' is not KEY=VALUE", context, parameter)
        pairs[key] = value
    return pairs
