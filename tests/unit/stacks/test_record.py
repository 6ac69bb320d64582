"""What a successful run leaves for the gates of other environments."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from tenantry.guard.claims import Claim
from tenantry.plan.after import contents
from tenantry.stacks.record import Entry, Record, State, problem_of, read, record_object, record_of
from tests.table import table
from tests.unit.texts import planned, rocky

APPS = "web: {kustomize: {source: manifests, path: ./web}}\ndb: {helm: {source: charts, chart: plain, version: 1.0.0}}"
PLAN = planned(rocky(APPS))
WEB, DB = (contents(PLAN)[each].digest for each in ("rocky/web", "rocky/db"))
NOW = datetime(2026, 11, 22, 23, 30, tzinfo=UTC)
LATER = NOW + timedelta(hours=1)
WEB_READY = {"rocky/web": State.READY}
FIRST = record_of(PLAN, None, NOW, WEB_READY)


def test_a_record_has_a_line_for_each_app() -> None:
    assert FIRST.data == {
        "format": "1",
        "environment": "dev",
        "apps": (
            f"rocky/db {DB} 2026-11-22T23:30:00Z unseen plain 1.0.0\n"
            f"rocky/web {WEB} 2026-11-22T23:30:00Z ready branch main\n"
        ),
    }
    assert read(FIRST.data) == FIRST


def test_a_run_without_changes_changes_nothing() -> None:
    assert record_of(PLAN, FIRST, LATER, WEB_READY) == FIRST


def test_what_changes_gets_a_new_time() -> None:
    after = planned(rocky(APPS.replace("./web", "./other")))
    other = record_of(after, FIRST, LATER, WEB_READY).entries
    assert (other["rocky/web"].since, other["rocky/db"].since) == ("2026-11-23T00:30:00Z", "2026-11-22T23:30:00Z")
    unready = record_of(PLAN, FIRST, LATER, {"rocky/web": State.UNREADY}).entries["rocky/web"]
    assert (unready.since, unready.state) == ("2026-11-23T00:30:00Z", State.UNREADY)


def test_it_is_kept_in_a_config_map_beside_the_claim() -> None:
    manifest = record_object("platform", Claim("dev", "fleet/dev"), FIRST).manifest
    assert manifest["metadata"] == {
        "name": "tenantry-dev.record",
        "namespace": "platform",
        "labels": {
            "app.kubernetes.io/managed-by": "tenantry",
            "tenantry/environment": "dev",
            "tenantry/record": "dev",
        },
    }
    assert manifest["data"] == FIRST.data


@table(
    "data",
    [{}, {**FIRST.data, "format": "2"}, {"apps": FIRST.data["apps"]}],
)
def test_a_record_of_another_format_is_none(data: dict[str, str]) -> None:
    assert read(data) is None


def test_a_line_that_is_damaged_proves_nothing() -> None:
    lines = [
        "rocky/web",
        f"rocky/web {WEB} yesterday ready",
        f"rocky/web {WEB} 2026-11-22T23:30:00 ready",
        f"rocky/web {WEB} 2026-11-22T23:30:00Z perfect",
        "rocky/db 1 2026-11-22T23:30:00Z ready \x1b[31mred",
    ]
    assert read({**FIRST.data, "apps": "\n".join(lines)}) == Record(
        "dev", {"rocky/db": Entry("1", "2026-11-22T23:30:00Z", State.READY, "\\x1b[31mred")}
    )


@table(
    ("app", "digest", "soak", "problem"),
    [
        ("rocky/web", WEB, 0, ""),
        ("rocky/web", WEB, 3600, ""),
        ("rocky/web", WEB, 7200, "recorded as ready for 3600 s, which is less than 7200 s"),
        (
            "rocky/web",
            "0",
            0,
            "had other content (branch main) in the last successful run: run `tenantry up --environment dev`",
        ),
        ("rocky/new", WEB, 0, "is not in the record of 'dev': run `tenantry up --environment dev`"),
        (
            "rocky/db",
            DB,
            0,
            "is in no wave of 'dev', so its record says nothing of readiness: give 'dev' a rollout, or run where its management"
            " cluster can be read",
        ),
    ],
)
def test_a_problem_says_what_is_not_proven(app: str, digest: str, soak: float, problem: str) -> None:
    assert problem_of(FIRST, app, digest, soak, LATER) == problem


def test_an_app_that_a_run_left_unready_and_a_time_in_the_future_prove_nothing() -> None:
    unready = record_of(PLAN, None, NOW, {"rocky/web": State.UNREADY})
    assert problem_of(unready, "rocky/web", WEB, 0, LATER) == (
        "was not ready everywhere at the end of the last run: run `tenantry up --environment dev` again"
    )
    early = NOW - timedelta(hours=1)
    assert problem_of(FIRST, "rocky/web", WEB, 60, early) == "recorded as ready for 0 s, which is less than 60 s"


def test_thousands_of_apps_fit_into_a_config_map_and_too_many_do_not() -> None:
    entry = Entry("0" * 16, "2026-11-22T23:30:00Z", State.READY, "manifests " + "1" * 50)
    entries = {f"{'t' * 63}/{'a' * 58}{index:05}": entry for index in range(4000)}
    assert Record("dev", entries).fits
    assert not Record("dev", {f"{app}-{half}": entry for app in entries for half in "ab"}).fits
