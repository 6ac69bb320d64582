"""`tenantry list`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click
from rich.table import Table
from rich.text import Text

from tenantry.cli.commands import Command
from tenantry.cli.fleet_file import reads_file
from tenantry.cli.options import cluster_names, environments, output, tenant_names
from tenantry.cli.output import data, data_json, print_fitting, say, stdout_console, working
from tenantry.listing import LISTS, Filter, Item, listing
from tenantry.load import load_fleet
from tenantry.messages.text import listed, printable

_SHOWN = 3
"""The most names in a cell. The others are counted."""

_Column = tuple[str, Callable[[Item], Any]]


def _key(heading: str, key: str = "") -> _Column:
    return heading, lambda item: item[key or heading.lower()]


def _count(heading: str) -> _Column:
    return heading, lambda item: len(item[heading.lower()])


def _taken(item: Item) -> str:
    """What an app takes from its source: a chart with its version, or a path."""
    if item["kind"] == "helm":
        return f"{item['chart'] or item['source'] or ''} {item['version'] or ''}".strip()
    return item["path"] or "./"


def _reached(item: Item) -> str:
    return item["kubeconfig"] or ("management" if item["management"] else "")


def _reference(item: Item) -> str:
    return " ".join(f"{key} {value}" for key, value in (item["ref"] or {}).items())


_COLUMNS: dict[str, tuple[_Column, ...]] = {
    "environments": (
        _key("NAME"),
        _key("MANAGEMENT"),
        _count("CLUSTERS"),
        _count("TENANTS"),
        _key("APPS"),
        _key("AFTER"),
        ("PROTECTED", lambda item: "yes" if item["protected"] else "no"),
    ),
    "clusters": (
        _key("NAME"),
        _key("ENVIRONMENTS"),
        ("REACHED BY", _reached),
        _count("TENANTS"),
        _key("APPS"),
        _key("STATE"),
        ("LABELS", lambda item: [f"{key}={value}" for key, value in item["labels"].items()]),
    ),
    "tenants": (_key("NAME"), _key("ENVIRONMENTS"), _count("CLUSTERS"), _key("APPS"), _key("STATE"), _key("FILE")),
    "apps": (
        _key("TENANT"),
        _key("APP", "name"),
        _key("KIND"),
        _key("SOURCE"),
        ("CHART OR PATH", _taken),
        _key("ENVIRONMENTS"),
        _count("CLUSTERS"),
        _key("STATE"),
    ),
    "placements": (_key("ENVIRONMENT"), _key("TENANT"), _key("CLUSTER"), _key("NAMESPACE"), _key("APPS")),
    "sources": (_key("TENANT"), _key("SOURCE", "name"), _key("KIND"), ("REF", _reference), _key("URL")),
}
_NAMES = {
    "apps": ("tenant", "name"),
    "placements": ("environment", "tenant", "cluster"),
    "sources": ("tenant", "name"),
}
"""The keys whose values `--output names` joins with a slash; `name` alone for the other lists."""

_SHORT = {"env": "environments", "envs": "environments"}

_DISPENSABLE = ("FILE", "LABELS", "KIND", "SOURCE", "ENVIRONMENTS", "AFTER")
"""Columns that are omitted on a narrow terminal, in this order."""


class _What(click.Choice[str]):
    """The name of a list; the singular, and `env`, mean the same."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        plural = _SHORT.get(value, value if value in self.choices else f"{value}s")
        return super().convert(plural if plural in self.choices else value, param, ctx)


@click.command(
    "list",
    cls=Command,
    epilog="""\
Examples:
  tenantry list
  tenantry list tenants
  tenantry list apps --tenant rocky
  tenantry list placements --environment prod --cluster edge-1
  tenantry list clusters --environment prod --output names
  tenantry list sources --output json

With --output names, each line is a name:
  NAME                        of tenants, clusters and environments
  TENANT/NAME                 of apps and sources; platform/NAME of add-ons
  ENVIRONMENT/TENANT/CLUSTER  of placements

Exit codes:
  0  success, also if nothing matches
  2  tenants.yaml is invalid, or it does not declare a name
""",
)
@click.argument("what", type=_What(LISTS), metavar="[WHAT]", default="placements")
@environments("Only what is in this environment.")
@tenant_names("Only what belongs to this tenant, or to 'platform'.")
@cluster_names("Only what is on this cluster, or on those with labels such as tier=edge.")
@output("text", "json", "names", kind="List", wide=True)
@reads_file
def command(
    file: Path,
    what: str,
    environment: tuple[str, ...],
    tenants: tuple[str, ...],
    clusters: tuple[str, ...],
    output: str,
) -> int:
    """List what tenants.yaml declares, from the file alone.

    WHAT is tenants, apps, clusters, placements, sources or environments; default: placements, what runs where. The
    singular means the same, and `env`.

    Tenants and clusters without apps are listed too, unless an option filters by where something is placed.
    """
    with working(f"reading {file}"):
        fleet = load_fleet(file)
        items = listing(fleet, what, Filter(environment, tenants, clusters))
    if output == "json":
        from tenantry.cli.documents.states import List

        data_json(List(of=what, items=items))
    elif output == "names":
        for item in items:
            data("/".join(str(item[key]) for key in _NAMES.get(what, ("name",))))
    elif items:
        _print_table(what, items)
    else:
        say(f"no {what} match")
    return 0


def _print_table(what: str, items: list[Item]) -> None:
    values = dict(_COLUMNS[what])
    if all(item.get("state") == "active" for item in items):
        values.pop("STATE", None)

    def build(headings: Sequence[str]) -> Table:
        table = Table(box=None, pad_edge=False, header_style="bold")
        for heading in headings:
            table.add_column(heading, no_wrap=heading != headings[-1], overflow="fold")
        for item in items:
            table.add_row(*(Text(_cell(values[heading](item))) for heading in headings))
        return table

    console = stdout_console()
    print_fitting(build, tuple(values), _DISPENSABLE, console)


def _cell(value: Any) -> str:
    return printable(listed(value, _SHOWN) if isinstance(value, list) else "" if value is None else str(value))
