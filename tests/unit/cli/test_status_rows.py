"""Rows of `tenantry status` that stand for many clusters, and ages."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from click import unstyle

from tenantry.cli.status import grouped_rows, short_revision, status_text
from tenantry.cluster.report import StatusReport, by_trouble
from tenantry.cluster.states import State
from tenantry.kube.objects import KubeObject, ObjectId, Owner
from tenantry.plan.planned_apps import PlannedApp
from tenantry.rollout.flux_status import Readiness, age
from tests.table import table

NOW = datetime(2026, 1, 2, tzinfo=UTC)


def status(cluster: str, readiness: Readiness = Readiness.READY, message: str = "", app: str = "web") -> State:
    id = ObjectId("kustomize.toolkit.fluxcd.io/v1", "Kustomization", "kamaji", f"{cluster}-rocky-{app}")
    placed = PlannedApp(tenant="rocky", cluster=cluster, name=app, id=id, at=("tenants", "rocky", "apps", app))
    since = "2026-01-01T00:00:00Z" if cluster == "edge-1" else "2026-01-01T22:00:00Z"
    metadata = {"name": id.name, "namespace": id.namespace}
    planned = KubeObject({"apiVersion": id.api_version, "kind": id.kind, "metadata": metadata}, Owner("rocky", cluster))
    return State("dev", planned, readiness, message, placed, placed.full_name, "main@sha1:0123456789", since=since)


def on_many(count: int, readiness: Readiness = Readiness.READY, message: str = "", app: str = "web") -> list[State]:
    return [
        status(f"edge-{number}", readiness, message.format(f"edge-{number}"), app) for number in range(1, count + 1)
    ]


def report(*found: State) -> StatusReport:
    return StatusReport("dev", NOW, by_trouble(found))


def shown(report: StatusReport) -> list[str]:
    return unstyle(status_text(report, None)).splitlines()


def test_equal_rows_of_many_clusters_are_one_and_the_message_names_a_cluster() -> None:
    bad = on_many(5, Readiness.FAILED, "Deployment {}-db is not available", "db")
    assert shown(report(*on_many(479), *bad, status("hub", Readiness.FAILED, "other", "db"))) == [
        "TENANT  CLUSTER       APP  KIND           STATUS  AGE  REVISION",
        "rocky   5 clusters    db   Kustomization  failed  24h  main@0123456",
        "    edge-1: Deployment edge-1-db is not available",
        "rocky   hub           db   Kustomization  failed  2h   main@0123456",
        "    other",
        "rocky   479 clusters  web  Kustomization  ready   24h  main@0123456",
        "cause: tenantry why rocky/db -e dev -c edge-1",
    ]


def test_clusters_that_flux_does_not_reach_are_one_row_if_they_have_the_same() -> None:
    lost = [replace(each, message=f"dial tcp 10.0.0.{at}") for at, each in enumerate(on_many(5, Readiness.UNREACHABLE))]
    behind = [replace(each, revision="main@sha1:abc") for each in lost[:1]]
    table = shown(report(*lost[1:], *behind))
    assert [line.split()[:4] for line in table[1:] if line.startswith("rocky")] == [
        ["rocky", "edge-1", "web", "Kustomization"],
        ["rocky", "4", "clusters", "web"],
    ]
    assert "    edge-2: dial tcp 10.0.0.1" in table


def test_three_clusters_are_listed() -> None:
    assert [row["CLUSTER"] for row in grouped_rows(on_many(3), NOW)] == ["edge-1", "edge-2", "edge-3"]


@table(
    ("since", "expected"),
    [
        ("2026-01-02T00:00:00Z", "0s"),
        ("2026-01-01T23:58:01Z", "119s"),
        ("2026-01-01T23:58:00Z", "2m"),
        ("2026-01-01T22:00:00Z", "2h"),
        ("2025-12-01T00:00:00Z", "32d"),
        ("2027-01-01T00:00:00Z", "0s"),
        ("", ""),
        ("yesterday", ""),
        ("2026-01-01T23:58:00", "2m"),
    ],
)
def test_ages_are_as_kubectl_shows_them(since: str, expected: str) -> None:
    assert age(since, NOW) == expected


@table(
    ("revision", "expected"),
    [
        ("main@sha1:0123456789abcdef", "main@0123456"),
        ("refs/pull/7/head@sha1:0123456789abcdef", "refs/pull/7/head@0123456"),
        ("latest@sha256:0123456789abcdef", "latest@0123456"),
        ("sha256:0123456789abcdef", "0123456"),
        ("1.2.3", "1.2.3"),
        ("1.2.3+0123456789ab", "1.2.3+0123456789ab"),
        ("\x1b[31m@sha1:0123456789abcdef", "\\x1b[31m@0123456"),
        ("", ""),
    ],
)
def test_revisions_are_short(revision: str, expected: str) -> None:
    assert short_revision(revision) == expected
