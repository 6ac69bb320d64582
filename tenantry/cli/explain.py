"""`tenantry explain`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from tenantry.cli import options
from tenantry.cli.annotated import Line, annotated, place, scalar, value_lines
from tenantry.cli.commands import Command
from tenantry.cli.fleet_file import reads_file
from tenantry.cli.output import data, data_json, working
from tenantry.facts.explain import AppRollout, Explanation, Placed, explain
from tenantry.facts.subjects import THE_PLATFORM, Kind, Subject
from tenantry.fleet.placement import Choice
from tenantry.kube.names import PLATFORM
from tenantry.load import load_fleet
from tenantry.messages.text import counted, listed
from tenantry.model.durations import duration
from tenantry.plan.engine_order import is_range
from tenantry.plan.plan import plan
from tenantry.plan.planner import Part


@click.command(
    "explain",
    cls=Command,
    epilog="""\
Examples:
  tenantry explain rocky -e dev                     a tenant
  tenantry explain rocky/web -e prod                an app on all its clusters
  tenantry explain rocky/web -e prod -c eu-west-1   an app on one cluster
  tenantry explain platform/cert-controller -e dev  an add-on
  tenantry explain platform -e prod                 what all add-ons share

Exit codes:
  0  success
  2  tenants.yaml is invalid, or it does not declare a name
""",
)
@options.subject
@options.environment("The environment to show.", required=True)
@options.cluster("Only this cluster; default: all of the environment.")
@options.output("text", "json", kind="Explanation")
@reads_file
def command(file: Path, subject: tuple[str, str | None], environment: str, cluster: str | None, output: str) -> int:
    """Show the effective settings of TENANT, or of its APP on each cluster, and the line that sets each value.

    It also shows which clusters are selected and why, and the values of placeholders. A value that the file does not set
    is marked as a default. No cluster is contacted and nothing is changed.

    Of a tenant with a file of its own, it shows what is granted to that file, and which clusters the file may select.

    Use platform/ADDON for an add-on, and platform for the settings that all add-ons share.
    """
    tenant, app = subject
    with working(f"planning {file}"):
        fleet = load_fleet(file)
        # `platform` may be a tenant that is called so: an app that it does not have is an add-on.
        namesake = fleet.document.tenants.get(PLATFORM)
        addons = fleet.document.platform.addons
        of_tenant = namesake is not None and (app is None or app in namesake.apps or app not in addons)
        of_platform = tenant == PLATFORM and not of_tenant
        addon = app if of_platform else None
        # The platform as a whole says which clusters have tenants.
        planned = plan(fleet, environment, Part(("" if addon else None) if of_platform else tenant, cluster))
    if of_platform:
        about = Subject(Kind.ADDON, name=addon) if addon else THE_PLATFORM
    else:
        about = Subject(Kind.APP, tenant, app) if app else Subject(Kind.TENANT, tenant)
    explanation = explain(fleet, planned, about, cluster)
    if output == "json":
        data_json(explanation, "Explanation")
    else:
        data(annotated(_lines(explanation)))
    return 0


# --- text -------------------------------------------------------------------------------------------------------------

_MOST_CLUSTERS = 5


def _lines(explanation: Explanation) -> Iterator[Line]:
    subject = explanation.subject
    name = {Kind.APP: f"app {subject.name} of tenant {subject.tenant}", Kind.ADDON: f"add-on {subject.name}"}
    yield Line("", f"{name.get(subject.kind, subject)} in environment {explanation.environment}")
    if explanation.choice:
        yield from _choice(explanation.choice, "granted" if subject.kind is Kind.TENANT else "placed")
    if explanation.gate:
        after, origin = explanation.gate
        yield Line(f"after: {scalar(after.environment)}", f"{after.format_gate()}, {place(origin)}", bold=True)
    if explanation.rollout:
        yield from _rollout_lines(explanation.rollout)
    if explanation.choices:
        yield Line("addons:" if subject == THE_PLATFORM else "apps:", bold=True)
        for app, choice in explanation.choices.items():
            colour = None if choice.clusters else "yellow"
            yield Line(f"  {app}: [{', '.join(choice.clusters)}]", _selector(choice), colour)
    if explanation.shared:
        clusters = listed((placed.cluster for placed in explanation.placed), _MOST_CLUSTERS)
        yield Line("")
        yield Line(f"all clusters ({clusters}):" if clusters else "on no cluster:", bold=True)
        yield from value_lines(explanation.shared, 2)
    for placed in explanation.placed:
        yield from _placed_lines(placed, apart=not explanation.shared)


def _choice(choice: Choice, taken: str) -> Iterator[Line]:
    """Args: taken: what is said of a cluster that is chosen."""
    yield Line("clusters:", _selector(choice), bold=True)
    for decision in choice.decisions:
        text, colour = (taken, "green") if decision.placed else (f"not {taken}", "yellow")
        yield Line(f"  {decision.cluster}: {text}", f"{decision.reason}, {place(decision.origin)}", colour)
    if choice.elsewhere:
        yield Line("", f"in other environments: {', '.join(choice.elsewhere)}")


def _selector(choice: Choice) -> str:
    return f"selector: {choice.selector}, {place(choice.origin)}"


def _rollout_lines(rollout: AppRollout) -> Iterator[Line]:
    where = place(rollout.origin)
    if rollout.of == "off":
        yield Line("waves: false", f"all clusters change at the same time, {where}", bold=True)
        return
    yield Line("waves:", f"the environment's {counted(rollout.total, 'wave')}, {where}", bold=True)
    for wave in rollout.waves:
        left = f"not waited for: {', '.join(wave.left_out)}" if wave.left_out else ""
        conditions = [f"soaks for {duration(wave.soak)}"] if wave.soak else []
        conditions += [f"tolerates {wave.tolerate}"] if wave.tolerate else []
        notes = "; ".join(filter(None, (left, *conditions)))
        yield Line(f"  {wave.name}: [{', '.join((*wave.clusters, *wave.left_out))}]", notes)
    if rollout.bypass:
        yield Line(
            f"  bypassed by: {scalar(rollout.bypass)}", "what is new there reaches all clusters at once", "yellow"
        )
    if is_range(rollout.bypass):
        yield Line("", "to pin it, write a version in place of the range")


def _placed_lines(placed: Placed, *, apart: bool) -> Iterator[Line]:
    """What a subject has on one cluster alone. apart: as the only block, set off from what is above."""
    if not (placed.object or placed.values):
        return
    if apart:
        yield Line("")
    yield Line(f"{placed.cluster}:", placed.object, bold=True)
    if placed.names:
        yield Line("  names:", "too long, so they are shortened")
        yield from (Line(f"    {name}: {whole}") for name, whole in placed.names.items())
    yield from value_lines(placed.values, 2)
