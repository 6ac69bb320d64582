"""When a failure lasts: Flux has given up, or two attempts since the last change ended in the same failure."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from tenantry.rollout.readiness import Live, Reconciler, judge
from tests.table import table
from tests.unit.rollout.test_judging import CACHE, CHART, CHARTED, FETCHED, GIT, REPOSITORY, WEB, live, ready
from tests.unit.rollout.test_readiness import BASELINE, GONE, INSTALLING, NAME, since

READER = Reconciler(WEB.id, WEB.owner, WEB.name, (GIT,), (), (Reconciler(BASELINE, WEB.owner, NAME),))
THERE = live(BASELINE, since(ready(), "11:00:00"))
ELSE = {**CHARTED, **FETCHED, **THERE}
LATE = "23:00:00"


def at(time: str) -> datetime:
    return datetime.fromisoformat(f"2026-01-01T{time}+00:00").astimezone(UTC)


def changed(found: Live, time: str) -> Live:
    """The same objects, whose specs a run wrote at a time. Flux tries again after 30 s."""
    entry = {"manager": "pulumi-kubernetes-1", "time": f"2026-01-01T{time}Z", "fieldsV1": {"f:spec": {}}}
    return {
        id: {
            **each,
            "metadata": {**each["metadata"], "managedFields": [entry]},
            "spec": {"retryInterval": "30s", **each["spec"]},
        }
        for id, each in found.items()
    }


def web(ended: str, *more: dict[str, Any], count: int = 0, first: str = "", message: str = "no") -> Live:
    """`web` has failed. ended: its last attempt, which took a second; count, first: of its attempts that failed alike."""
    entry = {
        "lastReconciledStatus": "HealthCheckFailed",
        "lastReconciled": f"2026-01-01T{ended}Z",
        "lastReconciledDuration": "1s",
        "firstReconciled": f"2026-01-01T{first}Z",
        "totalReconciliations": count,
    }
    status = {"history": [entry]} if count else {}
    failed = live(WEB.id, since(ready("False", message), ended), *more, observedGeneration=1, **status)
    return {**ELSE, **changed(failed, "12:00:00")}


def lasts(found: Live, now: str = LATE, begun: str = "", reconciler: Reconciler = READER) -> bool:
    told = judge(reconciler, found, at(now), at(begun) if begun else None)
    return told.lasts


@table(
    ("found", "expected"),
    [
        # The history counts attempts that failed alike.
        (web("12:01:00", count=2, first="12:00:20"), True),
        (web("12:00:20", count=1, first="12:00:20"), False),
        # The attempts before the change do not count.
        (web("12:00:20", count=7, first="11:00:00"), False),
        (web("12:01:00", count=7, first="11:00:00"), True),
        # Where there is no history, the attempt began after an interval: it is not the first one.
        (web("12:00:20"), False),
        (web("12:00:31"), True),
        # While the fleet may still be changing.
        (web("12:00:10", count=2, first="12:00:05"), False),
    ],
)
def test_a_failure_lasts_when_the_next_attempt_fails_in_the_same_way(found: Live, *, expected: bool) -> None:
    assert lasts(found) is expected


def test_an_attempt_has_to_fail_after_somebody_began_to_watch() -> None:
    """What was wrong can have been put right since the attempts before."""
    found = web("12:01:00", count=9, first="12:00:20")
    assert not lasts(found, begun="12:02:00")
    assert not lasts(found, begun="12:00:40")
    assert lasts(found, begun="12:00:20")


def test_a_failure_of_the_baseline_or_of_the_source_is_not_the_apps() -> None:
    found = web("12:01:00", count=2, first="12:00:20")
    assert not lasts({**found, **INSTALLING})
    # The attempts before the baseline was ready do not count either.
    assert not lasts({**found, **live(BASELINE, since(ready(), "12:00:50"))})
    assert judge(READER, {**found, **GONE}, at(LATE)).cause == GIT


def test_what_flux_gave_up_lasts_at_once() -> None:
    stalled = ready("True", "gave up", kind="Stalled")
    given_up = web("12:00:05", stalled)
    attempted = {**given_up[WEB.id], "status": {**given_up[WEB.id]["status"], "lastAttemptedRevision": "main@sha1:abc"}}
    assert lasts({**given_up, WEB.id: attempted}, "12:00:05")
    assert not lasts({**given_up, WEB.id: attempted, **INSTALLING}, "12:00:05")


def test_a_source_that_fails_again_and_again_lasts_although_nothing_shows_its_attempts() -> None:
    found = {**web("12:00:00", message="Source artifact not found"), **GONE}
    assert [lasts(found, f"12:00:{seconds}") for seconds in (14, 15)] == [False, True]


def test_a_source_that_began_to_fail_long_ago_gets_as_long_again() -> None:
    """Flux may have tried last before what was wrong with its server was put right."""
    gone = live(GIT, since(ready("False", "no route to host"), "11:58:00", "GitOperationFailed"))
    found = {**web("12:00:00"), **gone}
    assert [lasts(found, time, "12:00:00") for time in ("12:01:59", "12:02:00")] == [False, True]


def test_a_chart_does_not_fail_while_its_repository_does() -> None:
    failed = since(ready("False", "no such host"), "12:00:00")
    broken = {
        **ELSE,
        **live(REPOSITORY, failed, observedGeneration=1),
        **live(CHART, failed, observedGeneration=1),
        **live(CACHE.id, {**ready("False", "not ready"), "reason": "SourceNotReady"}),
    }
    told = judge(CACHE, broken, at(LATE))
    assert (told.cause, told.lasts) == (REPOSITORY, True)


def test_a_release_that_was_never_tried_lasts_by_time_and_a_tried_one_by_its_attempts() -> None:
    values = since(ready("False", "no Secret with values"), "12:00:00", "ValuesError")
    found = {**ELSE, **live(CACHE.id, values, observedGeneration=1)}
    assert [lasts(found, time, reconciler=CACHE) for time in ("12:00:14", "12:00:15")] == [False, True]
    released, failed = ready("False", "no", kind="Released"), since(ready("False", "no"), "12:00:00", "InstallFailed")
    for failures, expected in ((1, False), (2, True)):
        tried = {**ELSE, **changed(live(CACHE.id, failed, released, failures=failures), "11:58:00")}
        assert lasts(tried, reconciler=CACHE) is expected
        assert not lasts(tried, reconciler=CACHE, begun="11:59:50")
