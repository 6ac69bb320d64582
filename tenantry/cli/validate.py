"""`tenantry validate`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import click

from tenantry.cli import options
from tenantry.cli.commands import Command
from tenantry.cli.options import reads_file
from tenantry.cli.output import data, data_json, working
from tenantry.cli.problems import annotate, report_warnings
from tenantry.fleet.fleet import Fleet
from tenantry.load import load_fleet, plan_all, warnings_of
from tenantry.messages.errors import InvalidFleet
from tenantry.messages.text import counted, format_count, format_warning_count, listed
from tenantry.plan.engine_order import following


@click.command(
    "validate",
    cls=Command,
    epilog="""\
Examples:
  tenantry validate
  tenantry validate --file fleets/edge.yaml
  tenantry validate --output json
  tenantry validate --output github         annotate lines of a pull request

Exit codes:
  0  the file is valid
  2  it is not, or it cannot be read; with --strict, warnings are errors
""",
)
@click.option("--strict", is_flag=True, help="Treat warnings as errors: exit with code 2 if there are any.")
@options.output("text", "json", "github")
@reads_file
def command(file: Path, *, strict: bool, output: str) -> int:
    """Check tenants.yaml: its keys and values, its references, and the objects that every environment yields.

    One run reports every error that can be judged, each with its place and a fix. Warnings are shown once there are no
    errors. No cluster is contacted and nothing is changed.

    A valid file can get warnings on stderr about what is probably not meant, such as overrides that never apply, and
    numbers that come out as another text. Lines after the summary name the tenants with `clusterAdmin: true`, those
    with `clusterRoles`, the `waves` of environments, and what environments wait for before they change (`after`).

    `github` prints workflow commands, whose paths start at the root of the Git repository.
    """
    try:
        with working(f"checking {file}"):
            fleet = load_fleet(file)
            plans = plan_all(fleet)
    except InvalidFleet as invalid:
        if output != "github":
            raise
        annotate(invalid.diagnostics, format_count(invalid))
        return 2
    admins = [name for name, tenant in fleet.document.tenants.items() if tenant.clusterAdmin]
    rights = [name for name, tenant in fleet.document.tenants.items() if tenant.clusterRoles]
    objects = {name: len(plan.objects) for name, plan in plans.items()}
    warnings = warnings_of(fleet)
    waves = {name: plan.rollout for name, plan in plans.items() if plan.rollout}
    summary, *facts = _summary(file, fleet, objects, admins, rights)
    facts += [f"environment {name} changes {rollout}" for name, rollout in waves.items()]
    gates = {name: plan.after for name, plan in plans.items() if plan.after}
    for name, gate in gates.items():
        facts.append(f"environment {name}: {gate.format_gate()}")
        if apps := following(plans[name], plans[gate.environment]):
            facts.append(
                f"environment {name}: {gate.environment} has to be ready, whatever version it runs, for {listed(apps)}:"
                " a branch or a range names no version"
            )
    if output == "json":
        result = {
            "valid": True,
            "errors": (),
            "warnings": warnings,
            "objects": objects,
            "waves": {name: rollout.waves for name, rollout in waves.items()},
            "gates": gates,
            "clusterAdmin": admins,
            "clusterRoles": rights,
        }
        data_json(result, "Validation")
    elif output == "github":
        annotate(warnings, format_warning_count(warnings), strict=strict)
        data("\n".join([summary, *facts]))
    else:
        data("\n".join([summary, *facts]))
        report_warnings(warnings)
    return 2 if strict and warnings else 0


def _summary(
    file: Path, fleet: Fleet, objects: Mapping[str, int], admins: Sequence[str], rights: Sequence[str]
) -> Iterator[str]:
    """What a valid file yields, and who gets rights beyond a namespace."""
    counts = f"{counted(len(fleet.clusters), 'cluster')}, {counted(len(fleet.document.tenants), 'tenant')}"
    yield f"{file} is valid: {counts}; objects: {', '.join(f'{name} {count}' for name, count in objects.items())}"
    if admins:
        yield f"{counted(len(admins), 'tenant')} may give cluster-admin: {listed(admins)}"
    if rights:
        verb = "has" if len(rights) == 1 else "have"
        yield f"{counted(len(rights), 'tenant')} {verb} rights on whole clusters: {listed(rights)}"
