"""`tenantry list`."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import click
from rich.table import Table
from rich.text import Text

from tenantry.cli import completers
from tenantry.cli.commands import Command
from tenantry.cli.fleet_file import reads_file
from tenantry.cli.options import cluster_names, environments, output, tenant_names
from tenantry.cli.output import data, data_json, print_fitting, say, stdout_console, working
from tenantry.fleet.fleet import Fleet
from tenantry.listing import LISTS, USES, Filter, Item, listing
from tenantry.load import load_fleet
from tenantry.messages.text import closest, listed, printable

_SHOWN = 3
"""The most names in a cell. The others are counted."""

_DIGEST = re.compile(r"[0-9a-f]{40,}")
_DIGITS = 12
"""Of a digest or a commit in a cell."""
_KINDS = {"serviceAccount": "account", "flux": "Flux as"}

_Column = tuple[str, Callable[[Item], Any]]


def _key(heading: str, key: str = "") -> _Column:
    return heading, lambda item: item[key or heading.lower()]


def _count(heading: str) -> _Column:
    return heading, lambda item: len(item[heading.lower()])


def _taken(row: Item) -> str:
    """What an app takes from its source: a chart or a path."""
    return (row["chart"] or row["source"] or "") if row["kind"] == "helm" else row["path"] or "./"


def _version(row: Item) -> str:
    """The version of a chart, or the ref of a source. Digests and commits are shortened."""
    if row.get("version"):
        return str(row["version"])
    return " ".join(f"{key} {_shortened(value)}" for key, value in (row["ref"] or {}).items())


def _shortened(version: str) -> str:
    """A version, with the beginning of a digest or a commit."""
    kind, colon, digest = version.rpartition(":")
    return f"{kind}{colon}{digest[:_DIGITS]}" if _DIGEST.fullmatch(digest) else version


def _may(row: Item) -> str:
    return {"cluster": "on clusters: {}", "file": "sets {}"}.get(row["may"], "{}").format(row["role"])


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
        ("HUB", lambda item: item["hubs"]),
        ("REACHED BY", lambda item: item["kubeconfig"] or ("management" if item["management"] else "")),
        _count("TENANTS"),
        _key("APPS"),
        _key("STATE"),
        ("LABELS", lambda item: [f"{key}={value}" for key, value in item["labels"].items()]),
    ),
    "tenants": (
        _key("NAME"),
        _key("CLASS", "classes"),
        _key("ENVIRONMENTS"),
        _count("CLUSTERS"),
        _key("APPS"),
        _key("STATE"),
        _key("FILE"),
    ),
    "classes": (_key("NAME"), _key("CLASS", "classes"), _count("TENANTS"), _key("APPS")),
    "apps": (
        _key("TENANT"),
        _key("APP", "name"),
        _key("KIND"),
        _key("SOURCE"),
        ("CHART OR PATH", _taken),
        ("VERSION", _version),
        ("CLUSTERS", lambda row: len({place["cluster"] for place in row["placements"]})),
        _key("STATE"),
        _key("WHERE"),
    ),
    "placements": (
        _key("ENVIRONMENT"),
        _key("TENANT"),
        _key("CLUSTER"),
        _key("HUB"),
        _key("NAMESPACE"),
        ("APPS", lambda row: [f"{app} {_shortened(version)}".strip() for app, version in row["planned"].items()]),
    ),
    "sources": (
        _key("TENANT"),
        _key("SOURCE", "name"),
        _key("KIND"),
        ("REF", _version),
        _key("WHERE"),
        _key("ADDRESS"),
    ),
    "rights": (
        _key("TENANT"),
        ("WHO", lambda row: f"{_KINDS.get(row['kind'], row['kind'])} {row['name']}"),
        ("MAY", _may),
        _key("NAMESPACES"),
        ("LINE", lambda row: row["line"] or ("default" if row["may"] == "cluster" else f"default: {row['role']}")),
        _key("WHERE"),
    ),
}
_FOLDED = ("MAY",)
"""Columns whose cells may take several lines; the last one may, too."""
_NAMES = {
    "apps": ("tenant", "name"),
    "placements": ("environment", "tenant", "cluster"),
    "sources": ("tenant", "name"),
    "rights": ("kind", "name"),
}
"""The keys whose values `--output names` joins with a slash; `name` alone for the other lists."""

_SHORT = {"env": "environments", "envs": "environments", "class": "classes"}

_DISPENSABLE = (
    "FILE",
    "CLASS",
    "LABELS",
    "KIND",
    "SOURCE",
    "CLUSTERS",
    "NAMESPACES",
    "ENVIRONMENTS",
    "AFTER",
    "CHART OR PATH",
)
"""Columns that are omitted on a narrow terminal, in this order."""


def _uses(_: click.Context, __: click.Parameter, given: tuple[str, ...]) -> list[tuple[str, str]]:
    found = [(key, name) for key, _, name in (text.partition("=") for text in given)]
    for text, (key, name) in zip(given, found, strict=True):
        if key not in USES and name:
            keys = ", ".join(USES)
            raise click.BadParameter(f"'{key}' cannot be asked for; keys: {keys}. Versions: tenantry list apps")
        if not name:
            name = name or key
            forms = ", ".join(f"{each}={name or 'NAME'}" for each in USES)
            raise click.BadParameter(f"'{text}' does not say what is used; write one of these: {forms}")
    return found


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
  tenantry list apps --uses chart=redis
  tenantry list apps --uses address=github.com/acme
  tenantry list rights --who jo@example.com
  tenantry list rights --output csv > rights.csv
  tenantry list placements --environment prod --cluster edge-1
  tenantry list clusters --environment prod --output names
  tenantry list sources --output json

With --output names, each line is a name:
  NAME                        of tenants, clusters and environments
  TENANT/NAME                 of apps and sources; platform/NAME of add-ons
  ENVIRONMENT/TENANT/CLUSTER  of placements
  KIND/NAME                   of rights: of users, groups, accounts and files

Exit codes:
  0  success, also if nothing matches
  2  tenants.yaml is invalid, or it does not declare a name
""",
)
@click.argument("what", type=_What(LISTS), metavar="[WHAT]", default="placements")
@environments("Only what is in this environment.")
@tenant_names("Only what belongs to this tenant, or to 'platform'.")
@cluster_names("Only what is on this cluster, or on those with labels such as tier=edge.")
@click.option(
    "--uses",
    metavar="KEY=NAME",
    multiple=True,
    callback=_uses,
    shell_complete=completers.uses,
    help="Only what has an app with this chart=NAME, source=NAME, or address=ADDRESS and below; repeatable.",
)
@click.option(
    "--who",
    metavar="NAME",
    multiple=True,
    shell_complete=completers.people,
    help="Only the rights of this user, group, account or file; may contain '*'; repeatable.",
)
@output("text", "json", "names", "csv", kind="List")
@reads_file
def command(
    file: Path,
    what: str,
    environment: tuple[str, ...],
    tenants: tuple[str, ...],
    clusters: tuple[str, ...],
    uses: list[tuple[str, str]],
    who: tuple[str, ...],
    output: str,
) -> int:
    """List what tenants.yaml declares, from the file alone.

    WHAT is apps, with their planned versions and add-ons; rights, which say who may do what; tenants, classes,
    clusters, placements, sources or environments; default: placements, which tenants' apps run where. The singular means the same,
    and `env`. The version on each cluster is in placements; -o wide shows all columns.

    Of rights, Kubernetes' role 'view' reads all but Secrets, 'edit' also changes what runs, and reads Secrets, and 'admin'
    also gives roles in the namespaces. 'cluster-admin' of the platform's account may do everything on the cluster.

    Tenants and clusters without apps are listed too, unless an option filters by where something is placed.
    """
    if who and what != "rights":
        raise click.UsageError("--who is for rights: tenantry list rights --who NAME")
    if output == "csv" and what != "rights":
        raise click.UsageError("--output csv is for rights: tenantry list rights --output csv")
    with working(f"reading {file}"):
        fleet = load_fleet(file)
        items = listing(fleet, what, Filter(environment, tenants, clusters, uses, who))
    if output == "csv":
        data(_csv(items).rstrip("\n"))
    elif output == "json":
        from tenantry.cli.documents.lists import List

        data_json(List(of=what, items=items))
    elif output == "names":
        for name in dict.fromkeys("/".join(str(item[key]) for key in _NAMES.get(what, ("name",))) for item in items):
            data(name)
    elif items:
        _print_table(what, items, fleet)
    else:
        say(_nothing(what, uses, who, fleet))
    return 0


_CSV = ("environment", "cluster", "tenant", "kind", "name", "may", "role", "namespaces", "line")


def _csv(items: Sequence[Item]) -> str:
    """A row for each right on each cluster, for an auditor's spreadsheet: no cell is taken for a formula there."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(_CSV)
    for item in items:
        for place in item["placements"]:
            values = {**item, **place, "namespaces": " ".join(item["namespaces"])}
            cells = (printable(str(values[key] or "")) for key in _CSV)
            rows.writerow(f"'{cell}" if cell.startswith(("=", "+", "-", "@")) else cell for cell in cells)
    return text.getvalue()


def _nothing(what: str, uses: Sequence[tuple[str, str]], who: Sequence[str], fleet: Fleet) -> str:
    """Why the list is empty."""
    every = listing(fleet, what, Filter())
    unknown = [name for name in who if not any(fnmatchcase(item["name"], name) for item in every)]
    if unknown:
        near = closest(unknown[0], {item["name"] for item in every})
        hint = f"; did you mean '{near}'?" if near else ""
        return f"'{unknown[0]}' is named nowhere in {fleet.source.file}{hint}"
    apps = [version for item in listing(fleet, "apps", Filter()) for version in item["versions"]]
    for key, name in (each for each in uses if each[0] in ("chart", "source")):
        known = {str(version[key]) for version in apps if version[key]}
        if name not in known:
            near = closest(name, known)
            return f"no app uses {key} '{name}'" + (f"; did you mean '{near}'?" if near else "")
    return f"no {what} match"


def _rows(item: Item) -> list[Item]:
    """A row for each version of an app or source; of anything else, one."""
    return [{**item, **each} for each in item.get("versions", [{}])]


def _print_table(what: str, items: list[Item], fleet: Fleet) -> None:
    items = [row for item in items for row in _rows(item)]
    values = dict(_COLUMNS[what])
    if all(item.get("state") == "active" for item in items):
        values.pop("STATE", None)
    if not any(item.get("classes") for item in items):
        values.pop("CLASS", None)
    if not any(len(each.managements) > 1 for each in fleet.environments.values()):
        values.pop("HUB", None)

    def build(headings: Sequence[str]) -> Table:
        table = Table(box=None, pad_edge=False, header_style="bold")
        for heading in headings:
            table.add_column(heading, no_wrap=heading not in (*_FOLDED, headings[-1]), overflow="fold")
        for item in items:
            table.add_row(*(Text(_cell(values[heading](item))) for heading in headings))
        return table

    console = stdout_console()
    print_fitting(build, tuple(values), _DISPENSABLE, console)


def _cell(value: Any) -> str:
    return printable(listed(value, _SHOWN) if isinstance(value, list) else "" if value is None else str(value))
