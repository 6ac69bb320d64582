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
"""A digest or a commit, of which a cell has the beginning."""
_DIGITS = 12
_COUNTED = ("CLUSTERS", "TENANTS")
_COLUMNS = {
    "clusters": ("NAME", "ENVIRONMENTS", "REACHED BY", "TENANTS", "APPS", "STATE", "LABELS"),
    "tenants": ("NAME", "FROM", "ENVIRONMENTS", "CLUSTERS", "APPS", "STATE", "FILE"),
    "apps": ("TENANT", "APP", "CHART OR PATH", "VERSION", "CLUSTERS", "STATE", "WHERE"),
    "placements": ("ENVIRONMENT", "TENANT", "CLUSTER", "NAMESPACE", "APPS"),
}
_KEYS: dict[str, Callable[[Item], Any]] = {
    "APP": lambda item: item["name"],
    "CHART OR PATH": lambda item: item["chart"] or item["path"] or item["source"],
    "FROM": lambda item: item["templates"],
    "LABELS": lambda item: [f"{key}={value}" for key, value in item["labels"].items()],
    "REACHED BY": lambda item: item["reachedBy"],
    "VERSION": lambda item: item["version"] or item["ref"],
}
"""What a column has that is not named like its key."""


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
@options.output("text", "json")
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


def _print_table(kind: str, items: list[Item]) -> None:
    headings = [*_COLUMNS[kind]]
    if "STATE" in headings and all(item["state"] == "active" for item in items):
        headings.remove("STATE")
    if "FROM" in headings and not any(item["templates"] for item in items):
        headings.remove("FROM")
    rows = [{heading: _cell(heading, item) for heading in headings} for item in items]
    data("\n".join(table(rows, headings)))


def _cell(heading: str, item: Item) -> str:
    value = _KEYS[heading](item) if heading in _KEYS else item[heading.lower()]
    if heading in _COUNTED:
        return str(len(value))
    if isinstance(value, dict):
        value = [f"{key} {text}".strip() for key, text in value.items()]
    text = listed(value, _SHOWN) if isinstance(value, list) else "" if value is None else str(value)
    return printable(_DIGEST.sub(lambda digest: digest[0][:_DIGITS], text))
