"""`tenantry validate`."""

from __future__ import annotations

from pathlib import Path

import click

from tenantry.cli.options import output
from tenantry.cli.output import as_data, data, data_json, report_invalid, report_warnings
from tenantry.load import load_fleet, plan_all, warnings_of
from tenantry.messages.errors import InvalidFleet
from tenantry.messages.text import counted


@click.command(
    "validate",
    short_help="check the fleet's file and everything it would yield",
    epilog="""\b
Examples:
  tenantry validate
  tenantry --file fleets/edge.yaml validate --output json
""",
)
@click.option("--strict", is_flag=True, help="Exit with code 2 if there are warnings, too.")
@output("text", "json")
@click.pass_obj
def command(file: Path, *, strict: bool, output: str) -> int:
    """Check the fleet's file: its shape, its references, and the objects of every environment.

    All problems are named in one run, each with its place and a fix. Nothing is contacted and nothing is changed.

    A valid file may get warnings on stderr, for what works but is probably not meant: declared and never used, overrides
    that never apply, misspelled roles, and the like.
    """
    try:
        fleet = load_fleet(file)
        plans = plan_all(fleet)
    except InvalidFleet as invalid:
        if output == "json":
            data_json(
                {"valid": False, "errors": [as_data(diagnostic) for diagnostic in invalid.diagnostics], "warnings": []}
            )
        else:
            report_invalid(invalid)
        return 2
    objects = {name: len(plan.objects) for name, plan in plans.items()}
    warnings = warnings_of(fleet)
    if output == "json":
        data_json({"valid": True, "errors": [], "warnings": [as_data(each) for each in warnings], "objects": objects})
    else:
        counts = f"{counted(len(fleet.clusters), 'cluster')}, {counted(len(fleet.document.tenants), 'tenant')}"
        data(f"{file} is sound: {counts}; objects: {', '.join(f'{name} {count}' for name, count in objects.items())}")
        report_warnings(warnings)
    return 2 if strict and warnings else 0
