"""`tenantry status` for programs: JSON, and the metrics that docs/operations.md describes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from tenantry.cli.documents.states import Status, Stuck
from tenantry.cluster.report import StatusReport
from tenantry.cluster.status import TROUBLE, AppStatus, Readiness, moment
from tenantry.kube.names import PLATFORM


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
        by_labels=report.by_labels,
    )


def _stuck(text: str) -> Stuck:
    message, fix = text.split("\n  fix: ", 1)
    return Stuck(message=message, fix=fix)


_APP = ("environment", "tenant", "app", "cluster", "kind")


def metrics(report: StatusReport) -> str:
    """The report in Prometheus' text format."""
    registry = CollectorRegistry()
    registry.register(_Report(report))
    return generate_latest(registry).decode()


class _Report(Collector):
    def __init__(self, report: StatusReport) -> None:
        self._report = report

    def describe(self) -> Iterable[Metric]:
        """Keeps the registry from collecting once just to learn the names."""
        return ()

    def collect(self) -> Iterator[Metric]:
        report, environment = self._report, self._report.environment
        labels = [(app, _labels(environment, app)) for app in report.apps]
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
        yield from _totals(report)


def _totals(report: StatusReport) -> Iterator[Metric]:
    numbers, environment = Counter(app.readiness for app in report.apps), [report.environment]
    apps = GaugeMetricFamily("tenantry_apps", "Apps by status.", labels=("environment", "status"))
    for status in TROUBLE:
        apps.add_metric([*environment, status], numbers[status])
    yield apps
    others = Counter(each.readiness for each in report.objects)
    others[Readiness.READY] = max(0, report.planned - len(report.apps) - len(report.objects))
    objects = GaugeMetricFamily(
        "tenantry_objects", "Planned objects besides apps by status.", labels=("environment", "status")
    )
    for status in TROUBLE:
        objects.add_metric([*environment, status], others[status])
    yield objects
    for name, help, value in (
        (
            "tenantry_undeclared_objects",
            "Objects of the environment that the file does not declare.",
            None if report.undeclared is None else len(report.undeclared),
        ),
        ("tenantry_stuck_objects", "Objects that cannot make progress by themselves.", len(report.stuck)),
        ("tenantry_status_timestamp_seconds", "When the status was read.", report.read_at.timestamp()),
    ):
        if value is not None:
            gauge = GaugeMetricFamily(name, help, labels=("environment",))
            gauge.add_metric(environment, value)
            yield gauge


def _labels(environment: str, status: AppStatus) -> tuple[str, ...]:
    app = status.app
    return (environment, app.tenant or PLATFORM, app.name, app.cluster, app.id.kind)
