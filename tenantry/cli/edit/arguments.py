"""Arguments and options of the edit commands. What the file declares is completed from it, by its kind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click

from tenantry.cli.completers import fleet_data
from tenantry.edit.subjects.names import Kind
from tenantry.kube.names import ADDON_PREFIX, PLATFORM
from tenantry.messages.data import mapping_at

Option = Callable[[Any], Any]
"""A decorator that gives a command an option or an argument."""


def completing(*kinds: Kind, more: tuple[str, ...] = (), prefixed: bool = False, several: bool = False) -> Any:
    """Complete names of these kinds, and more words. prefixed: add-ons as `platform/NAME`; several: the last of `a,b,c`."""

    def complete(context: click.Context, _: click.Parameter, start: str) -> list[str]:
        before, comma, last = start.rpartition(",") if several else ("", "", start)
        data = fleet_data(context)
        found = [*(() if before else more), *(name for kind in kinds for name in _names(data, kind, prefixed=prefixed))]
        taken = before.split(",")
        return [f"{before}{comma}{name}" for name in found if name.startswith(last) and name not in taken]

    return complete


def _names(data: dict[str, Any], kind: Kind, *, prefixed: bool) -> Iterator[str]:
    """The names of a kind as commands take them: of what a tenant owns, `TENANT/NAME`."""
    if kind.is_owned:
        for tenant in mapping_at(data, "tenants"):
            yield from (f"{tenant}/{name}" for name in mapping_at(data, "tenants", tenant, kind.at[-1]))
    else:
        prefix = ADDON_PREFIX if prefixed and kind is Kind.ADDON else ""
        yield from (f"{prefix}{name}" for name in mapping_at(data, *kind.at))


def _complete_existing(context: click.Context, parameter: click.Parameter, start: str) -> list[str]:
    found: list[str] = completing(Kind(context.params["kind"]))(context, parameter, start)
    return found


def _complete_new(context: click.Context, _: click.Parameter, start: str) -> list[str]:
    """The tenants, of whom it can be an app or a source."""
    if not Kind(context.params["kind"]).is_owned or "/" in start:
        return []
    return [f"{tenant}/" for tenant in mapping_at(fleet_data(context), "tenants") if tenant.startswith(start)]


KINDS = (Kind.TENANT, Kind.APP, Kind.CLUSTER, Kind.SOURCE, Kind.ADDON)
"""What can be added and removed."""

kind = click.argument(
    "kind", type=click.Choice([kind.value for kind in KINDS]), callback=lambda _, __, given: Kind(given)
)
"""What is added or removed."""
existing_name = click.argument("name", shell_complete=_complete_existing)
"""The name of something of the kind that the file declares; of what a tenant owns, `TENANT/NAME`."""
new_name = click.argument("name", shell_complete=_complete_new)
"""A name that is new."""


promotable = completing(Kind.TENANT, Kind.APP, Kind.ADDON, prefixed=True, more=(PLATFORM,))
"""Completes a tenant, `TENANT/APP`, `platform/ADDON`, or `platform` for all add-ons."""


def clusters(help: str) -> Option:
    """`--clusters all|NAMES|LABELS`."""
    complete = completing(Kind.CLUSTER, more=("all",), several=True)
    return click.option("--clusters", metavar="all|NAMES|LABELS", help=help, shell_complete=complete)


def environments(help: str) -> Option:
    """`-e, --environments NAMES`."""
    complete = completing(Kind.ENVIRONMENT, several=True)
    return click.option(
        "-e", "--environments", metavar="NAMES", multiple=True, help=help, callback=_split, shell_complete=complete
    )


def names(option: str, help: str, *kinds: Kind, key: str | None = None) -> Option:
    """An option with names of what the file declares, separated by commas; may be repeated. key: the parameter's name."""
    complete = completing(*kinds, several=True)
    given = (option, key) if key else (option,)
    return click.option(*given, metavar="NAMES", multiple=True, help=help, callback=_split, shell_complete=complete)


def one(option: str, help: str, kind: Kind) -> Option:
    """An option with the name of something that the file declares."""
    return click.option(option, metavar="NAME", help=help, shell_complete=completing(kind))


def pairs(option: str, help: str) -> Option:
    """An option with `KEY=VALUE`, several separated by commas; may be repeated."""
    return click.option(option, metavar="KEY=VALUE", multiple=True, help=help, callback=_pairs)


def text(option: str, metavar: str, help: str, key: str | None = None) -> Option:
    """An option with a text of the user's own. key: the parameter's name."""
    return click.option(*((option, key) if key else (option,)), metavar=metavar, help=help)


def file_to(help: str) -> Option:
    """`--to FILE`."""
    kind = click.Path(path_type=Path, dir_okay=False)
    return click.option("--to", metavar="FILE", type=kind, help=help)


def _split(_: click.Context, __: click.Parameter, given: tuple[str, ...]) -> list[str]:
    return [name.strip() for text in given for name in text.split(",") if name.strip()]


def _pairs(context: click.Context, parameter: click.Parameter, given: tuple[str, ...]) -> dict[str, str]:
    found = {}
    for text in _split(context, parameter, given):
        key, equals, value = text.partition("=")
        if not equals or not key:
            raise click.BadParameter(f"'{text}' is not KEY=VALUE", context, parameter)
        found[key] = value
    return found
