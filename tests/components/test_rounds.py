"""What a run registers, in which rounds, and what it holds: with a recorded engine and a cluster in memory."""

from __future__ import annotations

import pytest

from components.objects import Objects
from components.state import State, StateObject
from tenantry.kube.objects import ObjectId
from tenantry.plan.plan import Plan
from tenantry.rollout.change import Ignoring
from tests.components.engine import Engine
from tests.unit.rollout.test_waves import fleet
from tests.unit.texts import planned

WEB = "      web: {kustomize: {source: m, path: ./PATH}}\n"
DB = "      db: {helm: {source: c, chart: db, version: 1.2.3}}\n"
WAVES = "waves: [{name: canary, labels: {ring: canary}}, {names: [edge-2, edge-3]}, {all: true}]"
ORDER = ["edge-1-rocky-web", "edge-2-rocky-web", "edge-3-rocky-web", "edge-4-rocky-web", "edge-5-rocky-web", "web"]


def plan_of(path: str = "a", apps: str = WEB + DB, waves: str = WAVES) -> Plan:
    return planned(fleet(waves, apps.replace("PATH", path), 5))


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Engine:
    """A stack whose fleet runs ready for a day."""
    made = Engine(monkeypatch)
    made.up(plan_of())
    made.world.settle(86400)
    return made


def waves_of(names: list[str]) -> list[list[str]]:
    """Names by wave, each sorted: what a wave has is registered in any order."""
    return [sorted(names[:1]), sorted(names[1:3]), sorted(names[3:])]


def test_a_first_installation_is_registered_wave_by_wave(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Engine(monkeypatch)
    ended = engine.up(plan_of())
    assert waves_of(ended.names("web")) == waves_of(ORDER)
    assert (ended.error, ended.blocked) == ("", {})
    assert len(ended.objects) == len(plan_of().objects)
    assert not engine.world.change(plan_of()).changed


def test_a_run_without_a_change_registers_everything_at_once(engine: Engine) -> None:
    ended = engine.up(plan_of())
    assert {each.name for each in ended.objects} == {each.logical_name for each in plan_of().objects}
    assert (ended.error, ended.removed, ended.logged) == ("", [], [])


def test_what_is_blocked_is_registered_with_what_the_state_has(engine: Engine) -> None:
    engine.world.failing = {"edge-1-rocky-web"}
    ended = engine.up(plan_of("b"))
    assert {name: ended.inputs(name)["spec"]["path"] for name in ORDER} == {
        name: "./b" if name == "edge-1-rocky-web" else "./a" for name in ORDER
    }
    assert len(ended.objects) == len(plan_of().objects), "everything is registered"
    assert "failed: wave 1 of 3 (canary): edge-1: rocky/web: no such path" in ended.error
    assert "tenantry up dev --ignore waves rocky/web" in ended.error
    held = next(each for each in ended.objects if each.name.endswith("edge-4-rocky-web"))
    assert held.customTimeouts.delete == "600s"
    assert [each.rpartition("::")[2] for each in held.dependencies]


def test_a_held_object_remains_below_its_component_and_after_what_it_depends_on(engine: Engine) -> None:
    before = {each["urn"]: each for each in engine.state}
    engine.world.failing = {"edge-1-rocky-web"}
    engine.up(plan_of("b"))
    for each in engine.state:
        if each["type"].endswith(":Kustomization") and "edge-1-" not in each["urn"]:
            assert each["parent"] == before[each["urn"]]["parent"]
            assert sorted(each["dependencies"]) == sorted(before[each["urn"]]["dependencies"])


def test_what_is_blocked_and_new_is_left_out(engine: Engine) -> None:
    engine.world.failing = {"edge-1-rocky-new"}
    ended = engine.up(plan_of(apps=WEB + DB + "      new: {kustomize: {source: m, path: ./new}}\n"))
    assert ended.names("new") == ["edge-1-rocky-new"]
    assert ended.error


def test_a_wave_that_only_soaks_ends_well_and_says_until_when(monkeypatch: pytest.MonkeyPatch) -> None:
    soaking = WAVES.replace("{name: canary,", "{name: canary, soak: 2h,")
    engine = Engine(monkeypatch)
    ended = engine.up(plan_of(waves=soaking))
    assert ended.names("web") == ["edge-1-rocky-web"]
    assert (ended.error, ended.blocked["rocky/web"]) == ("", "waiting: wave 1 of 3 (canary) soaks")
    assert any("waiting: wave 1 of 3 (canary) soaks until 2026-01-01T14:00" in each for each in ended.logged)
    engine.world.settle(7200)
    assert sorted(engine.up(plan_of(waves=soaking)).names("web")) == ORDER
    assert not engine.world.change(plan_of(waves=soaking)).changed


def test_a_removal_is_held_until_the_wave_before_has_lost_it(engine: Engine) -> None:
    runs = [engine.up(plan_of(apps=DB)) for _ in range(4)]
    assert [each.removed for each in runs] == [ORDER[:1], ORDER[1:3], ORDER[3:], []]
    assert [each.error for each in runs] == [""] * 4
    assert all("wave 1 of 3 (canary) loses it first" in each for each in runs[0].blocked.values())


def test_what_a_tenant_has_is_held_below_its_component_when_the_tenant_leaves(engine: Engine) -> None:
    """The component of what left the plan is registered again, as long as it has a held object."""
    empty = planned(fleet(WAVES, "", 5).partition("tenants:\n")[0])
    first = engine.up(empty)
    assert {each.name for each in first.requests if each.type == "tenantry:index:Tenant"} == {"rocky"}
    assert first.removed == ["edge-1-rocky-baseline", "edge-1-rocky-db", "edge-1-rocky-web"]
    for _ in range(2):
        last = engine.up(empty)
    assert not [each for each in engine.state if "rocky" in each["urn"]]
    assert last.error == ""


def test_what_the_comparison_does_not_list_is_held_beside_what_is_held(engine: Engine) -> None:
    """An object of a kind that no plan has any more is known to the state alone."""
    labels = {"toolkit.fluxcd.io/tenant": "rocky", "tenantry/cluster": "edge-4"}
    metadata = {"name": "old", "namespace": "rocky", "labels": labels}
    inputs = {"apiVersion": "example.com/v1", "kind": "Database", "metadata": metadata}
    parent = next(each["parent"] for each in engine.state if each["urn"].endswith("::remotes/edge-4-rocky-web"))
    type_ = "kubernetes:example.com/v1:Database"
    types = parent.split("::")[2]
    urn = f"urn:pulumi:dev::tenantry::{types}${type_}::rocky/old"
    resource = {"urn": urn, "type": type_, "parent": parent, "inputs": inputs, "dependencies": []}
    engine.state.append(resource)
    engine.world.failing = {"edge-1-rocky-web"}
    engine.slow = {"rocky/old"}  # its request is under way when the program ends with an error
    held = engine.up(plan_of("b"))
    assert held.error
    assert "rocky/old" in {each.name for each in held.objects}
    engine.world.failing = set()
    assert "rocky/old" not in {each.name for each in engine.up(plan_of("a")).objects}


def test_an_error_of_one_line_keeps_every_deletion_for_later_under_bare_pulumi(engine: Engine) -> None:
    engine.world.failing = {"edge-1-rocky-web"}
    ended = engine.up(plan_of("b", apps=WEB))
    assert ended.error
    assert ended.removed == []
    assert "`tenantry up dev` lets the deletions of this run happen" in ended.error


def test_a_command_lets_the_deletions_happen(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outcome = tmp_path_factory.mktemp("outcome") / "outcome"
    monkeypatch.setenv("TENANTRY_OUTCOME", str(outcome))
    engine.world.failing = {"edge-1-rocky-web"}
    ended = engine.up(plan_of("b", apps=WEB))
    assert (ended.error, ended.removed) == ("", ["edge-1-rocky-db"])
    assert outcome.read_text() == "held"
    engine.world.failing = set()
    engine.up(plan_of("b", apps=WEB))
    assert outcome.read_text() == "again"


def test_what_a_policy_writes_otherwise_is_applied_all_the_same(engine: Engine) -> None:
    """Else it would be held, and nothing of its tenant removed."""
    engine.rewritten = {*ORDER, "edge-1-rocky-db"}
    ended = engine.up(plan_of("b", apps=WEB))
    assert {ended.inputs(name)["spec"]["path"] for name in ORDER} == {"./b"}
    assert (ended.error, ended.removed) == ("", ["edge-1-rocky-db"])


def test_a_target_narrows_a_run_and_opens_no_wave(engine: Engine) -> None:
    engine.left_out = {"edge-1-rocky-web"}
    ended = engine.up(plan_of("b"))
    assert ended.inputs("edge-2-rocky-web")["spec"]["path"] == "./a"
    assert ended.error == ""


def test_a_lost_state_leaves_out_what_is_held_and_removes_nothing(engine: Engine) -> None:
    engine.state, engine.world.failing = [], {"edge-1-rocky-web"}
    ended = engine.up(plan_of("b"))
    assert (ended.names("web"), ended.removed) == (["edge-1-rocky-web"], [])
    assert engine.world.named("edge-5-rocky-web")["spec"]["path"] == "./a"


def test_a_held_object_that_somebody_deleted_comes_back_in_its_wave(engine: Engine) -> None:
    engine.world.failing = {"edge-1-rocky-web"}
    engine.up(plan_of("b"))
    del engine.world.live[next(id for id in engine.world.live if id.name == "edge-5-rocky-web")]
    engine.state = [
        each for each in engine.state if not each["urn"].endswith("/edge-5-rocky-web")
    ]  # as after a refresh
    assert "edge-5-rocky-web" not in engine.up(plan_of("b")).names("web")
    engine.world.failing = set()
    assert engine.up(plan_of("b")).error == ""
    assert engine.world.named("edge-5-rocky-web")["spec"]["path"] == "./b"


def test_a_run_through_a_wave_ends_well(engine: Engine) -> None:
    ended = engine.up(plan_of("b"), Ignoring(through=2))
    assert [ended.inputs(name)["spec"]["path"] for name in ORDER] == ["./b"] * 3 + ["./a"] * 3
    assert ended.error == ""


def test_a_preview_registers_the_whole_change_at_once(engine: Engine) -> None:
    ended = engine.up(plan_of("b"), preview=True)
    assert {ended.inputs(name)["spec"]["path"] for name in ORDER} == {"./b"}
    assert ended.error == ""


def test_a_preview_holds_what_the_api_server_refuses(engine: Engine) -> None:
    plan = plan_of("b")
    engine.world.refused = {each.id: "refused" for each in plan.objects if each.id.name == "edge-1-rocky-web"}
    ended = engine.up(plan, preview=True)
    assert [ended.inputs(name)["spec"]["path"] for name in ORDER] == ["./a", *["./b"] * 5]


def test_a_missing_value_holds_what_needs_it_and_everything_else_goes_on(engine: Engine) -> None:
    text = fleet(WAVES, (WEB + DB).replace("PATH", "a").replace("1.2.3", "1.2.4"), 5)
    text = text.replace("    apps:\n", "    credentials: {git: {keys: [username, password]}}\n    apps:\n")
    plan = planned(text.replace("ref: {branch: main}}", "ref: {branch: main}}, credentials: git"))
    engine.world.missing = {each.id: "a value is missing" for each in plan.objects if each.id.kind == "Secret"}
    ended = engine.up(plan)
    assert not [each for each in ended.objects if each.type.endswith(":Secret")]
    assert "failed: a value is missing" in ended.error
    live = engine.world.live
    charts = {id.name: each["spec"]["version"] for id, each in live.items() if id.kind == "HelmChart"}
    taken = {each["spec"]["chartRef"]["name"] for id, each in live.items() if id.name.endswith("-db")}
    assert {charts[name] for name in taken} == {"1.2.4"}


def test_a_held_secret_is_registered_without_its_values(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    envelope = {"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "ciphertext": "v1:x"}
    id = ObjectId("v1", "Secret", "rocky", "git")
    metadata = {"name": "git", "namespace": "rocky", "labels": {"a": "b"}}
    inputs = {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": envelope}
    resource = {
        "urn": f"urn:pulumi:dev::t::kubernetes:core/v1:Secret::{id.logical_name}",
        "type": "kubernetes:core/v1:Secret",
    }
    engine.state = [{**resource, "inputs": inputs, "parent": "", "dependencies": []}]
    before = State().object(id)
    assert isinstance(before, StateObject)
    assert (before.is_secret, "ciphertext" in repr(before)) == (True, False)
    sent: list[tuple[object, object]] = []
    objects = Objects(60, State(), parents=dict.fromkeys([before.owner], None))  # type: ignore[arg-type]
    monkeypatch.setattr(
        Objects, "_register", lambda _, __, manifest, opts: sent.append((manifest, opts.ignore_changes))
    )
    objects.hold(before)
    plain = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "git", "namespace": "rocky"}}
    assert sent == [(plain, ["*"])]
