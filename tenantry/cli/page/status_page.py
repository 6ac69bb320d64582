"""The page of `tenantry status`."""

from __future__ import annotations

from collections.abc import Sequence

from tenantry.cli.page.document import Page, as_html
from tenantry.cli.page.status_map import counts, status_map
from tenantry.cluster.report import StatusReport
from tenantry.cluster.status import AppStatus, Readiness
from tenantry.fleet.fleet import Fleet, clusters_of
from tenantry.messages.text import counted, printable
from tenantry.plan.plan import Plan


def as_page(report: StatusReport, planned: Plan, fleet: Fleet) -> str:
    """The page as HTML. Args: planned: the plan of the report's environment."""
    return as_html(status_page(report, planned, fleet))


def status_page(report: StatusReport, planned: Plan, fleet: Fleet) -> Page:
    """What the page says."""
    found = report.apps
    return Page(
        command="tenantry status",
        heading=f"{printable(report.environment)}: {_summary(found)}",
        about=f"management cluster {printable(planned.management)}, read {report.read_at:%Y-%m-%d %H:%M} UTC",
        figures=counts(found),
        refusals=(),
        alarm="Needs attention",
        calm="Nothing has failed" if found else "",
        notes=tuple(printable(line.strip()) for message in report.messages() for line in message.splitlines()),
        map=status_map(report, clusters_of(fleet, report.environment), fleet.clusters),
    )


def _summary(found: Sequence[AppStatus]) -> str:
    """12 of 412 apps failed; all 412 apps are ready"""
    states = [each.readiness for each in found]
    if not states:
        return "no apps"
    total = counted(len(states), "app")
    for state in (Readiness.FAILED, Readiness.MISSING):
        if number := states.count(state):
            return f"{number} of {total} {state}"
    ready = states.count(Readiness.READY)
    return f"all {total} are ready" if ready == len(states) > 1 else f"{ready} of {total} ready"
