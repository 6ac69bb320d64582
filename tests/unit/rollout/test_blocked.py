"""Scenarios: which changes are applied in which order, and what is held, on recorded clusters."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from tenantry.kube.objects import ObjectId
from tenantry.plan.engine_order import is_reconciled
from tenantry.plan.plan import Plan
from tenantry.rollout.blocked import Asking, blocked
from tenantry.rollout.change import Change, Ignoring, Kind, Lines, Reason
from tests.unit.rollout.test_waves import fleet
from tests.unit.rollout.world import Run, World, settled
from tests.unit.texts import planned

WEB = "      web: {kustomize: {source: m, path: ./PATH}}\n"
DB = "      db: {helm: {source: c, chart: db, version: 1.2.3}}\n"
WAVES = "waves: [{name: canary, labels: {ring: canary}}, {names: [edge-2, edge-3]}, {all: true}]"
EARLY, LATE = ["edge-2-rocky-web", "edge-3-rocky-web"], ["edge-4-rocky-web", "edge-5-rocky-web", "web"]
ALL = [["edge-1-rocky-web"], EARLY, LATE]
EVERY = ["edge-1-rocky-web", *EARLY, *LATE]


def plan_of(
    path: str = "a", waves: str = WAVES, apps: str = WEB + DB, clusters: int = 5, states: dict[int, str] | None = None
) -> Plan:
    return planned(fleet(waves, apps.replace("PATH", path), clusters, states))


@pytest.fixture
def world() -> World:
    return settled(plan_of())


def webs(run: Run) -> list[list[str]]:
    return [found for each in run.rounds if (found := [name for name in each if "web" in name])]


def paths(world: World) -> dict[str, str]:
    return {id.name: each["spec"]["path"] for id, each in world.live.items() if id.kind == "Kustomization"}


# --- lines and waves ---------------------------------------------------------------------------------------------------


def test_a_first_installation_goes_through_the_waves() -> None:
    world = World()
    run = world.up(plan_of())
    assert webs(run) == ALL
    assert (run.held, run.unready) == ({}, {})


def test_a_run_without_a_change_applies_nothing(world: World) -> None:
    run = world.up(plan_of())
    assert (run.rounds, run.held, run.removed) == ([], {}, [])


def test_a_change_goes_through_the_waves_in_one_run(world: World) -> None:
    assert webs(world.up(plan_of("b"))) == ALL


def test_an_environment_without_waves_changes_at_once() -> None:
    world = settled(plan_of(waves=""))
    assert webs(world.up(plan_of("b", waves=""))) == [sorted(EVERY)]


def test_a_failure_blocks_the_later_waves_of_its_own_line_alone(world: World) -> None:
    world.failing = {"edge-1-rocky-web"}
    after = plan_of("b", apps=(WEB + DB).replace("1.2.3", "1.2.4"))
    run = world.up(after)
    assert webs(run) == [["edge-1-rocky-web"]]
    assert run.names == sorted([*EARLY, *LATE])
    assert run.kinds == {Kind.FAILED}
    assert run.message("web") == "wave 1 of 3 (canary): edge-1: rocky/web: no such path"
    assert not [name for name in run.names if "db" in name]
    used = {each["spec"]["chartRef"]["name"] for id, each in world.live.items() if id.name.endswith("-db")}
    versions = {id.name: each["spec"]["version"] for id, each in world.live.items() if id.kind == "HelmChart"}
    assert {versions[name] for name in used} == {"1.2.4"}


@pytest.mark.parametrize("refused", [False, True], ids=["fails", "is refused"])
def test_what_fails_or_is_refused_of_one_tenant_blocks_nobody_else(*, refused: bool) -> None:
    text = fleet(WAVES, (WEB + DB).replace("PATH", "a"), 5)
    two = text + text.partition("tenants:\n")[2].replace("rocky", "movy")
    world, plan = settled(planned(two)), planned(two.replace("path: ./a", "path: ./b"))
    if refused:
        world.refused = {each.id: "it is immutable" for each in plan.objects if each.id.name == "edge-1-movy-web"}
    else:
        world.failing = {"edge-1-movy-web"}
    run = world.up(plan)
    assert {name for name in run.names if "rocky" in name} == set()
    assert {id.name for id in run.held if is_reconciled(id)} >= {"edge-2-movy-web", "edge-5-movy-web"}


def test_a_better_file_goes_on_where_the_failed_one_stopped(world: World) -> None:
    world.failing = {"edge-1-rocky-web"}
    world.up(plan_of("b"))
    world.failing = set()
    world.up(plan_of("c"))
    assert set(paths(world).values()) == {"./c"}


def test_a_revert_in_the_middle_changes_only_what_was_changed(world: World) -> None:
    world.failing = {"edge-2-rocky-web"}
    world.up(plan_of("b"))
    world.failing = set()
    assert webs(world.up(plan_of("a"))) == [["edge-1-rocky-web"], EARLY]
    assert set(paths(world).values()) == {"./a"}


def test_a_run_that_was_killed_goes_on(world: World) -> None:
    world.up(plan_of("b"), rounds=1)
    world.settle()
    assert webs(world.up(plan_of("b"))) == [EARLY, LATE]


def test_two_commits_during_a_rollout(world: World) -> None:
    world.up(plan_of("b"), rounds=1)
    assert webs(world.up(plan_of("c"))) == ALL


def test_a_cluster_changes_its_wave(world: World) -> None:
    moved = WAVES.replace("[edge-2, edge-3]", "[edge-3]")
    assert world.up(plan_of(waves=moved)).rounds == []
    assert webs(world.up(plan_of("b", waves=moved))) == [
        ["edge-1-rocky-web"],
        ["edge-3-rocky-web"],
        ["edge-2-rocky-web", *LATE],
    ]


def test_a_wave_that_is_added_in_the_middle_is_gone_through(world: World) -> None:
    world.failing = {"edge-2-rocky-web"}
    world.up(plan_of("b"))
    world.failing = set()
    added = WAVES.replace("{all: true}", "{names: [edge-4]}, {all: true}")
    assert webs(world.up(plan_of("c", waves=added))) == [*ALL[:2], LATE[:1], LATE[1:]]


def test_a_wave_that_is_removed_in_the_middle_holds_nobody(world: World) -> None:
    world.failing = {"edge-2-rocky-web"}
    world.up(plan_of("b"))
    fewer = WAVES.replace("{names: [edge-2, edge-3]}, ", "")
    assert webs(world.up(plan_of("b", waves=fewer))) == [LATE]


def test_a_new_cluster_goes_at_once_because_the_earlier_waves_run_the_same(world: World) -> None:
    assert webs(world.up(plan_of(clusters=6))) == [["edge-6-rocky-web"]]


def test_a_new_cluster_waits_while_the_canary_is_broken(world: World) -> None:
    world.failing = {"edge-1-rocky-web"}
    world.settle()
    run = world.up(plan_of(clusters=6))
    assert webs(run) == []
    assert run.kinds == {Kind.FAILED}


def test_a_change_repairs_a_canary_that_was_broken_before(world: World) -> None:
    world.failing = {"edge-1-rocky-web"}
    world.settle()
    world.failing = set()
    assert webs(world.up(plan_of("b"))) == ALL


def test_a_slow_wave_is_waited_for_and_fails_after_the_timeout(world: World) -> None:
    world.slow = {"edge-1-rocky-web"}
    run = world.up(plan_of("b"), rounds=3)
    assert (webs(run), run.kinds) == ([["edge-1-rocky-web"]], {Kind.PROGRESSING})
    world.now += timedelta(minutes=11)
    run = world.up(plan_of("b"), rounds=1)
    assert run.kinds == {Kind.FAILED}


# --- who counts --------------------------------------------------------------------------------------------------------


def test_a_new_canary_cluster_does_not_count_while_another_one_does() -> None:
    waves = "waves: [{names: [edge-1, edge-6]}, {all: true}]"
    world = settled(plan_of(waves=waves.replace(", edge-6", "")))
    world.cut_off = {"edge-6"}
    run = world.up(plan_of("b", waves=waves, clusters=6))
    assert [*map(len, webs(run))] == [2, 5]
    assert run.held == {}


def test_clusters_that_are_down_count_under_their_tolerance(world: World) -> None:
    world.cut_off = {"edge-1"}
    world.settle()
    run = world.up(plan_of("b"), rounds=3)
    assert webs(run) == [["edge-1-rocky-web"]]
    tolerated = WAVES.replace("{names: [edge-2, edge-3]}", "{names: [edge-2, edge-3], tolerate: {unreachable: 1}}")
    world = settled(plan_of(waves=tolerated))
    world.cut_off = {"edge-2"}
    world.settle()
    assert webs(world.up(plan_of("b", waves=tolerated))) == ALL


def test_a_cluster_that_is_down_for_weeks_has_the_newest_when_it_is_back() -> None:
    waves = WAVES.replace("{names: [edge-2, edge-3]}", "{names: [edge-2, edge-3], tolerate: {unreachable: 1}}")
    world = settled(plan_of(waves=waves))
    world.cut_off = {"edge-2"}
    for path in "bcd":
        world.settle(7 * 86400)
        assert webs(world.up(plan_of(path, waves=waves))) == ALL
    world.cut_off = set()
    world.settle()
    assert (world.up(plan_of("d", waves=waves)).rounds, {*paths(world).values()}) == ([], {"./d"})


def test_a_wave_in_which_nothing_runs_it_ready_blocks_whatever_is_tolerated() -> None:
    waves = WAVES.replace("{name: canary,", "{name: canary, tolerate: 1,")
    world = settled(plan_of(waves=waves))
    world.failing = {"edge-1-rocky-web"}
    run = world.up(plan_of("b", waves=waves))
    assert webs(run) == [["edge-1-rocky-web"]]
    assert run.message("web").startswith("nothing in wave 1 of 3 (canary) runs it ready: edge-1")


def test_what_somebody_suspended_counts_for_nothing(world: World) -> None:
    world.suspend("edge-2-rocky-web")
    assert webs(world.up(plan_of("b"))) == ALL
    assert world.live.keys()


def test_a_wave_of_paused_clusters_is_skipped() -> None:
    states = {1: "paused"}
    world = settled(plan_of(states=states))
    assert webs(world.up(plan_of("b", states=states))) == [["edge-1-rocky-web", *EARLY], LATE]
    assert ("rocky/web", 1) in Lines(plan_of(states=states)).empty


def test_a_pause_reaches_all_waves_at_once(world: World) -> None:
    world.failing = {"edge-1-rocky-web"}
    world.settle()
    run = world.up(plan_of(apps=WEB.replace("}}", "}, state: paused}") + DB))
    assert webs(run) == [sorted(EVERY)]


def test_a_mark_for_removal_goes_through_the_waves_and_asks_for_no_readiness(world: World) -> None:
    world.failing = {"edge-1-rocky-web"}
    world.settle()
    marked = plan_of(apps=WEB.replace("}}", "}, state: offboarding}") + DB)
    change = world.change(marked)
    held = blocked(change, world.evidence(), world.now)
    assert {id.name for id in change.changed if id.name.endswith("web")} == set(EVERY)
    assert {id.name for id in held} == {*EARLY, *LATE}
    assert {each.kind for each in held.values()} == {Kind.PROGRESSING}
    assert webs(world.up(marked)) == ALL


# --- soaks -------------------------------------------------------------------------------------------------------------

SOAK = WAVES.replace("{name: canary,", "{name: canary, soak: 2h,")


def test_a_soak_counts_from_when_flux_was_ready() -> None:
    world = settled(plan_of(waves=SOAK))
    run = world.up(plan_of("b", waves=SOAK))
    assert (webs(run), run.kinds) == ([["edge-1-rocky-web"]], {Kind.WAITING})
    assert run.held[next(id for id in run.held if id.name == "web")].until
    world.settle(7200)
    assert webs(world.up(plan_of("b", waves=SOAK))) == [EARLY, LATE]


def test_a_version_that_comes_back_soaks_again() -> None:
    world = settled(plan_of(waves=SOAK))
    world.up(plan_of("b", waves=SOAK))
    world.settle(7200)
    world.up(plan_of("a", waves=SOAK))
    run = world.up(plan_of("b", waves=SOAK))
    assert (webs(run), run.kinds) == ([["edge-1-rocky-web"]], {Kind.WAITING})


def test_a_new_cluster_waits_for_no_soak_that_is_over() -> None:
    world = settled(plan_of(waves=SOAK))
    assert webs(world.up(plan_of(waves=SOAK, clusters=6))) == [["edge-6-rocky-web"]]


# --- what goes together ------------------------------------------------------------------------------------------------


def with_credentials(text: str) -> str:
    declared = text.replace("    apps:\n", "    credentials: {git: {keys: [username, password]}}\n    apps:\n")
    return declared.replace("ref: {branch: main}}", "ref: {branch: main}}, credentials: git")


def test_a_secret_waits_for_no_wave() -> None:
    text = fleet(WAVES, (WEB + DB).replace("PATH", "a"), 5)
    world = settled(planned(text))
    change = world.change(planned(with_credentials(text)))
    secrets = [id for id in change.changed if id.kind == "Secret"]
    assert secrets
    assert not secrets & blocked(change, world.evidence(), world.now).keys()


def test_a_missing_value_holds_what_needs_it_and_its_line() -> None:
    text = fleet(WAVES, (WEB + DB).replace("PATH", "a"), 5)
    world, plan = settled(planned(text)), planned(with_credentials(text))
    world.missing = {each.id: "a value is missing" for each in plan.objects if each.id.kind == "Secret"}
    run = world.up(plan)
    assert webs(run) == []
    assert {name for name in run.names if "db" in name} == set()
    assert run.kinds == {Kind.FAILED}
    assert all("a value is missing" in each.message for id, each in run.held.items() if "web" in id.name)


def test_what_is_refused_fails_its_line(world: World) -> None:
    plan = plan_of("b")
    world.refused = {
        each.id: "the API server refuses it" for each in plan.objects if each.id.name == "edge-1-rocky-web"
    }
    run = world.up(plan)
    assert webs(run) == []
    assert run.names == sorted(EVERY)
    assert run.message("web") == "wave 1 of 3 (canary): edge-1: the API server refuses it"


def test_nothing_of_a_tenant_is_removed_where_something_is_held(world: World) -> None:
    world.failing = {"edge-1-rocky-web"}
    run = world.up(plan_of("b", apps=WEB))
    assert run.removed == ["edge-1-rocky-db"], "nothing is held on edge-1"
    assert {"edge-2-rocky-db", "edge-5-rocky-db", "db"} <= {id.name for id in run.held}


def test_a_removed_dependency_stays_where_what_depends_on_it_is_held() -> None:
    api = "      api: {kustomize: {source: m, path: ./api}}\n"
    world = settled(plan_of(apps=WEB.replace("}}\n", "}, dependsOn: [api]}\n") + api))
    world.failing = {"edge-1-rocky-web"}
    run = world.up(plan_of("b"))
    assert run.removed == ["edge-1-rocky-api"], "nothing is held on edge-1"
    assert {"edge-2-rocky-api", "edge-5-rocky-api"} <= {id.name for id in run.held}


def test_an_app_of_another_kind_waits_until_what_it_depends_on_is_ready() -> None:
    apps = WEB.replace("}}\n", "}, dependsOn: [db]}\n") + DB
    world = World()
    run = world.up(plan_of(waves="", apps=apps))
    assert [("web" in each, "db" in each) for each in run.rounds] == [(False, True), (True, False)]
    world = World(failing={"db"})
    run = world.up(plan_of(waves="", apps=apps))
    assert "web" in run.names
    assert run.message("web") == "waits for rocky/db on hub: no such path"


def test_what_is_new_in_a_namespace_made_beforehand_comes_after_the_add_on_that_its_tenant_waits_for() -> None:
    addon = (
        "{clusters: {all: true}, source: {helm: {url: https://charts.example.com}}, helm: {chart: dns, version: 1.2.3}}"
    )
    text = fleet("", WEB.replace("PATH", "a"), 1).replace("  rocky:\n", "  rocky:\n    dependsOn: [platform/dns]\n", 1)
    plan = planned(text.replace("platform: {", f"platform: {{addons: {{dns: {addon}}}, ", 1))
    world = World()
    (namespace,) = (each for each in plan.objects if each.id.kind == "Namespace" and each.owner.tenant)
    world.apply(namespace)
    account = next(
        each.id for each in plan.objects if each.id.kind == "ServiceAccount" and each.id.namespace == namespace.id.name
    )
    change = world.change(plan)
    assert namespace.id not in change.changed
    assert blocked(change, world.evidence(), world.now)[account].message == "waits for platform/dns on hub"
    run = world.up(plan)
    assert [name for each in run.rounds for name in each if name in ("dns", "web")] == ["dns", "web"]
    assert run.held == {}


# --- sources -----------------------------------------------------------------------------------------------------------


def test_an_app_moves_when_its_new_source_has_an_artifact() -> None:
    text = fleet("", (WEB + DB).replace("PATH", "a"), 3)
    world, plan = settled(planned(text)), planned(text.replace("branch: main", "branch: none"))
    [new] = {each.id for each in plan.objects if each.id[1:3] == ("GitRepository", "remotes")} - world.live.keys()
    [old] = {id for id in world.live if id[1:3] == ("GitRepository", "remotes")}
    world.absent = {new.name}
    run = world.up(plan)
    assert {name for name in run.names if name.startswith("edge")} == {f"edge-{n}-rocky-web" for n in (1, 2, 3)}
    assert {new, old} <= world.live.keys()
    assert run.message("edge-1-rocky-web") == f"its new source has no artifact: {new}: no such path"
    world.absent = set()
    world.settle()
    run = world.up(plan)
    assert (run.held, old in world.live) == ({}, False)


def test_a_chart_that_was_just_published_is_looked_for_in_a_new_index_once() -> None:
    text = fleet(WAVES, (WEB + DB).replace("PATH", "a"), 3)
    world, plan = settled(planned(text)), planned(text.replace("1.2.3", "1.2.4"))
    [new] = {each.id for each in plan.objects if each.id[1:3] == ("HelmChart", "remotes")} - world.live.keys()
    world.absent = {new.name}
    run = world.up(plan, rounds=2)
    assert run.kinds == {Kind.PROGRESSING}, "the index may be older than the chart"
    change = world.change(plan)
    answer = Asking(change, world.evidence(), world.now)
    [request] = [each for each in answer.requests if each.once]
    assert (request.id.kind, request.id.namespace) == ("HelmRepository", "remotes")
    evidence = replace(world.evidence(), asked={request.id: world.now})
    assert not Asking(change, evidence, world.now).requests
    later = Asking(change, evidence, world.now + timedelta(minutes=1)).blocked
    assert later[next(id for id in later if id.name == "edge-1-rocky-db")].kind is Kind.FAILED


# --- after -------------------------------------------------------------------------------------------------------------

NOT_YET = Reason(Kind.WAITING, "dev has helm.version 1.1.0, not 1.2.0")


def test_a_line_waits_for_the_environment_before(world: World) -> None:
    world.before = {"rocky/web": NOT_YET}
    run = world.up(plan_of("b"))
    assert (webs(run), run.kinds) == ([], {Kind.WAITING})
    assert webs(world.up(plan_of("b"), Ignoring(after=frozenset({"rocky/web"})))) == ALL


def test_a_revert_to_what_a_later_wave_runs_asks_no_environment_before(world: World) -> None:
    world.failing = {"edge-1-rocky-web"}
    world.up(plan_of("b"))
    world.failing, world.before = set(), {"rocky/web": NOT_YET}
    assert webs(world.up(plan_of("a"))) == [["edge-1-rocky-web"]]


# --- what somebody asks for --------------------------------------------------------------------------------------------


def test_a_named_line_ignores_its_waves(world: World) -> None:
    world.failing = {"edge-1-rocky-web"}
    run = world.up(plan_of("b"), Ignoring(waves=frozenset({"rocky/web"})))
    assert webs(run) == [sorted(EVERY)]


def test_a_run_through_a_wave_leaves_the_later_ones(world: World) -> None:
    run = world.up(plan_of("b"), Ignoring(through=2))
    assert (webs(run), run.kinds, run.unready) == (ALL[:2], {Kind.NOT_REQUESTED}, {})


# --- removals ----------------------------------------------------------------------------------------------------------


def test_a_removal_takes_a_run_for_each_wave(world: World) -> None:
    runs = [world.up(plan_of(apps=DB)) for _ in range(4)]
    assert [each.removed for each in runs] == [*ALL, []]
    assert [each.kinds for each in runs] == [{Kind.DELETING}, {Kind.DELETING}, set(), set()]


def test_a_tenant_is_removed_wave_by_wave(world: World) -> None:
    plan = planned(fleet(WAVES, "", 5).partition("tenants:\n")[0])
    assert [len(world.up(plan).removed) for _ in range(4)] == [3, 6, 8, 0]


def test_what_is_to_be_removed_on_a_lost_cluster_is_blocked_and_named(world: World) -> None:
    world.cut_off = {"edge-1"}
    world.settle()
    run = world.up(plan_of(apps=DB))
    assert run.removed == []
    assert "'state: decommissioned' for 'edge-1'" in run.message("edge-1-rocky-web")


def test_a_deletion_that_hangs_is_passed_by(world: World) -> None:
    world.named("edge-1-rocky-web")["metadata"]["deletionTimestamp"] = "2026-01-01T12:00:00Z"
    run = world.up(plan_of(apps=DB))
    assert "a finalizer keeps it" in run.message("edge-1-rocky-web")
    assert run.kinds == {Kind.FAILED}


def test_a_wave_of_clusters_that_leave_the_file_is_removed_at_once(world: World) -> None:
    run = world.up(plan_of(clusters=3))
    assert {"edge-4-rocky-web", "edge-5-rocky-web"} <= set(run.removed)


def test_what_a_held_object_depends_on_in_the_state_is_not_removed(world: World) -> None:
    world.failing = {"edge-1-rocky-web"}
    world.up(plan_of("b"))
    change = world.change(plan_of("b"))
    binding = ObjectId("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "", "of-nobody")
    live = {"apiVersion": binding.api_version, "kind": binding.kind, "metadata": {"name": binding.name}}
    user = next(id for id in change.changed if id.name == "web")
    more = Change(change.lines, change.changed, {**change.removed, binding: live})
    assert binding in blocked(
        more, replace(world.evidence(), uses=lambda id: [binding] if id == user else []), world.now
    )
    assert binding not in blocked(more, replace(world.evidence(), uses=lambda _: ()), world.now)


def test_what_a_held_object_refers_to_is_not_removed_if_the_state_does_not_know_it(world: World) -> None:
    """A killed run has applied it, or the state is lost."""
    world.failing = {"edge-1-rocky-web"}
    world.up(plan_of("b"))
    user = next(id for id in world.change(plan_of("b")).changed if id.name == "web")
    source = ObjectId("source.toolkit.fluxcd.io/v1", "GitRepository", user.namespace, "former")
    live = {
        "apiVersion": source.api_version,
        "kind": source.kind,
        "metadata": {"name": source.name, "namespace": source.namespace},
    }
    world.live[user]["spec"]["sourceRef"] = {"kind": source.kind, "name": source.name}
    change = world.change(plan_of("b"))
    more = Change(change.lines, change.changed, {**change.removed, source: live})
    evidence = replace(world.evidence(), uses=lambda _: ())
    assert source in blocked(more, evidence, world.now)
    world.live[user]["spec"]["sourceRef"]["name"] = "other"
    assert source not in blocked(more, evidence, world.now)
