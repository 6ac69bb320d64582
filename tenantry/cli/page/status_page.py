"""The page of `tenantry status`."""

from __future__ import annotations

from collections.abc import Sequence

from tenantry.cli.page.document import Page, as_html
from tenantry.cli.page.status_map import counts, status_map
from tenantry.cluster.objects import ObjectStatus
from tenantry.cluster.report import StatusReport
from tenantry.cluster.status import AppStatus, Readiness, one_line
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
        heading=f"{printable(report.environment)}: {_summary(report)}",
        about=f"management cluster {printable(planned.management)}, read {report.read_at:%Y-%m-%d %H:%M} UTC",
        figures=counts(found),
        refusals=(),
        alarm="Needs attention",
        calm="" if report.objects or not found else "Nothing has failed",
        notes=(
            *map(_told, report.objects),
            *(printable(line.strip()) for message in report.messages() for line in message.splitlines()),
        ),
        map=status_map(report, clusters_of(fleet, report.environment), fleet.clusters),
    )


def _told(status: ObjectStatus) -> str:
    """An object that is not as planned, as a note."""
    name = f" ({status.name})" if status.name else ""
    return printable(f"{status.id}{name} is {status.readiness}: {one_line(status.message)}")


def _summary(report: StatusReport) -> str:
    """12 of 412 apps failed; all 412 apps are ready, 2 other objects not as planned"""
    summary = _of_apps(report.apps)
    return f"{summary}, {counted(len(report.objects), 'other object')} not as planned" if report.objects else summary


def _of_apps(found: Sequence[AppStatus]) -> str:
    states = [each.readiness for each in found]
    if not states:
        return "no apps"
    total = counted(len(states), "app")
    for state in (Readiness.FAILED, Readiness.MISSING):
        if number := states.count(state):
            return f"{number} of {total} {state}"
    ready = states.count(Readiness.READY)
    return f"all {total} are ready" if ready == len(states) > 1 else f"{ready} of {total} ready"
