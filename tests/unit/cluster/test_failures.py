"""When a failure lasts: Flux has given up, or it has failed again in the same way."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from tenantry.cluster.failures import Failures
from tenantry.cluster.standing import Live, Needs
from tenantry.kube.objects import ObjectId
from tests.table import table
from tests.unit.cluster.test_standing import BASELINE, GONE, INSTALLING, NAME, since
from tests.unit.rollout.test_judging import CACHE, CHART, CHARTED, FETCHED, GIT, REPOSITORY, WEB, live, ready
from tests.unit.rollout.test_watch import Clock

NEEDS = [
    (WEB.id, Needs((GIT,), {BASELINE: NAME})),
    (CACHE.id, Needs((REPOSITORY, CHART), {})),
]
THERE = live(BASELINE, since(ready(), "11:00:00"))
ELSE = {**CHARTED, **FETCHED, **THERE}


def web(time: str, message: str = "health check failed after 30.01s", *more: dict[str, Any]) -> Live:
    return {**ELSE, **live(WEB.id, since(ready("False", message), time), *more, observedGeneration=1)}


def lasting(*readings: tuple[float, Live]) -> list[set[ObjectId]]:
    """What lasts after each reading; readings: the clock, and what was read."""
    clock, seen = Clock(), []
    failures = Failures(clock, lambda: datetime(2026, 1, 1, 12, 0, 5, tzinfo=UTC))
    for now, found in readings:
        clock.now = now
        failures.look(NEEDS, found)
        seen.append(set(failures.lasting))
    return seen


AGAIN = {**ELSE, **live(WEB.id, {**ready("Unknown", "in progress"), "reason": "Progressing"}, observedGeneration=1)}
NONE: set[ObjectId] = set()


def test_a_failure_lasts_when_the_next_attempt_fails_in_the_same_way() -> None:
    seen = lasting(
        (0, web("12:00:00")), (14, web("12:00:00")), (15, AGAIN), (16, web("12:00:16", "health check failed after 31s"))
    )
    assert seen == [NONE, NONE, NONE, {WEB.id}]


@table(
    "readings",
    [
        # One attempt, however long it is ago.
        ((0, web("12:00:00")), (600, web("12:00:00"))),
        # The next attempt fails at once, while the fleet may still be changing.
        ((0, web("12:00:00")), (10, web("12:00:05"))),
        ((0, web("12:00:00")), (20, web("12:00:20", "no such file"))),
        # It was ready in between.
        (
            (0, web("12:00:00")),
            (10, {**ELSE, **live(WEB.id, lastAppliedRevision="main@sha1:abc")}),
            (20, web("12:00:20")),
        ),
        # The failure is that of the baseline, or of the source.
        ((0, web("12:00:00")), (20, {**web("12:00:20"), **INSTALLING})),
        ((0, {**web("12:00:00"), **INSTALLING}), (20, web("12:00:20"))),
        ((0, web("12:00:00")), (20, {**web("12:00:20"), **GONE})),
    ],
)
def test_a_failure_that_the_next_attempt_may_cure_does_not_last(readings: tuple[tuple[float, Live], ...]) -> None:
    assert lasting(*readings)[-1] == NONE


def test_what_flux_gave_up_lasts_at_once() -> None:
    stalled = ready("True", "gave up", kind="Stalled")
    assert lasting((0, web("12:00:00", "no", stalled))) == [{WEB.id}]
    assert lasting((0, {**web("12:00:00", "no", stalled), **INSTALLING})) == [NONE]


def test_a_source_that_fails_again_and_again_lasts_although_nothing_shows_its_attempts() -> None:
    found = {**web("12:00:00", "Source artifact not found"), **GONE}
    assert lasting((0, found), (14, found), (15, found)) == [NONE, NONE, {GIT}]


def test_a_source_that_began_to_fail_long_ago_gets_as_long_again() -> None:
    """Flux may have tried last before what was wrong with its server was put right."""
    gone = live(GIT, since(ready("False", "no route to host"), "11:58:05", "GitOperationFailed"))
    found = {**web("12:00:00"), **gone}
    assert lasting((0, found), (119, found), (120, found)) == [NONE, NONE, {GIT}]


def test_a_chart_does_not_fail_while_its_repository_does() -> None:
    broken = {
        **ELSE,
        **live(REPOSITORY, ready("False", "no such host"), observedGeneration=1),
        **live(CHART, ready("False", "cannot fetch"), observedGeneration=1),
        **live(CACHE.id, {**ready("False", "not ready"), "reason": "SourceNotReady"}),
    }
    assert lasting((0, broken), (15, broken)) == [NONE, {REPOSITORY}]


def test_a_release_that_was_never_tried_lasts_by_time_and_a_tried_one_by_its_attempts() -> None:
    values = since(ready("False", "no Secret with values"), "12:00:00", "ValuesError")
    found = {**ELSE, **live(CACHE.id, values, observedGeneration=1)}
    assert lasting((0, found), (15, found)) == [NONE, {CACHE.id}]
    released = ready("False", "no", kind="Released")
    tried = {**ELSE, **live(CACHE.id, since(ready("False", "no"), "12:00:00", "InstallFailed"), released)}
    assert lasting((0, tried), (60, tried)) == [NONE, NONE]
