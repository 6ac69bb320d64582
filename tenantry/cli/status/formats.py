"""`tenantry status` for programs: JSON, and the metrics that docs/operations.md describes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from tenantry.cli.documents.states import EnvironmentState, Status, Stuck, Unread
from tenantry.cli.failures import described
from tenantry.cluster.objects import ObjectStatus
from tenantry.cluster.report import StatusReport
from tenantry.cluster.status import TROUBLE, AppStatus, Readiness, moment
from tenantry.kube.names import PLATFORM
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
    )


class _In:
    """A status with its environment, for the document."""

    def __init__(self, environment: str, status: AppStatus | ObjectStatus) -> None:
        self.environment = environment
        self._status = status

    def __getattr__(self, name: str) -> Any:
        return getattr(self._status, name)


def _stuck(environment: str, text: str) -> Stuck:
    message, fix = text.split("\n  fix: ", 1)
    return Stuck(environment=environment, message=message, fix=fix)


_APP = ("environment", "tenant", "app", "cluster", "kind")


def metrics(reports: Sequence[StatusReport]) -> str:
    """The reports in Prometheus' text format."""
    registry = CollectorRegistry()
    registry.register(_Reports(reports))
    return generate_latest(registry).decode()


class _Reports(Collector):
    def __init__(self, reports: Sequence[StatusReport]) -> None:
        self._reports = reports

    def describe(self) -> Iterable[Metric]:
        """Keeps the registry from collecting once just to learn the names."""
        return ()

    def collect(self) -> Iterator[Metric]:
        labels = [(app, _labels(report.environment, app)) for report in self._reports for app in report.apps]
        ready = GaugeMetricFamily("tenantry_app_ready", "Whether the app is ready on the cluster.", labels=_APP)
        state = GaugeMetricFamily("tenantry_app_status", "1 for the status that the app has.", labels=(*_APP, "status"))
        since = GaugeMetricFamily(
            "tenantry_app_since_timestamp_seconds",
            "Since when the app is ready, or is not.",
            labels=_APP,
        )
        for each, values in labels:
            ready.add_metric(values, each.readiness is Readiness.READY)
            state.add_metric((*values, each.readiness), 1)
            if found := moment(each.since):
                since.add_metric(values, found.timestamp())
        yield from (ready, state, since)
        yield from _totals(self._reports)


def _totals(reports: Sequence[StatusReport]) -> Iterator[Metric]:
    apps = GaugeMetricFamily("tenantry_apps", "Apps by status.", labels=("environment", "status"))
    objects = GaugeMetricFamily(
        "tenantry_objects", "Planned objects besides apps by status.", labels=("environment", "status")
    )
    for report in reports:
        numbers, others = (Counter(each.readiness for each in found) for found in (report.apps, report.objects))
        others[Readiness.READY] = max(0, report.planned - len(report.apps) - len(report.objects))
        for status in TROUBLE:
            apps.add_metric([report.environment, status], numbers[status])
            objects.add_metric([report.environment, status], others[status])
    yield from (apps, objects)
    for name, (help, value_of) in _ONE_VALUE.items():
        gauge = GaugeMetricFamily(name, help, labels=("environment",))
        for report in reports:
            if (value := value_of(report)) is not None:
                gauge.add_metric([report.environment], value)
        if gauge.samples:
            yield gauge


_ONE_VALUE: dict[str, tuple[str, Callable[[StatusReport], float | None]]] = {
    "tenantry_undeclared_objects": (
        "Objects of the environment that the file does not declare.",
        lambda report: None if report.undeclared is None else len(report.undeclared),
    ),
    "tenantry_stuck_objects": (
        "Objects that cannot make progress by themselves.",
        lambda report: len(report.stuck),
    ),
    "tenantry_status_timestamp_seconds": ("When the status was read.", lambda report: report.read_at.timestamp()),
}


def _labels(environment: str, status: AppStatus) -> tuple[str, ...]:
    app = status.app
    return (environment, app.tenant or PLATFORM, app.name, app.cluster, app.id.kind)
