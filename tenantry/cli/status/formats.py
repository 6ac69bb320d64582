"""`tenantry status` as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from tenantry.cli.documents.states import EnvironmentState, Status, Stuck, Unread
from tenantry.cli.failures import described
from tenantry.cluster.report import StatusReport
from tenantry.messages.errors import Refused


def status_document(reports: Sequence[StatusReport], failures: Iterable[tuple[str, Refused]] = ()) -> Status:
    """The whole reports. `undeclared` is null if this user may not look for such objects."""
    return Status(
        environments=[_environment(report) for report in reports],
        apps=[_In(report.environment, app) for report in reports for app in report.apps],
        objects=[_In(report.environment, each) for report in reports for each in report.objects],
        stuck=[_stuck(report.environment, each) for report in reports for each in report.stuck],
        unread=[Unread(environment=name, error=described(failure)) for name, failure in failures],
    )


def _environment(report: StatusReport) -> EnvironmentState:
    return EnvironmentState(
        environment=report.environment,
        read_at=report.read_at.strftime("%Y-%m-%dT%H:%M:%SZ"),
        ready=report.ready,
        planned=report.planned,
        undeclared=report.undeclared,
        waves=report.waves,
    )


class _In:
    """A status with its environment, for the document."""

    def __init__(self, environment: str, status: Any) -> None:
        self.environment = environment
        self._status = status

    def __getattr__(self, name: str) -> Any:
        return getattr(self._status, name)


def _stuck(environment: str, text: str) -> Stuck:
    message, fix = text.split("\n  fix: ", 1)
    return Stuck(environment=environment, message=message, fix=fix)
