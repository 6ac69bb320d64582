"""`tenantry status --output json`."""

from __future__ import annotations

from tenantry.cli.documents.states import Status, Stuck
from tenantry.cluster.report import StatusReport


def status_document(report: StatusReport) -> Status:
    """The whole report. `undeclared` is null if this user may not look for such objects."""
    return Status(
        environment=report.environment,
        read_at=report.read_at.strftime("%Y-%m-%dT%H:%M:%SZ"),
        apps=report.apps,
        objects=report.objects,
        planned=report.planned,
        undeclared=report.undeclared,
        stuck=[_stuck(each) for each in report.stuck],
    )


def _stuck(text: str) -> Stuck:
    message, fix = text.split("\n  fix: ", 1)
    return Stuck(message=message, fix=fix)
