"""What the engine is sent of apps that move to another source, whether or not the source arrives."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NoReturn

import pulumi
import pytest
from pulumi.runtime.proto import resource_pb2

from components import moving
from components.fleet import Fleet
from components.gates import Gates
from components.run import Run
from components.staying import Staying
from tenantry.kube.objects import ObjectId
from tenantry.messages.errors import UNREACHABLE, Refused
from tenantry.plan.plan import Plan
from tenantry.rollout.judging import Request, awaited_in
from tenantry.rollout.moves import moves_of
from tenantry.rollout.readiness import Live
from tenantry.rollout.turns import turns_of
from tenantry.rollout.watching import Watch
from tenantry.stacks.file import Reach
from tenantry.stacks.outcome import HELD, OUTCOME_FILE
from tenantry.stacks.targets import key_of
from tests.components.recording import Monitor, Recording, record
from tests.unit.texts import FRAME, planned

TEXT = f"""\
{FRAME}tenants:
  rocky:
    clusters: {{names: [edge]}}
    credentials: {{git: {{keys: [token]}}}}
    sources:
      manifests: {{git: {{url: https://git.example.com/rocky, ref: {{tag: v1}}}}, credentials: git}}
      other: {{git: {{url: https://git.example.com/other, ref: {{tag: v1}}}}}}
    apps:
      web: {{kustomize: {{source: manifests}}}}
      db: {{kustomize: {{source: other}}}}
"""
BEFORE, AFTER = (
    planned(TEXT),
    planned(TEXT.replace("credentials: git", "credentials: next").replace("{git: {k", "{next: {k")),
)
"""The source of `web` gets other credentials, and so another name."""
WEB, DB = "kamaji/edge-rocky-web", "kamaji/edge-rocky-db"
[OLD] = (each.id for each in BEFORE.objects if ".manifests." in each.id.name)
[NEW] = (each.id for each in AFTER.objects if ".manifests." in each.id.name)
NOW = datetime(2026, 1, 1, tzinfo=UTC)
SECRET = ObjectId("v1", "Secret", "kamaji", "rocky.git")


@dataclass
class Flux:
    """A source that is ready after so many readings, once `db` is sent, which does not move. None: it fails."""

    good_after: int | None
    refused: bool = False
    readings: int = 0
    pause: float = 0.001
    sent: list[str] = field(default_factory=list)
    seen: list[list[str]] = field(default_factory=list)
    asked: list[ObjectId] = field(default_factory=list)

    async def ask(self, requests: Iterable[Request]) -> None:
        self.asked += [each.id for each in requests]

    async def fresh(self, wanted: frozenset[ObjectId], _: float) -> Live:
        if self.refused:
            raise Refused("no answer", code=UNREACHABLE)
        self.readings += 1
        self.seen.append([*self.sent])
        good = self.good_after is not None and self.readings > self.good_after and DB in self.sent
        condition = {"type": "Ready", "status": "True" if good else "False", "message": "no such tag"}
        given_up = {"type": "Stalled", "status": "True" if self.good_after is None else "False"}
        status = {
            "observedGeneration": 1,
            "conditions": [condition, given_up],
            "artifact": {"revision": "1"} if good else {},
        }
        return {
            id: {
                "apiVersion": id.api_version,
                "kind": id.kind,
                "metadata": {"name": id.name, "generation": 1},
                "status": status,
            }
            for id in wanted
        }


@pytest.fixture(autouse=True)
def said(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setattr(moving, "PATIENCE", 60.0)
    monkeypatch.delenv(OUTCOME_FILE, raising=False)
    told: list[str] = []
    for level in ("info", "warn", "error"):
        monkeypatch.setattr(pulumi.log, level, told.append)
    return told


def urns(plan: Plan) -> dict[str, str]:
    """Of a state, as a run of the plan leaves it."""
    recording = record(lambda: Fleet("dev", run=Run(plan=plan, target=Reach())))
    made = Monitor(Recording(), None)  # type: ignore[arg-type]
    every = (made.make_urn(each.parent, each.type, each.name) for each in recording.requests)
    return {key_of(urn): urn for urn in every}


STATE = urns(BEFORE)


def run(flux: Flux | None, plan: Plan = AFTER, *, state: dict[str, str] = STATE, fails: str = "") -> dict[str, Any]:
    """The requests of a run from one plan to another, by the object's kind and name."""
    there = {each.id: each.manifest for each in BEFORE.objects}
    changed = [(each, there[each.id]) for each in plan.objects if each.id in there]
    gone = [manifest for id, manifest in there.items() if id not in {each.id for each in plan.objects}]
    found: list[Any] = []
    original = Monitor.RegisterResource

    def register(monitor: Monitor, request: Any) -> Any:
        found.append(request)
        if flux:
            flux.sent.append(request.name)
        answer = original(monitor, request)
        if request.name == fails:
            answer.result = resource_pb2.FAIL
        return answer

    def program() -> None:
        gates = Gates("dev", turns_of(plan), flux, _raised)  # type: ignore[arg-type]
        moves = moves_of(plan, changed, gone)
        Fleet("dev", run=Run(plan=plan, target=Reach(), gates=gates, moves=moves, staying=Staying(state)))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Monitor, "RegisterResource", register)
        try:
            record(program)
        except pulumi.RunError as error:
            error.found = sent(found)  # type: ignore[attr-defined]
            raise
    return sent(found)


def sent(found: list[Any]) -> dict[str, Any]:
    return {f"{each.type.rpartition(':')[2]} {each.name}": each for each in found}


def _raised(message: str) -> NoReturn:
    raise pulumi.RunError(message)


def ours(monkeypatch: pytest.MonkeyPatch, outcome: Path) -> None:
    monkeypatch.setenv(OUTCOME_FILE, str(outcome))


def test_an_app_is_sent_when_its_new_source_has_an_artifact_and_others_do_not_wait(said: list[str]) -> None:
    flux = Flux(good_after=3)
    found = run(flux)
    assert flux.readings >= 4
    assert all(NEW.full_name in sent and WEB not in sent for sent in flux.seen)
    assert list(found[f"Kustomization {WEB}"].ignoreChanges) == []
    assert f"GitRepository {OLD.full_name}" not in found
    assert flux.asked == [NEW]  # it had failed before
    assert said == []


def test_a_preview_waits_for_nothing() -> None:
    assert list(run(None)[f"Kustomization {WEB}"].ignoreChanges) == []


def test_an_app_whose_source_fails_stays_with_all_that_it_needs_and_the_run_fails(said: list[str]) -> None:
    with pytest.raises(pulumi.RunError, match="1 app stays on the source that it has") as raised:
        run(Flux(good_after=None))
    found = raised.value.found  # type: ignore[attr-defined]
    assert f"rocky/web on edge (on GitRepository {OLD.full_name})" in str(raised.value)
    assert "no such tag" in said[0]
    kept = (f"Kustomization {WEB}", f"GitRepository {OLD.full_name}", f"Secret {SECRET.full_name}")
    assert {name for name, each in found.items() if list(each.ignoreChanges) == ["*"]} == {*kept}
    for name in kept:
        assert _urn(found[name]) == STATE[key_of(_urn(found[name]))]
    assert {each.rpartition("::")[2] for each in found[kept[0]].dependencies} >= {OLD.full_name, NEW.full_name}
    assert [each.rpartition("::")[2] for each in found[kept[1]].dependencies] == [SECRET.full_name]


def _urn(request: Any) -> str:
    return Monitor(Recording(), None).make_urn(request.parent, request.type, request.name)  # type: ignore[arg-type]


def test_tenantry_up_lets_the_engine_finish(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, said: list[str]) -> None:
    ours(monkeypatch, tmp_path / "outcome")
    found = run(Flux(good_after=None))
    assert (tmp_path / "outcome").read_text() == HELD
    assert said[-1].startswith("1 app stays on the source that it has")
    assert f"GitRepository {OLD.full_name}" in found
    assert list(found[f"Kustomization {DB}"].ignoreChanges) == []


def test_a_wave_with_an_app_that_stays_fails_also_if_its_source_arrives_a_moment_later() -> None:
    text = TEXT.replace("dev: {management: hub}", "dev: {management: hub, waves: [{names: [hub]}, {names: [edge]}]}")
    plan = planned(text)
    awaited = next(
        each for each in awaited_in(plan, [each.id for each in plan.objects]) if each.id.name == "edge-rocky-web"
    )
    assert plan.rollout
    watch = Watch(plan.rollout, plan.rollout.waves[1], {"edge": [awaited]}, lambda: NOW, {awaited.id: "no such tag"})
    watch.changed(["edge"])
    assert [each.reason for each in watch.look({}).failed_clusters["edge"]] == ["no such tag"]


def test_a_cluster_that_does_not_answer_moves_nothing() -> None:
    with pytest.raises(pulumi.RunError, match=r"the management cluster cannot be read: no answer"):
        run(Flux(good_after=0, refused=True))


def test_a_paused_app_keeps_its_reference_alone() -> None:
    text = TEXT.replace("tag: v1}}, credentials", "tag: v2}}, credentials").replace(
        "{source: manifests}", "{source: manifests}, state: paused"
    )
    with pytest.raises(pulumi.RunError) as raised:
        run(Flux(good_after=None), planned(text))
    web = raised.value.found[f"Kustomization {WEB}"]  # type: ignore[attr-defined]
    assert list(web.ignoreChanges) == ["spec.sourceRef", "spec.chartRef"]
    assert web.object["spec"]["suspend"]


def test_an_app_that_the_state_does_not_have_ends_the_run_before_it_is_sent() -> None:
    """The engine has no former inputs that it could take."""
    state = {key: urn for key, urn in STATE.items() if not key.endswith(WEB)}
    with pytest.raises(pulumi.RunError, match="is not in Pulumi's state, so the run ends here") as raised:
        run(Flux(good_after=None), state=state)
    assert f"Kustomization {WEB}" not in raised.value.found  # type: ignore[attr-defined]


def test_what_an_app_needs_stays_if_the_engine_could_not_change_it_and_went_on(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ours(monkeypatch, tmp_path / "outcome")
    found = run(Flux(good_after=0), fails=WEB)
    assert list(found[f"GitRepository {OLD.full_name}"].ignoreChanges) == ["*"]


def test_a_source_that_only_a_cluster_had_stays_where_the_state_has_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Of the chart of baselines, which once belonged to the cluster."""
    ours(monkeypatch, tmp_path / "outcome")
    key = next(key for key in STATE if key.endswith(OLD.full_name))
    former = {**STATE, key: f"urn:pulumi:dev::tenantry::tenantry:index:Cluster${key}"}
    found = run(Flux(good_after=None), state=former)
    assert (
        _urn(found[f"GitRepository {OLD.full_name}"]) == former[key_of(_urn(found[f"GitRepository {OLD.full_name}"]))]
    )
    assert "Cluster edge" in found
