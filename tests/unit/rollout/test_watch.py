"""How a wave is followed on its clusters, and what a run says of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from tenantry.kube.objects import ObjectId, Owner
from tenantry.rollout.judging import Request
from tenantry.rollout.readiness import Live, Reconciler
from tenantry.rollout.watching import Seen, Watch
from tenantry.rollout.waves import Rollout, Tolerance, Wave
from tenantry.rollout.words import arrived, progress, stopped, unapplied
from tests.table import table
from tests.unit.rollout.test_judging import COMMIT, FETCHED, GIT, NOW, SETTINGS, live, ready

EARLY = Wave(2, "early", ("edge-2", "edge-3", "edge-4"))
LATE = Wave(3, "wave 3", ("edge-5",), ("edge-6",))
ROLLOUT = Rollout((Wave(1, "canary", ("edge-1",)), EARLY, LATE), 60)
PATH = "kustomization path not found"


@dataclass
class Clock:
    now: float = 0.0

    def __call__(self) -> datetime:
        return NOW + timedelta(seconds=self.now)


def app(cluster: str) -> Reconciler:
    id = ObjectId("kustomize.toolkit.fluxcd.io/v1", "Kustomization", "remotes", f"{cluster}-rocky-web")
    return Reconciler(id, Owner("rocky", cluster), "rocky/web", (GIT,))


APPS = {name: [app(name)] for name in ("edge-2", "edge-3")}


def watched(clock: Clock, rollout: Rollout = ROLLOUT, wave: Wave = EARLY) -> Watch:
    watch = Watch(rollout, wave, APPS, clock)
    watch.changed(EARLY.clusters)
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
    assert ([*seen.waiting], seen.failed, bool(watch.over(seen)), watch.unseen) == (
        ["edge-3"],
        {},
        False,
        APPS["edge-3"],
    )
    clock.now = 1000.0
    seen = watch.look(there(edge_2="failing", edge_3="good"))
    assert (seen.good, seen.waiting, seen.failed, watch.unseen) == (frozenset(EARLY.clusters), {}, {}, [])


@table(("tolerate", "failed"), [(0, True), (1, False)])
def test_a_cluster_fails_when_its_time_is_over_and_the_wave_when_more_do_than_tolerated(
    tolerate: int, *, failed: bool
) -> None:
    clock = Clock()
    watch = watched(clock, wave=replace(EARLY, tolerate=Tolerance(tolerate)))
    clock.now = 59.0
    assert watch.look(there(edge_2="good", edge_3="failing")).failed == {}
    clock.now = 60.0
    seen = watch.look(there(edge_2="good", edge_3="failing"))
    assert ([*seen.failed_clusters], bool(watch.over(seen))) == (["edge-3"], failed)


def test_time_begins_when_the_changes_for_a_cluster_have_been_made() -> None:
    clock = Clock()
    watch = Watch(ROLLOUT, EARLY, APPS, clock)
    watch.changed(["edge-2"])
    clock.now = 50.0
    watch.changed(["edge-3"])
    clock.now = 70.0
    seen = watch.look(there(edge_2="failing", edge_3="failing"))
    assert ([*seen.failed_clusters], [*seen.waiting]) == (["edge-2"], ["edge-3"])


def test_what_flux_gave_up_fails_at_once_and_what_is_suspended_is_left_out() -> None:
    seen = watched(Clock()).look(there(edge_2="stalled", edge_3="suspended"))
    assert ([*seen.failed_clusters], seen.waiting) == (["edge-2"], {})
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


# --- clusters that Flux does not reach ------------------------------------------------------------------------------

REFUSED = 'Get "https://edge-2:6443/api": dial tcp 10.0.0.2:6443: connect: connection refused'


def unreached(cluster: str, message: str = REFUSED) -> Live:
    (each,) = APPS[cluster]
    return {
        **FETCHED,
        **live(
            each.id,
            ready("False", message),
            spec={"kubeConfig": {"secretRef": {"name": "edge"}}},
            lastAttemptedRevision=COMMIT,
        ),
    }


def good(cluster: str) -> Live:
    return there(**{cluster.replace("-", "_"): "good"})


@table(
    ("seconds", "message", "waiting", "failed", "unreachable"),
    [
        (119.0, REFUSED, ["edge-2"], [], []),
        (120.0, REFUSED, [], [], ["edge-2"]),
        (200.0, "net/http: TLS handshake timeout", [], [], ["edge-2"]),
        (200.0, "dial tcp: lookup edge-2: no such host", [], [], ["edge-2"]),
        (200.0, "x509: certificate has expired", [], ["edge-2"], []),
        (200.0, "Kubernetes cluster unreachable: Unauthorized", [], ["edge-2"], []),
        (200.0, f"failed calling webhook: {REFUSED}", [], ["edge-2"], []),
        (200.0, f"failed to download artifact: {REFUSED}", [], ["edge-2"], []),
    ],
)
def test_a_cluster_that_flux_does_not_reach_for_a_time_is_unreachable(
    seconds: float, message: str, waiting: list[str], failed: list[str], unreachable: list[str]
) -> None:
    clock = Clock()
    watch = watched(clock, replace(ROLLOUT, timeout=200))
    watch.look({**unreached("edge-2", message), **good("edge-3")})
    clock.now = seconds
    seen = watch.look({**unreached("edge-2", message), **good("edge-3")})
    assert ([*seen.waiting], [*seen.failed_clusters], [*seen.unreachable]) == (waiting, failed, unreachable)


def test_a_cluster_is_reached_as_long_as_something_that_changes_there_arrives() -> None:
    clock = Clock()
    (web,) = APPS["edge-2"]
    other = replace(web, id=web.id._replace(name="edge-2-rocky-api"))
    apps = {"edge-2": [web, other]}
    found = {**unreached("edge-2"), **live(other.id, lastAppliedRevision=COMMIT)}
    for touched, failed in ({other.id}, True), ({web.id}, False), (set[ObjectId](), False):
        clock.now = 0.0
        watch = Watch(ROLLOUT, replace(EARLY, clusters=("edge-2",)), apps, clock, touched=touched)
        watch.changed(["edge-2"])
        clock.now = 60.0
        seen = watch.look(found)
        assert (bool(seen.failed), bool(seen.unreachable)) == (failed, not failed), touched


@table(
    ("failed", "unreachable", "stops"),
    [(0, 1, True), (1, 0, True), (1, 1, False)],
)
def test_each_kind_of_trouble_is_tolerated_by_itself(failed: int, unreachable: int, *, stops: bool) -> None:
    clock = Clock()
    watch = watched(clock, wave=replace(EARLY, tolerate=Tolerance(failed, unreachable)))
    clock.now = 60.0
    seen = watch.look({**there(edge_3="failing"), **unreached("edge-2")})
    assert bool(watch.over(seen)) is stops


def test_nobody_waits_for_a_cluster_that_was_not_reached_before_unless_it_is_all_that_a_wave_has() -> None:
    watch = watched(Clock())
    watch.before({**unreached("edge-2"), **good("edge-3")})
    seen = watch.look({**unreached("edge-2"), **good("edge-3")})
    assert (seen.waiting, seen.absent, bool(watch.over(seen))) == ({}, {"edge-2"}, False)
    assert arrived(ROLLOUT, EARLY, seen, 1.0) == (
        "wave 2 of 3 (early): ready after 1 s\n"
        "  changed without waiting, because Flux did not reach them before: edge-2"
    )
    alone = watched(Clock())
    alone.before({**unreached("edge-2"), **unreached("edge-3")})
    seen = alone.look({**unreached("edge-2"), **unreached("edge-3")})
    assert ([*seen.waiting], seen.absent) == (["edge-2", "edge-3"], frozenset())


def test_a_wave_that_does_not_reach_a_cluster_tells_both_kinds() -> None:
    clock = Clock()
    watch = watched(clock, wave=replace(EARLY, tolerate=Tolerance(0, 0, "")))
    clock.now = 60.0
    seen = watch.look({**there(edge_3="failing"), **unreached("edge-2")})
    assert stopped("prod", ROLLOUT, EARLY, seen).startswith(
        "wave 2 of 3 (early) in environment 'prod' failed on 1 cluster and does not reach 1 cluster of 3, so the run ends here\n"
        f"  edge-3 rocky/web: {PATH}\n"
        "  edge-2 rocky/web: "
    )


# --- what is said ---------------------------------------------------------------------------------------------------


def seen_at(seconds: float, **said: str) -> Seen:
    clock = Clock()
    watch = watched(clock)
    clock.now = seconds
    return watch.look(there(**said))


@table(("wave", "name"), [(EARLY, "wave 2 of 3 (early)"), (LATE, "wave 3 of 3")])
def test_a_wave_is_called_by_its_number_and_name(wave: Wave, name: str) -> None:
    assert ROLLOUT.name_of(wave) == name


def test_progress_names_what_is_waited_for() -> None:
    seen = seen_at(5, edge_2="failing", edge_3="failing")
    assert progress(ROLLOUT, EARLY, seen) == (
        f"wave 2 of 3 (early): 3 clusters, waiting for 2: edge-2 rocky/web: {PATH} and 1 other cluster"
    )


def test_a_wave_that_arrived_tells_whom_it_left_behind() -> None:
    seen = seen_at(60, edge_2="failing", edge_3="suspended")
    assert arrived(ROLLOUT, replace(EARLY, tolerate=Tolerance(1, 1, "1")), seen, 61.4) == (
        "wave 2 of 3 (early): ready after 61 s, without edge-2 (tolerate: 1)\n"
        f"  edge-2 rocky/web: {PATH}\n"
        "  left out: edge-3 rocky/web: suspended by hand"
    )


def test_a_wave_that_failed_tells_why_what_is_untouched_and_the_ways_on() -> None:
    seen = seen_at(60, edge_2="failing", edge_3="good")
    assert stopped("prod", ROLLOUT, EARLY, seen) == (
        "wave 2 of 3 (early) in environment 'prod' failed on 1 cluster of 3, so the run ends here\n"
        f"  edge-2 rocky/web: {PATH}\n"
        "  untouched: wave 3 (edge-5, edge-6)\n"
        "  fix: correct the file or what the app applies, then run the same command again; or revert the change and run it"
        " again: only the waves that were changed go back"
    )


def test_objects_that_the_engine_could_not_change_end_the_run_or_stop_their_author() -> None:
    refused = [ObjectId("v1", "Secret", "clusters", name) for name in ("two", "one")]
    assert unapplied("prod", ROLLOUT, LATE, refused, []) == (
        "wave 3 of 3 in environment 'prod' was not applied completely (Secret clusters/one, Secret clusters/two), so the run"
        " ends here\n"
        "  untouched: nothing, it was the last wave\n"
        "  fix: see the errors of Pulumi, correct their cause, then run the same command again"
    )
    told = unapplied("prod", ROLLOUT, EARLY, refused[:1], ["edge-4"], "tenant 'rocky'")
    assert "completely (Secret clusters/two), so tenant 'rocky' goes no further in this run" in told
    assert "  stays as it is: edge-4 of this wave; wave 3 (edge-5, edge-6)\n" in told
