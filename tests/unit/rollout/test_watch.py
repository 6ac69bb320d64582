"""How a wave is followed on its clusters, and what a run says of it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tenantry.cluster.standing import Live
from tenantry.kube.objects import ObjectId, Owner
from tenantry.rollout.judging import Awaited, Request, Seen, Watch
from tenantry.rollout.waves import Rollout, Wave, wave_name
from tenantry.rollout.words import arrived, progress, stopped, unapplied
from tests.table import table
from tests.unit.rollout.test_judging import COMMIT, FETCHED, GIT, SETTINGS, live, ready

EARLY = Wave(2, "early", ("edge-2", "edge-3", "edge-4"))
LATE = Wave(3, "wave 3", ("edge-5",), ("edge-6",))
ROLLOUT = Rollout("", (Wave(1, "canary", ("edge-1",)), EARLY, LATE), 60)
PATH = "kustomization path not found"


@dataclass
class Clock:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now


def app(cluster: str) -> Awaited:
    id = ObjectId("kustomize.toolkit.fluxcd.io/v1", "Kustomization", "remotes", f"{cluster}-rocky-web")
    return Awaited(id, Owner("rocky", cluster), "rocky/web", (GIT,))


APPS = {name: [app(name)] for name in ("edge-2", "edge-3")}


def watched(clock: Clock, rollout: Rollout = ROLLOUT) -> Watch:
    watch = Watch(rollout, EARLY, APPS, clock)
    watch.changed(EARLY.units)
    return watch


def there(**said: str) -> Live:
    """edge_2="good" | "failing" | "stalled" | "suspended", and so on."""
    found = dict(FETCHED)
    for name, how in said.items():
        (each,) = APPS[name.replace("_", "-")]
        if how == "good":
            found |= live(each.id, lastAppliedRevision=COMMIT)
        elif how == "suspended":
            found |= live(each.id, spec={"suspend": True})
        else:
            more = [ready("True", "gave up", kind="Stalled")] if how == "stalled" else []
            found |= live(each.id, ready("False", PATH), *more, lastAttemptedRevision=COMMIT)
    return found


def test_a_wave_is_good_when_each_of_its_clusters_is_and_stays_so() -> None:
    clock = Clock()
    watch = watched(clock)
    seen = watch.look(there(edge_2="good", edge_3="failing"))
    assert seen.good == {"edge-2", "edge-4"}, "nothing is waited for on edge-4"
    assert ([*seen.waiting], seen.failed, watch.has_failed(seen), watch.unseen) == (
        ["edge-3"],
        {},
        False,
        APPS["edge-3"],
    )
    clock.now = 1000.0
    seen = watch.look(there(edge_2="failing", edge_3="good"))
    assert (seen.good, seen.waiting, seen.failed, watch.unseen) == (frozenset(EARLY.units), {}, {}, [])


@table(("tolerate", "failed"), [(0, True), (1, False)])
def test_a_cluster_fails_when_its_time_is_over_and_the_wave_when_more_do_than_tolerated(
    tolerate: int, *, failed: bool
) -> None:
    clock = Clock()
    watch = watched(clock, replace(ROLLOUT, tolerate=tolerate))
    clock.now = 59.0
    assert watch.look(there(edge_2="good", edge_3="failing")).failed == {}
    clock.now = 60.0
    seen = watch.look(there(edge_2="good", edge_3="failing"))
    assert ([*seen.failed], watch.has_failed(seen)) == (["edge-3"], failed)


def test_time_begins_when_the_changes_for_a_cluster_have_been_made() -> None:
    clock = Clock()
    watch = Watch(ROLLOUT, EARLY, APPS, clock)
    watch.changed(["edge-2"])
    clock.now = 50.0
    watch.changed(["edge-3"])
    clock.now = 70.0
    seen = watch.look(there(edge_2="failing", edge_3="failing"))
    assert ([*seen.failed], [*seen.waiting]) == (["edge-2"], ["edge-3"])


def test_what_flux_gave_up_fails_at_once_and_what_is_suspended_is_left_out() -> None:
    seen = watched(Clock()).look(there(edge_2="stalled", edge_3="suspended"))
    assert ([*seen.failed], seen.waiting) == (["edge-2"], {})
    assert [(each.awaited.owner.cluster, each.reason) for each in seen.left_out] == [("edge-3", "suspended by hand")]


def test_configs_are_read_again_before_their_app_counts_as_good() -> None:
    reader = replace(APPS["edge-2"][0], inputs=(SETTINGS,))
    watch = Watch(ROLLOUT, EARLY, {"edge-2": [reader]}, Clock())
    watch.changed(["edge-2"])
    found = {**there(edge_2="good"), **live(SETTINGS)}
    (request,) = watch.look(found).requests
    assert request == Request(reader.id, request.token)
    handled = live(reader.id, lastAppliedRevision=COMMIT, lastHandledReconcileAt=request.token)
    assert watch.look({**found, **handled}).waiting == {}


# --- what is said ---------------------------------------------------------------------------------------------------


def seen_at(seconds: float, tolerate: int = 0, **said: str) -> tuple[Rollout, Seen]:
    clock = Clock()
    rollout = replace(ROLLOUT, tolerate=tolerate)
    watch = watched(clock, rollout)
    clock.now = seconds
    return rollout, watch.look(there(**said))


@table(
    ("rollout", "wave", "name"),
    [
        (ROLLOUT, EARLY, "wave 2 of 3 (early)"),
        (ROLLOUT, LATE, "wave 3 of 3"),
        (replace(ROLLOUT, name="rocky/web"), EARLY, "rocky/web: wave 2 of 3 (early)"),
    ],
)
def test_a_wave_is_called_by_its_number_and_name(rollout: Rollout, wave: Wave, name: str) -> None:
    assert wave_name(rollout, wave) == name


def test_progress_names_what_is_waited_for() -> None:
    rollout, seen = seen_at(5, edge_2="failing", edge_3="failing")
    assert progress(rollout, EARLY, seen) == (
        f"wave 2 of 3 (early): 3 clusters, waiting for 2: edge-2 rocky/web: {PATH} and 1 other cluster"
    )


def test_a_wave_that_arrived_tells_whom_it_left_behind() -> None:
    rollout, seen = seen_at(60, 1, edge_2="failing", edge_3="suspended")
    assert arrived(rollout, EARLY, seen, 61.4) == (
        "wave 2 of 3 (early): ready after 61 s, without edge-2 (tolerate: 1)\n"
        f"  edge-2 rocky/web: {PATH}\n"
        "  left out: edge-3 rocky/web: suspended by hand"
    )


def test_a_wave_that_failed_tells_why_what_is_untouched_and_the_ways_on() -> None:
    rollout, seen = seen_at(60, edge_2="failing", edge_3="good")
    assert stopped("prod", rollout, EARLY, seen, ["edge-4"]) == (
        "wave 2 of 3 (early) in environment 'prod' failed on 1 cluster of 3, so the run ends here\n"
        f"  edge-2 rocky/web: {PATH}\n"
        "  untouched: edge-4 of this wave; wave 3 (edge-5, edge-6)\n"
        "  fix: correct the file or what the app applies, then run the same command again; or revert the change and run it"
        " again: only the waves that were changed go back"
    )


def test_an_object_that_the_engine_could_not_change_ends_the_run_too() -> None:
    assert unapplied("prod", ROLLOUT, LATE, ["", "edge-5"]) == (
        "wave 3 of 3 in environment 'prod' was not applied completely (objects that clusters share, edge-5), so the run"
        " ends here\n"
        "  untouched: nothing, it was the last wave\n"
        "  fix: see the errors of Pulumi, correct their cause, then run the same command again"
    )
