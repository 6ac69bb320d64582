"""The fleet map of statuses."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from tenantry.cli.page.fleet_map import Alert, Row
from tenantry.cli.page.status_page import STATES, counts, status_page
from tenantry.cluster.report import StatusReport
from tenantry.cluster.status import AppStatus, Readiness
from tests.unit.texts import fleet, planned, rocky

TEXT = rocky("web: {kustomize: {source: manifests}}\ndb: {kustomize: {source: manifests}}", "clusters: {all: true}")
PLAN = planned(TEXT)
NOW = datetime(2030, 1, 1, 12, tzinfo=UTC)


def app(
    name: str, cluster: str, readiness: Readiness = Readiness.READY, message: str = "", since: str = ""
) -> AppStatus:
    (found,) = (each for each in PLAN.apps if (each.name, each.cluster) == (name, cluster))
    return AppStatus(found, readiness, message, "main@sha1:0123", since=since)


def report(*found: AppStatus) -> StatusReport:
    return StatusReport("dev", NOW, found)


def test_equal_statuses_are_one_entry() -> None:
    failed = [
        app("web", each, Readiness.FAILED, "line one\n\nline two", "2030-01-01T09:00:00Z") for each in ("hub", "edge")
    ]
    ready = [replace(app("db", each), message=f"applied {each}") for each in ("hub", "edge")]
    page = status_page(report(*failed, *ready), PLAN, fleet(TEXT))
    assert page.map.rows == (Row("rocky", (0, 1)),)
    first, second = page.map.entries
    assert (STATES[first.state].key, first.columns, first.of) == ("failed", (0, 1), 2)
    assert first.lines == ("line one", "line two")
    assert first.facts == (("revision", "main@sha1:0123"), ("for", "3h"))
    assert first.objects == ("Kustomization rocky/web", "Kustomization kamaji/edge-rocky-web")
    # The message of an app that is ready repeats its revision.
    assert (STATES[second.state].key, second.lines, second.facts) == ("ready", (), (("revision", "main@sha1:0123"),))
    assert page.map.alerts == (
        Alert(label="failed", text="rocky/web: line one", where="on hub and edge", entries=(0,)),
    )
    assert page.heading == "dev: 2 of 4 apps failed"
    assert page.about == "management cluster hub, read 2030-01-01 12:00 UTC"
    assert page.figures == (("2", "failed"), ("2", "ready"))


def test_failures_stand_before_what_is_missing() -> None:
    found = report(app("db", "hub", Readiness.MISSING, "not there"), app("web", "hub", Readiness.FAILED, "broken"))
    assert [each.label for each in status_page(found, PLAN, fleet(TEXT)).map.alerts] == ["failed", "missing"]


def test_every_readiness_has_a_state() -> None:
    assert {each.key for each in STATES} == {each.value for each in Readiness}
    every = [app("web", "hub", each) for each in Readiness]
    assert counts(every) == (
        ("1", "failed"),
        ("1", "missing"),
        ("1", "changed by hand"),
        ("1", "not applied yet"),
        ("1", "progressing"),
        ("1", "suspended"),
        ("1", "ready"),
    )


def test_the_heading_sums_up() -> None:
    def heading(*found: AppStatus) -> str:
        return status_page(report(*found), PLAN, fleet(TEXT)).heading

    ready, waiting = app("web", "hub"), app("db", "hub", Readiness.PROGRESSING)
    assert heading(ready, app("db", "hub")) == "dev: all 2 apps are ready"
    assert heading(ready, waiting) == "dev: 1 of 2 apps ready"
    assert heading(ready, app("db", "hub", Readiness.MISSING)) == "dev: 1 of 2 apps missing"
    assert heading() == "dev: no apps"
