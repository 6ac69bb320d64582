"""What the engine is sent of what waits: it stays as it is, with all that it needs, or is not sent at all."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextlib import closing
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

import pulumi
import pytest

from components import waiting as held_back
from components.fleet import Fleet
from components.run import Run
from components.waiting import Clocks, Held
from tenantry.cluster import connect
from tenantry.cluster.drift import Difference
from tenantry.cluster.waves import marks_on
from tenantry.plan.plan import Plan
from tenantry.rollout.conditions import Known, Waiting, waiting
from tenantry.stacks.file import Reach
from tenantry.stacks.targets import key_of
from tests.components.recording import Monitor, Recording, record
from tests.unit.memory import Memory
from tests.unit.rollout.test_waves import fleet
from tests.unit.texts import planned

T = TypeVar("T")
TARGET = Reach()
NOW = datetime(2026, 11, 28, 12, tzinfo=UTC)
WAVES = "waves: [{labels: {ring: canary}, soak: 1h}, {all: true}]"
WEB = "      web: {kustomize: {source: m}}\n"
TEXT = fleet(WAVES, f"{WEB}      db: {{helm: {{source: c, chart: db, version: 1.2.3}}}}\n", clusters=2)
BEFORE = planned(TEXT)
AFTER = planned(
    TEXT.replace("branch: main", "branch: next").replace("      db:", "      new: {kustomize: {source: m}}\n      db:")
)
[OLD], [NEW] = (
    [each.id.name for each in plan.objects if each.id.kind == "GitRepository" and each.id.namespace == "remotes"]
    for plan in (BEFORE, AFTER)
)


def awaited(call: Coroutine[Any, Any, T]) -> T:
    # `asyncio.run` would leave the thread without an event loop, and Pulumi asks for one.
    with closing(asyncio.new_event_loop()) as loop:
        return loop.run_until_complete(call)


def _requests(plan: Plan, target: Reach = TARGET, **rest: Any) -> list[Any]:
    return record(lambda: Fleet("dev", run=Run(plan=plan, target=target, **rest))).requests


def state_of(before: Plan, target: Reach = TARGET) -> list[dict[str, Any]]:
    """As a run of a plan leaves it."""
    maker = Monitor(Recording(), None)  # type: ignore[arg-type]
    manifests = {each.logical_name: each.manifest for each in before.objects}
    return [
        {
            "urn": maker.make_urn(each.parent, each.type, each.name),
            "type": each.type,
            "parent": each.parent,
            "inputs": manifests.get(each.name) or dict(each.object),
            "dependencies": list(each.dependencies),
            "provider": each.provider,
            "protect": each.protect,
            "retainOnDelete": each.retainOnDelete,
        }
        for each in _requests(before, target)
    ]


def _differences(plan: Plan) -> list[Difference]:
    there = {each.id: each.manifest for each in BEFORE.objects}
    return [
        Difference(each, there.get(each.id), (("spec",),))
        for each in plan.objects
        if there.get(each.id) != each.manifest
    ]


def _gone(plan: Plan) -> list[Any]:
    planned_ids = {each.id for each in plan.objects}
    return [each.manifest for each in BEFORE.objects if each.id not in planned_ids]


def held(monkeypatch: pytest.MonkeyPatch, waits: Waiting, plan: Plan = AFTER) -> Held:
    state = state_of(BEFORE)
    monkeypatch.setattr(held_back, "resources_in_state", lambda: state)
    keys = {key_of(each["urn"]) for each in state}
    return Held.of(plan, waits, _differences(plan), _gone(plan), keys)


def sent(plan: Plan, found: Held) -> dict[str, list[str]]:
    """Which changes of each object are ignored, by its kind and name."""
    run = found.registered(plan)
    kept = found.everything_kept()
    return {
        f"{each.type.rpartition(':')[2]} {each.name.rpartition('/')[2]}": list(each.ignoreChanges)
        for each in _requests(run, kept=kept)
        if each.type.startswith("kubernetes:")
    }


def test_what_waits_stays_as_it_is_with_all_that_it_needs_and_what_is_new_is_not_sent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    waits = waiting(AFTER, [each.id for each in _differences(AFTER)], Known(NOW))
    requests = sent(AFTER, held(monkeypatch, waits))
    assert requests["Kustomization edge-1-rocky-web"] == []
    assert requests["Kustomization edge-1-rocky-new"] == []
    assert requests["Kustomization edge-2-rocky-web"] == ["*"]
    assert "Kustomization edge-2-rocky-new" not in requests
    assert requests[f"GitRepository {NEW}"] == []
    assert requests[f"GitRepository {OLD}"] == ["*"]
    # On the management cluster the source keeps its name, and no app of it changes.
    assert (requests["GitRepository m"], requests["Kustomization web"]) == (["*"], [])
    assert "Kustomization new" not in requests
    assert requests["HelmRelease db"] == []
    assert OLD not in {each.id.name for each in AFTER.objects}


def test_without_anything_that_waits_the_plan_stays_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    found = held(monkeypatch, Waiting())
    assert found.registered(AFTER) is AFTER
    assert found.ending(None) is None


def test_what_another_kind_of_app_replaces_goes_in_the_wave_of_its_successor(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = planned(TEXT.replace("{helm: {source: c, chart: db, version: 1.2.3}}", "{kustomize: {source: m}}"))
    going = {each.id: each.owner for each in BEFORE.objects if each.manifest in _gone(plan)}
    waits = waiting(plan, [each.id for each in _differences(plan)], Known(NOW), going)
    requests = sent(plan, held(monkeypatch, waits, plan))
    assert requests["Kustomization edge-1-rocky-db"] == []
    assert "HelmRelease edge-1-rocky-db" not in requests
    assert "Kustomization edge-2-rocky-db" not in requests
    assert requests["HelmRelease edge-2-rocky-db"] == ["*"]
    # The chart of the old release, and where that comes from.
    assert [name for name, ignored in requests.items() if name.startswith("HelmChart rocky.c.") and ignored == ["*"]]
    assert [
        name for name, ignored in requests.items() if name.startswith("HelmRepository rocky.c.") and ignored == ["*"]
    ]


def test_a_preview_says_what_waits_and_holds_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    told = list[str]()
    memory = Memory()
    memory.objects["/api/v1/namespaces/tenantry-system/configmaps"] = {"items": []}
    for level in ("info", "warn"):
        monkeypatch.setattr(pulumi.log, level, told.append)
    for preview in (True, False):
        monkeypatch.setattr(pulumi.runtime, "is_dry_run", lambda preview=preview: preview)
        found = awaited(_asked(memory))
        assert bool(found) is not preview
    assert [each.splitlines()[1] for each in told] == [
        "  wave 2 of 2: rocky, rocky/new, rocky/web: wave 1 of 2 has not been good with it yet, and then soaks for 1h"
    ] * 2


async def _asked(memory: Memory) -> Waiting:
    return Clocks(AFTER, Reach(), "tenantry-system").ask(memory.client(), _differences(AFTER), _gone(AFTER))


def test_a_wave_that_is_good_is_kept_with_the_time_for_what_changed_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    memory = Memory()
    monkeypatch.setattr(connect, "connect", lambda *_: memory.client())
    monkeypatch.setattr(pulumi.runtime, "is_dry_run", lambda: False)
    assert AFTER.rollout
    first, second = AFTER.rollout.waves

    async def good() -> Clocks:
        clocks = Clocks(AFTER, Reach(), "tenantry-system")
        await clocks.good(second, lambda _: False)
        assert not clocks.marks
        await clocks.good(first, lambda _: False)
        return clocks

    clocks = awaited(good())
    assert {part.subject for part in clocks.marks} == {"platform", "rocky", "rocky/web", "rocky/new", "rocky/db"}
    written = memory.objects["/api/v1/namespaces/tenantry-system/configmaps/tenantry-dev.waves"]
    memory.objects["/api/v1/namespaces/tenantry-system/configmaps"] = {"items": [written]}
    assert marks_on(memory.client(), "tenantry-system", "dev") == clocks.marks
    later = Known(NOW + timedelta(days=9999), clocks.marks)
    assert not waiting(AFTER, [each.id for each in _differences(AFTER)], later)
