"""`tenantry parity`."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tenantry.cli.commands import Command
from tenantry.cli.fleet_file import reads_file
from tenantry.cli.options import app_names, environment_name, output, tenant_names
from tenantry.cli.output import data, data_json, working
from tenantry.cli.parity_text import as_markdown, as_text
from tenantry.explain.declared import known
from tenantry.explain.parity import parity
from tenantry.kube.names import ADDON_PREFIX, PLATFORM
from tenantry.load import load_fleet
from tenantry.messages.errors import Refused
from tenantry.plan.plan import plan
from tenantry.plan.planner import Part

if TYPE_CHECKING:
    from tenantry.fleet.fleet import Fleet


@click.command(
    "parity",
    cls=Command,
    epilog="""\
Examples:
  tenantry parity dev prod
  tenantry parity dev prod --tenant rocky
  tenantry parity staging prod --tenant rocky --app web
  tenantry parity dev prod --output markdown
  tenantry parity dev prod --output json

Exit codes:
  0  the environments are equal
  1  they differ
  2  tenants.yaml is invalid, or it does not declare a name
""",
)
@environment_name("first")
@environment_name("second")
@tenant_names(f"Only this tenant, or '{PLATFORM}' for add-ons; repeatable.")
@app_names("Only this app or add-on; repeatable.")
@output("text", "json", "markdown", kind="Parity")
@reads_file
def command(
    file: Path, first: str, second: str, *, tenants: tuple[str, ...], apps: tuple[str, ...], output: str
) -> int:
    """Show what differs between the environments FIRST and SECOND, and why.

    It compares which apps they have and every effective setting: versions, refs, values, quotas and so on. A difference
    is meant if the file writes it for one of the environments. Otherwise it follows from something else, such as a
    cluster's labels or variables. Equal differences of many apps are shown once.

    Clusters themselves are not compared, and none is contacted. Secrets are hidden.
    """
    with working(f"planning {file}"):
        fleet = load_fleet(file)
        if first == second:
            raise Refused("FIRST and SECOND are the same environment", "name two environments")
        wanted = _tenants(fleet, tenants)
        names = _apps(fleet, wanted, apps)
        part = Part(wanted[0]) if len(wanted) == 1 else None
        found = parity(fleet, plan(fleet, first, part), plan(fleet, second, part), wanted, names)
    if output == "json":
        from tenantry.cli.documents.parity import ComparedApps
        from tenantry.cli.documents.parity import Parity as Document

        data_json(
            Document(
                environments=found.environments,
                equal=found.is_equal,
                apps=ComparedApps(compared=found.apps, equal=found.equal),
                missing=found.missing,
                differences=found.differences,
            )
        )
    else:
        data(as_markdown(found) if output == "markdown" else as_text(found))
    return 0 if found.is_equal else 1


def _tenants(fleet: Fleet, names: Collection[str]) -> list[str]:
    """The named tenants; the platform is "". Raises: Refused: one is not declared."""
    declared = fleet.document.tenants
    for name in names:
        known("tenant", name, [*declared, PLATFORM], fleet.source.file)
    return ["" if each == PLATFORM and PLATFORM not in declared else each for each in names]


def _apps(fleet: Fleet, tenants: Collection[str], names: Collection[str]) -> list[str]:
    declared = {name: each.apps for name, each in fleet.document.tenants.items()}
    addons = fleet.document.platform.addons
    owners = tenants or (*declared, "")
    apps = dict.fromkeys(app for each in owners for app in (declared[each] if each else addons))
    short = [each.removeprefix(ADDON_PREFIX) for each in names]
    for name in short:
        known("app", name, apps, fleet.source.file)
    return short
