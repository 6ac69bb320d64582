"""`tenantry list`."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from tenantry.cli import options
from tenantry.cli.commands import Command
from tenantry.cli.options import reads_file
from tenantry.cli.output import data, data_json, say, table, working
from tenantry.listing import LISTS, Item, listing
from tenantry.load import load_fleet
from tenantry.messages.text import listed, printable

_SHOWN = 3
"""The most names in a cell. The others are counted."""

_DIGEST = re.compile(r"[0-9a-f]{40,}")
_DIGITS = 12
"""Of a digest or a commit in a cell."""

_Column = tuple[str, Callable[[Item], Any]]


def _key(heading: str, key: str = "") -> _Column:
    return heading, lambda item: item[key or heading.lower()]


def _count(heading: str) -> _Column:
    return heading, lambda item: len(item[heading.lower()])


def _version(row: Item) -> str:
    """The version of a chart, or the ref of a source. Digests and commits are shortened."""
    if row.get("version"):
        return str(row["version"])
    return " ".join(f"{key} {_shortened(value)}" for key, value in (row["ref"] or {}).items())


def _shortened(version: str) -> str:
    """A version, with the beginning of a digest or a commit."""
    kind, colon, digest = version.rpartition(":")
    return f"{kind}{colon}{digest[:_DIGITS]}" if _DIGEST.fullmatch(digest) else version


_COLUMNS: dict[str, tuple[_Column, ...]] = {
    "clusters": (
        _key("NAME"),
        _key("ENVIRONMENTS"),
        ("REACHED BY", lambda item: item["kubeconfig"] or ("management" if item["management"] else "")),
        _count("TENANTS"),
        _key("APPS"),
        _key("STATE"),
        ("LABELS", lambda item: [f"{key}={value}" for key, value in item["labels"].items()]),
    ),
    "tenants": (
        _key("NAME"),
        _key("FROM", "templates"),
        _key("ENVIRONMENTS"),
        _count("CLUSTERS"),
        _key("APPS"),
        _key("STATE"),
        _key("FILE"),
    ),
    "apps": (
        _key("TENANT"),
        _key("APP", "name"),
        ("CHART OR PATH", lambda row: row["chart"] or row["source"] if row["kind"] == "helm" else row["path"] or "./"),
        ("VERSION", _version),
        ("CLUSTERS", lambda row: len({place["cluster"] for place in row["placements"]})),
        _key("STATE"),
        _key("WHERE"),
    ),
    "placements": (
        _key("ENVIRONMENT"),
        _key("TENANT"),
        _key("CLUSTER"),
        _key("NAMESPACE"),
        ("APPS", lambda row: [f"{app} {_shortened(version)}".strip() for app, version in row["planned"].items()]),
    ),
}


@click.command(
    "list",
    cls=Command,
    epilog="""\
Examples:
  tenantry list tenants
  tenantry list placements --environment prod
  tenantry list apps --output json

Exit codes:
  0  success, also if nothing matches
  2  tenants.yaml is invalid, or it does not declare a name
""",
)
@click.argument("kind", type=click.Choice(LISTS))
@options.environment("Only what is in this environment.")
@options.output("text", "json", kind="List")
@reads_file
def command(file: Path, kind: str, environment: str | None, output: str) -> int:
    """List what tenants.yaml declares, from the file alone.

    KIND is tenants; apps, with their planned versions and add-ons; clusters; or placements, which say where the apps of
    which tenant run, each with its version.

    Tenants without apps are listed too, but not as those of an environment.
    """
    with working(f"reading {file}"):
        fleet = load_fleet(file)
        items = listing(fleet, kind, environment)
    if output == "json":
        data_json({"of": kind, "items": items}, "List")
    elif items:
        _print_table(kind, items)
    else:
        say(f"no {kind} match")
    return 0


def _print_table(what: str, items: list[Item]) -> None:
    # A row for each version of an app; of anything else, one.
    items = [{**item, **version} for item in items for version in item.get("versions", [{}])]
    cells = dict(_COLUMNS[what])
    if all(item.get("state") == "active" for item in items):
        cells.pop("STATE", None)
    if not any(item.get("templates") for item in items):
        cells.pop("FROM", None)
    rows = [{heading: _cell(cell(item)) for heading, cell in cells.items()} for item in items]
    data("\n".join(table(rows, list(cells))))


def _cell(value: Any) -> str:
    return printable(listed(value, _SHOWN) if isinstance(value, list) else "" if value is None else str(value))
