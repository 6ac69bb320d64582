"""The fleet map of statuses."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from tenantry.cli.page.document import Notice, Table
from tenantry.cli.page.fleet_map import Alert, Row
from tenantry.cli.page.status_map import STATES, Reading, reading
from tenantry.cli.page.status_page import counts, status_page
from tenantry.cluster.report import StatusReport
from tenantry.cluster.status import AppStatus, Readiness
from tests.table import table
from tests.unit.texts import fleet, planned, rocky

TEXT = rocky("web: {kustomize: {source: manifests}}\ndb: {kustomize: {source: manifests}}", "clusters: {all: true}")
PLAN = planned(TEXT)
NOW = datetime(2030, 1, 1, 12, tzinfo=UTC)


def app(
    name: str, cluster: str, readiness: Readiness = Readiness.READY, message: str = "", since: str = ""
) -> AppStatus:
    (found,) = (each for each in PLAN.apps if (each.name, each.cluster) == (name, cluster))
    return AppStatus(found, readiness, message, "main@sha1:0123", since=since)


def read(*found: AppStatus, environment: str = "dev", **given: Any) -> Reading:
    return reading(StatusReport(environment, NOW, found, **given), PLAN, fleet(TEXT))


def test_equal_statuses_are_one_entry() -> None:
    failed = [
        app("web", each, Readiness.FAILED, "line one\n\nline two", "2030-01-01T09:00:00Z") for each in ("hub", "edge")
    ]
    ready = [replace(app("db", each), message=f"applied {each}") for each in ("hub", "edge")]
    page = status_page([read(*failed, *ready)])
    assert page.map.rows == (Row("rocky", (0, 1)),)
    first, second = page.map.entries
    assert (STATES[first.state].key, first.columns, first.of) == ("failed", (0, 1), 2)
    assert first.lines == ("line one", "line two")
    assert first.facts == (("revision", "main@sha1:0123"), ("for", "3h, since 2030-01-01 09:00 UTC"))
    assert first.objects == ("Kustomization rocky/web", "Kustomization kamaji/edge-rocky-web")
    # The message of an app that is ready repeats its revision.
    assert (STATES[second.state].key, second.lines, second.facts) == ("ready", (), (("revision", "main@sha1:0123"),))
    assert page.map.alerts == (
        Alert(
            label="failed",
            text="rocky/web: line one",
            where="on hub and edge, for 3h",
            entries=(0,),
            commands=(
                "tenantry why rocky/web -e dev -c hub",
                "tenantry tree rocky/web -e dev -c hub",
            ),
        ),
    )
    assert page.heading == "dev: 2 of 4 apps failed"
    assert (page.about, page.read_at) == ("management cluster hub", "2030-01-01T12:00:00Z")
    assert page.refresh == "tenantry status -e dev --output html > status.html"
    assert page.figures == (("2", "failed"), ("2", "ready"))


def test_failures_stand_before_what_is_missing() -> None:
    found = read(app("db", "hub", Readiness.MISSING, "not there"), app("web", "hub", Readiness.FAILED, "broken"))
    assert [each.label for each in status_page([found]).map.alerts] == ["failed", "missing"]


def test_every_readiness_has_a_state() -> None:
    assert {each.key for each in STATES} == {each.value for each in Readiness}
    every = [app("web", "hub", each) for each in Readiness]
    assert counts(every) == (
        ("1", "failed"),
        ("1", "missing"),
        ("1", "changed by hand"),
        ("1", "unreachable"),
        ("1", "not applied yet"),
        ("1", "progressing"),
        ("1", "suspended"),
        ("1", "ready"),
    )


def test_the_heading_sums_up() -> None:
    def heading(*found: AppStatus) -> str:
        return status_page([read(*found)]).heading

    ready, waiting = app("web", "hub"), app("db", "hub", Readiness.PROGRESSING)
    assert heading(ready, app("db", "hub")) == "dev: all 2 apps are ready"
    assert heading(ready, waiting) == "dev: 1 of 2 apps ready"
    assert heading(ready, app("db", "hub", Readiness.MISSING)) == "dev: 1 of 2 apps missing"
    assert heading(ready, app("db", "hub", Readiness.UNREACHABLE)) == "dev: 1 of 2 apps unreachable"
    assert heading() == "dev: no apps"


def test_all_that_flux_does_not_reach_is_one_alert() -> None:
    lost = [app("web", each, Readiness.UNREACHABLE, f"dial tcp 10.0.0.{at}") for at, each in enumerate(("hub", "edge"))]
    (alert,) = status_page([read(*lost, app("db", "edge", Readiness.UNREACHABLE, "i/o timeout"))]).map.alerts
    assert (alert.label, alert.text) == ("unreachable", "rocky/web, rocky/db: hub: dial tcp 10.0.0.0")
    assert alert.commands[0] == "tenantry why rocky/web -e dev -c hub"


def test_the_same_message_is_told_once_whatever_names_it_has() -> None:
    failed = (app("web", "hub", Readiness.FAILED, "release web failed on hub"),)
    failed += (app("web", "edge", Readiness.FAILED, "release edge-rocky-web failed on edge"),)
    failed += (app("db", "edge", Readiness.FAILED, "release edge-rocky-db failed on edge"),)
    other = app("db", "hub", Readiness.FAILED, "another reason")
    page = status_page([read(*failed, other), read(failed[1], environment="prod")])
    assert [(each.text, each.where, each.entries) for each in page.map.alerts] == [
        ("rocky/web, rocky/db: hub: release web failed on hub", "dev: on hub and edge; prod: on edge", (0, 1)),
        ("rocky/db: another reason", "dev: on hub", (2,)),
    ]
    assert [(each.alert, each.lines) for each in page.map.entries] == [
        (0, ("hub: release web failed on hub",)),
        (0, ("release edge-rocky-db failed on edge",)),
        (1, ("another reason",)),
    ]


@table(
    ("states", "calm", "alarm"),
    [
        (("ready", "ready"), "All apps are ready", ""),
        (("ready", "suspended"), "1 app suspended; all others are ready", ""),
        (("suspended",), "All apps are suspended", ""),
        (("ready", "progressing"), "", "Not ready yet"),
        (("outdated", "suspended"), "", "Not ready yet"),
        (("failed", "progressing"), "", "Needs attention"),
        ((), "", ""),
    ],
)
def test_a_page_is_calm_only_if_all_is_well(states: tuple[str, ...], calm: str, alarm: str) -> None:
    found = [app(name, "hub", Readiness(state), state) for name, state in zip(("web", "db"), states, strict=False)]
    page = status_page([read(*found)])
    assert (page.alarm if page.map.alerts else page.calm) == calm + alarm


def test_several_environments_have_a_table_and_one_map() -> None:
    page = status_page([read(app("web", "hub")), read(app("web", "hub", Readiness.MISSING), environment="prod")])
    assert page.heading == "dev: 1 of 1 app ready; prod: 1 of 1 app missing"
    assert page.about == "management clusters hub (dev), hub (prod)"
    assert page.tables == (
        Table("Environments", ("apps", "missing", "ready"), (("dev", ("1", "", "1")), ("prod", ("1", "1", "")))),
    )
    assert [each.environment for each in page.map.columns] == ["dev", "dev", "prod"]
    assert page.map.alerts[0].commands == ("tenantry up -e prod",)
    assert page.refresh == "tenantry status -e dev -e prod --output html > status.html"


def test_what_a_person_has_to_know_has_its_commands() -> None:
    page = status_page([read(app("web", "hub"), stuck=("it waits\n  fix: wait, or run `flux reconcile x y`",))])
    assert page.notes == (Notice(("it waits",), ("wait, or run `flux reconcile x y`",), ("flux reconcile x y",)),)
