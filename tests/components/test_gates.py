"""In which order the objects of a rollout are sent to the engine, and when they are not."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, NoReturn

import pulumi
import pytest
from pulumi.runtime.proto import resource_pb2

from components.fleet import Fleet
from components.gates import Gates, gates_of
from components.run import Run
from components.staying import Staying
from tenantry.kube.objects import ObjectId
from tenantry.plan.plan import Plan
from tenantry.rollout.judging import Request
from tenantry.rollout.readiness import Live
from tenantry.rollout.turns import Turns, turns_of
from tenantry.rollout.waves import Wave
from tenantry.stacks.file import Reach
from tenantry.stacks.targets import GATE
from tests.components.recording import Monitor, Recording, record
from tests.unit.texts import planned

TEXT = """\
apiVersion: tenantry/v1
environments:
  dev:
    management: hub
    waves: [{name: canary, names: [a]}, {names: [b, c]}, {all: true}]
    timeout: 1s
clusters:
  hub: {environments: [dev]}
  a: {environments: [dev], kubeconfig: {secret: {name: a, namespace: clusters, key: value}}}
  b: {environments: [dev], kubeconfig: {secret: {name: b, namespace: clusters, key: value}}}
  c: {environments: [dev], kubeconfig: {secret: {name: c, namespace: clusters, key: value}}}
  d: {environments: [dev], kubeconfig: {secret: {name: d, namespace: clusters, key: value}}}
platform: {chart: {helm: {url: "https://charts.example.com", version: 0.1.0}}}
tenants:
  rocky:
    clusters: {names: [a, b, c, d]}
    sources: {manifests: {git: {url: https://git.example.com/rocky, ref: {branch: main}}}}
    apps:
      web: {kustomize: {source: manifests}}
      db: {kustomize: {source: manifests}}
"""
TARGET = Reach()


@dataclass
class Played:
    """What Flux says: a cluster is good after so many readings, and on `stuck` clusters it gives up."""

    turns: Turns
    good_after: int = 1
    stuck: tuple[str, ...] = ()
    readings: int = 0
    pause: float = 0.001
    sent: list[str] = field(default_factory=list)
    waits: dict[str, int] = field(default_factory=dict)

    async def fresh(self, _: frozenset[ObjectId], __: float) -> Live:
        self.readings += 1
        live: dict[ObjectId, Any] = {}
        for awaited in (each for found in self.turns.awaited.values() for each in found):
            if any(name.endswith(f"/{awaited.id.name}") for name in self.sent):
                self.waits[awaited.owner.cluster] = self.waits.get(awaited.owner.cluster, 0) + 1
            ready = self.waits.get(awaited.owner.cluster, 0) > 3 * self.good_after
            for id in (*awaited.sources, awaited.id):
                live[id] = _object(
                    id, ready="Unknown" if not ready else "True", stalled=awaited.owner.cluster in self.stuck
                )
        return live

    async def ask(self, _: Iterable[Request]) -> None:
        raise AssertionError("nothing here reads a config")


def _object(id: ObjectId, *, ready: str, stalled: bool) -> dict[str, Any]:
    conditions = [{"type": "Ready", "status": "False" if stalled else ready, "message": "no such path"}]
    if stalled:
        conditions.append({"type": "Stalled", "status": "True"})
    revision = {"artifact": {"revision": "1"}, "lastAppliedRevision": "1", "lastAttemptedRevision": "1"}
    if id.kind not in ("Kustomization", "HelmRelease"):
        conditions = [{"type": "Ready", "status": "True"}]
    return {
        "apiVersion": id.api_version,
        "kind": id.kind,
        "metadata": {"name": id.name, "namespace": id.namespace, "generation": 1},
        "status": {"observedGeneration": 1, "conditions": conditions, **revision},
    }


def sent(
    plan: Plan,
    played: Played | None,
    fail: Callable[[str], bool] = lambda _: False,
    staying: Staying | None = None,
    **settings: Any,
) -> tuple[Recording, list[str]]:
    """What the engine was sent, and the objects for `web` and the gates in the order of the requests. settings: of the gates."""
    names: list[str] = []

    def register(monitor: Monitor, request: Any) -> Any:
        answer = original(monitor, request)
        names.append(request.name)
        if played:
            played.sent.append(request.name)
        if fail(request.name):
            answer.result = resource_pb2.FAIL
        return answer

    gates = Gates("dev", turns_of(plan), played, _raised, **settings)  # type: ignore[arg-type]
    original = Monitor.RegisterResource
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Monitor, "RegisterResource", register)
        try:
            run = Run(plan=plan, target=TARGET, gates=gates, staying=staying or Staying())
            recording = record(lambda: Fleet("dev", run=run))
        except pulumi.RunError as error:
            error.add_note(" ".join(each for each in names if each.endswith("-web")))
            raise
    return recording, _webs(names)


def test_what_uses_an_output_of_a_component_waits_for_objects_of_all_waves() -> None:
    plan = planned(TEXT)
    played = Played(turns_of(plan), good_after=0, sent=[each.logical_name for each in plan.objects])
    gates = Gates("dev", turns_of(plan), played, _raised)  # type: ignore[arg-type]

    def build() -> None:
        made = Fleet("dev", run=Run(plan=plan, target=Reach(), gates=gates))
        for name, output in {"of-tenant": made.tenants["rocky"].objects, "of-fleet": made.objects}.items():
            pulumi.CustomResource("kubernetes:core/v1:ConfigMap", name, {"count": output})

    for after in (each for each in record(build).objects if each.key.name.startswith("of-")):
        assert {each.name for each in after.depends_on} >= {f"clusters/{each}-rocky-web" for each in "abcd"}


def _raised(message: str, _: int = 1) -> NoReturn:
    raise pulumi.RunError(message)


def _webs(names: Iterable[str]) -> list[str]:
    return [each for each in names if each.endswith("-rocky-web") or each.startswith("rocky/web/")]


def waves(names: list[str]) -> list[list[str]]:
    """The clusters between the gates."""
    found: list[list[str]] = [[]]
    for each in names:
        if each.startswith("rocky/web/"):
            found.append([])
        else:
            found[-1].append(each.removeprefix("clusters/").removesuffix("-rocky-web"))
    return [sorted(each) for each in found]


def test_a_wave_is_sent_when_the_one_before_is_good() -> None:
    plan = planned(TEXT)
    played = Played(turns_of(plan), good_after=3)
    _, names = sent(plan, played)
    assert waves(names) == [["a"], ["b", "c"], ["d"]]
    assert played.readings >= 6
    assert "d" not in played.waits or played.waits["d"] <= 3


def test_a_wave_that_is_good_already_takes_one_reading() -> None:
    plan = planned(TEXT)
    played = Played(turns_of(plan), good_after=0)
    sent(plan, played)
    assert played.readings == 2


def test_a_wave_with_a_soak_is_waited_for_and_kept_when_it_is_good() -> None:
    plan = planned(TEXT.replace("{name: canary,", "{soak: 1h, name: canary,"))
    kept: list[int] = []

    async def good(wave: Wave, _: object) -> None:
        kept.append(wave.number)

    later = frozenset(each.id for each in plan.objects if each.owner.cluster != "a" and plan.wave_of(each.id))
    played = Played(turns_of(plan), good_after=0)
    sent(plan, played, good=good, left=later)
    assert (kept, played.readings > 0) == ([1], True)


def test_a_preview_shows_the_gates_and_waits_for_nothing() -> None:
    recording, names = sent(planned(TEXT), None)
    assert sorted(map(plain, names)) == [
        *(f"clusters/{each}-rocky-web" for each in "abcd"),
        "rocky/web/1",
        "rocky/web/2",
    ]
    gates = {
        plain(each.key.name): {plain(key.name) for key in each.depends_on}
        for each in recording.registered
        if each.key.type == GATE
    }
    assert gates["rocky/web/1"] == {"clusters/a-rocky-web"}
    assert gates["rocky/web/2"] == {"rocky/web/1", "clusters/b-rocky-web", "clusters/c-rocky-web"}
    before = {
        each.key.name: {plain(key.name) for key in each.depends_on if key.type == GATE} for each in recording.objects
    }
    assert before["clusters/c-rocky-web"] == {"rocky/web/1"}
    assert before["clusters/d-rocky-web"] == {"rocky/web/2"}
    assert before["clusters/a-rocky-web"] == set()


def plain(name: str) -> str:
    """The name of a gate without its hash; other names as they are."""
    return re.sub(r"(/[0-9]+)-[0-9a-f]{8}$", r"\1", name)


def test_an_app_that_leaves_some_clusters_leaves_those_of_the_last_wave_first() -> None:
    after = TEXT.replace("web: {kustomize", "web: {clusters: {names: [b]}, kustomize")
    rounds = deleted(*(sent(planned(each), None)[0] for each in (TEXT, after)))
    gone = [[each for each in names if each.endswith("-rocky-web")] for names in rounds]
    assert [each for each in gone if each] == [[f"clusters/{each}-rocky-web"] for each in "dca"]


def test_a_gate_stays_while_what_comes_before_it_is_the_same() -> None:
    """Otherwise every run would create and delete gates."""
    later = TEXT.replace("clusters: {names: [a, b, c, d]}", "clusters: {names: [a, b, c, d, hub]}")
    one, other = (
        {each.key.name for each in sent(planned(text), None)[0].registered if each.key.type == GATE}
        for text in (TEXT, later)
    )
    assert one == other


def test_a_gate_is_never_protected_because_its_name_changes() -> None:
    plan = planned(TEXT)
    gates, opts = Gates("dev", turns_of(plan), None), pulumi.ResourceOptions(protect=True)
    recording = record(lambda: Fleet("dev", opts=opts, run=Run(plan=plan, target=Reach(), gates=gates)))
    found = {(each.type == GATE, each.protect) for each in recording.requests if each.type.startswith("kubernetes:")}
    found |= {(True, each.protect) for each in recording.requests if each.type == GATE}
    assert found == {(False, True), (True, False)}


def deleted(before: Recording, after: Recording) -> list[list[str]]:
    """What only the first of two runs registers, in the rounds in which the engine would delete it: `ScheduleDeletes` there."""
    kept = {each.key for each in after.registered}
    condemned = {each.key: each.depends_on for each in before.registered if each.key not in kept}
    rounds: list[list[str]] = []
    while condemned:
        last = [key for key, needs in condemned.items() if not needs & condemned.keys()]
        rounds.insert(0, [each.name for each in last])
        condemned = {key: needs for key, needs in condemned.items() if key not in last}
    return rounds


STOPPED = """\
wave 2 of 3 in environment 'dev' failed on 1 cluster of 2, so the run ends here
  c rocky/web: no such path
  c rocky/db: no such path
  untouched: wave 3 (d, hub)
  fix: correct the file or what the app applies, then run the same command again; or revert the change and run it again: only the\
 waves that were changed go back"""


def test_a_wave_that_fails_ends_the_run_with_one_message_before_the_next_is_sent() -> None:
    plan = planned(TEXT)
    with pytest.raises(pulumi.RunError) as raised:
        sent(plan, Played(turns_of(plan), good_after=0, stuck=("c",)))
    assert str(raised.value).replace("  c the baseline of rocky: no such path\n", "") == STOPPED
    assert "clusters/d-rocky-web" not in raised.value.__notes__[0]
    assert "clusters/c-rocky-web" in raised.value.__notes__[0]


def test_what_does_not_become_good_in_time_fails() -> None:
    plan = planned(TEXT)
    with pytest.raises(pulumi.RunError, match=r"wave 1 of 3 \(canary\) in environment 'dev' failed on 1 cluster of 1"):
        sent(plan, Played(turns_of(plan), good_after=10**6))


def test_as_many_clusters_as_are_tolerated_may_fail() -> None:
    plan = planned(TEXT.replace("timeout: 1s", "timeout: 1s\n    tolerate: 1"))
    _, names = sent(plan, Played(turns_of(plan), good_after=0, stuck=("c",)))
    assert waves(names) == [["a"], ["b", "c"], ["d"]]


def test_an_object_that_the_engine_could_not_change_ends_the_run_at_its_wave() -> None:
    plan = planned(TEXT)
    with pytest.raises(
        pulumi.RunError,
        match=r"'dev' was not applied completely \(Kustomization clusters/a-rocky-web\), so the run ends here",
    ):
        sent(plan, Played(turns_of(plan), good_after=0), lambda name: name == "clusters/a-rocky-web")


def test_a_preview_says_the_waves_and_waits_for_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr(pulumi.runtime, "is_dry_run", lambda: True)
    monkeypatch.setattr(pulumi.log, "info", said.append)
    assert gates_of(planned(TEXT), Reach()).reading is None
    assert said == ["changes go in 3 waves: 1 cluster (a), then 2, then 2"]
