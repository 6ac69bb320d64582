"""What a change waits for besides readiness: that an earlier wave has soaked."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from tenantry.kube.objects import ObjectId, Owner
from tenantry.plan.plan import Plan
from tenantry.rollout.conditions import Known, Mark, Waiting, marked, read_marks, told, waiting, written
from tenantry.rollout.parts import Part, digests_of, parts_of
from tests.table import table
from tests.unit.rollout.test_waves import fleet
from tests.unit.texts import planned

NOW = datetime(2026, 11, 28, 12, tzinfo=UTC)
APPS = "      web: {kustomize: {source: m, path: ./PATH}}\n      db: {helm: {source: c, chart: db, version: 1.2.3}}\n"
WAVES = "waves: [{name: canary, labels: {ring: canary}, soak: 2h}, {names: [edge-2, edge-3]}, {all: true}]"


def plan_of(path: str = "a", waves: str = WAVES, clusters: int = 4) -> Plan:
    return planned(fleet(waves, APPS.replace("PATH", path), clusters))


PLAN = plan_of()
PARTS = parts_of(PLAN)
DIGESTS = digests_of(PLAN, PARTS)
FIRST = Part(1, "rocky/web")


def changed(plan: Plan, app: str = "web") -> list[ObjectId]:
    return [each.id for each in plan.apps if each.name == app]


def marks(*parts: Part, ago: timedelta) -> dict[Part, Mark]:
    return {part: Mark(DIGESTS[part], NOW - ago) for part in parts}


def found(known: Known, ids: Iterable[ObjectId] = changed(PLAN)) -> dict[tuple[int, str], str]:
    """The reasons by wave and subject."""
    return {(part.wave, part.subject): wait.reason for part, wait in waiting(PLAN, [*ids], known).parts.items()}


def test_each_object_counts_for_its_app_and_the_rest_for_its_tenant() -> None:
    subjects = {f"{id.kind} {id.name}": PARTS[id].subject for id in PARTS if id.namespace == "rocky"}
    assert subjects["GitRepository m"] == "rocky/web"
    assert {key: value for key, value in subjects.items() if value == "rocky"}.keys() >= {"ServiceAccount rocky"}


def test_one_more_cluster_of_a_wave_changes_no_digest_and_a_new_setting_changes_that_of_its_app_alone() -> None:
    more = plan_of(clusters=5)
    assert {part: digest for part, digest in digests_of(more, parts_of(more)).items() if "/" in part.subject} == {
        part: digest for part, digest in DIGESTS.items() if "/" in part.subject
    }
    other = plan_of("b")
    after = digests_of(other, parts_of(other))
    assert {part.subject for part in DIGESTS if DIGESTS[part] != after[part]} == {"rocky/web"}


SOAKING = "wave 1 of 3 (canary) soaks"
UNSEEN = "wave 1 of 3 (canary) has not been good with it yet, and then soaks for 2h"


@table(
    "ago, of, second",
    [
        (timedelta(hours=1, minutes=59), FIRST, SOAKING),
        (timedelta(hours=2), FIRST, None),
        (timedelta(days=9), Part(1, "rocky/db"), UNSEEN),
    ],
)
def test_a_wave_waits_until_the_one_before_has_soaked_with_the_same_content(
    ago: timedelta, of: Part, second: str | None
) -> None:
    reasons = found(Known(NOW, marks(of, ago=ago)))
    assert reasons.get((2, "rocky/web")) == second
    assert (1, "rocky/web") not in reasons
    assert reasons.get((3, "rocky/web")) == ("waits for wave 2 of 3" if second else None)


def test_what_does_not_change_waits_for_nothing() -> None:
    assert waiting(PLAN, [], Known(NOW)) == Waiting()
    assert found(Known(NOW), changed(PLAN, "db")).keys() == {(2, "rocky/db"), (3, "rocky/db")}


@table("ignored, waves", [(("soak",), set()), (("after", "soak"), set()), (("after",), {2, 3})])
def test_an_emergency_leaves_out_what_it_names(ignored: tuple[str, ...], waves: set[int]) -> None:
    assert {wave for wave, _ in found(Known(NOW, ignored=ignored))} == waves


def test_what_goes_waits_where_something_of_its_tenant_does() -> None:
    going = {
        ObjectId("v1", "ConfigMap", "remotes", "old"): Owner("rocky", "edge-2"),
        ObjectId("v1", "ConfigMap", "remotes", "other"): Owner("rocky", "edge-1"),
        ObjectId("v1", "ConfigMap", "remotes", "movy"): Owner("movy", "edge-2"),
    }
    held = waiting(PLAN, changed(PLAN), Known(NOW), going).objects
    assert {id.name for id in held if id in going} == {"old"}
    assert not waiting(PLAN, changed(PLAN), Known(NOW, ignored=("soak",)), going)


def test_a_run_says_who_waits_for_what_and_until_when() -> None:
    known = Known(NOW, marks(FIRST, ago=timedelta(hours=1)))
    assert told(PLAN, waiting(PLAN, changed(PLAN), known), NOW) == (
        "4 objects of environment 'dev' wait, and stay as they are\n"
        "  wave 2 of 3: rocky/web: wave 1 of 3 (canary) soaks until 2026-11-28T13:00:00Z (1h more)\n"
        "  wave 3 of 3: rocky/web: waits for wave 2 of 3\n"
        "  fix: run the same command again later: tenantry up --environment dev"
    )
    assert not waiting(PLAN, changed(PLAN), Known(NOW, marks(FIRST, ago=timedelta(hours=2))))


def test_marks_keep_their_time_while_the_content_stays_and_come_back_as_they_were() -> None:
    before = marks(FIRST, ago=timedelta(hours=1)) | {
        Part(1, "rocky/db"): Mark("former", NOW - timedelta(hours=1)),
        Part(1, "gone/app"): Mark("gone", NOW),
    }
    after = marked(before, {FIRST, Part(1, "rocky/db")}, DIGESTS, NOW)
    assert after == {FIRST: before[FIRST], Part(1, "rocky/db"): Mark(DIGESTS[Part(1, "rocky/db")], NOW)}
    assert marked(before, {FIRST}, DIGESTS, NOW) == {FIRST: before[FIRST]}
    assert read_marks([*written(before), "", "1 a b c", "x 5f 2026-11-28T12:00:00Z rocky/web"]) == before
