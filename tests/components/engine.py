"""Runs of `pulumi up` against a cluster in memory: a recorded engine applies what is registered, and Flux follows."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import pulumi
import pytest
from pulumi.runtime import rpc

from components import rounds
from components.fleet import Fleet
from components.run import Run
from components.state import State
from tenantry.kube.objects import KubeObject, ObjectId, readable_id
from tenantry.plan.engine_order import is_reconciled
from tenantry.plan.plan import Plan
from tenantry.rollout.change import NOTHING, Ignoring
from tenantry.stacks.file import Reach
from tests.components.recording import Monitor, Recording, record
from tests.unit.rollout.world import World


@dataclass
class Ended:
    """How a run ended: what was registered in which order, what was removed in the end, and with which error."""

    requests: list[Any]
    removed: list[str] = field(default_factory=list)
    error: str = ""
    logged: list[str] = field(default_factory=list)
    blocked: dict[str, str] = field(default_factory=dict)

    @property
    def objects(self) -> list[Any]:
        return [each for each in self.requests if each.type.startswith("kubernetes:")]

    def names(self, part: str) -> list[str]:
        """The Kustomizations and HelmReleases whose names have a part, in the order of registration."""
        found = (
            each.name.rpartition("/")[2]
            for each in self.objects
            if each.type.endswith((":Kustomization", ":HelmRelease"))
        )
        return [name for name in found if part in name]

    def inputs(self, name: str) -> dict[str, Any]:
        """What a Kustomization or HelmRelease is registered with."""
        [request] = (each for each in self.objects if each.name.endswith(f"/{name}") and is_app(each.type))
        return rpc.deserialize_properties(request.object)


def is_app(type_: str) -> bool:
    return type_.endswith((":Kustomization", ":HelmRelease"))


class Engine:
    """A stack and its cluster. left_out: names that `--target` leaves out. rewritten: names whose labels a policy writes.

    slow: names of resources for which the engine takes its time.
    """

    def __init__(self, patch: pytest.MonkeyPatch, world: World | None = None) -> None:
        self.world, self.state = world or World(), list[dict[str, Any]]()
        self.left_out: set[str] = set()
        self.rewritten: set[str] = set()
        self.slow: set[str] = set()
        self._patch = patch
        self._plan: Plan | None = None
        patch.setattr("components.state.exported_resources", lambda *_: self.state)
        patch.setattr(rounds, "_PAUSE", 0.0)
        patch.setattr(rounds, "live_for", self._live_for)
        patch.setattr(rounds, "reconcile", lambda *_: None)
        patch.setattr(rounds, "read_objects", lambda *_, **__: self.world.live)
        patch.setattr(rounds, "check_applied", lambda *_: None)
        patch.setattr(rounds.Rounds, "_asked", lambda _, call: call(None))

    def up(self, plan: Plan, ignoring: Ignoring = NOTHING, *, preview: bool = False) -> Ended:
        self._patch.setattr(pulumi.runtime, "is_dry_run", lambda: preview)
        found = Ended([])
        for level in ("info", "warn", "error"):
            self._patch.setattr(pulumi.log, level, lambda text, *_, **__: found.logged.append(text))
        state = State()
        run = Run(
            plan=plan,
            target=Reach(),
            change=self.world.change(plan),
            evidence=self.world.evidence(),
            ignoring=ignoring,
            state=state,
            now=lambda: self.world.now,
        )
        planned = {(each.id.kind, each.logical_name): each for each in plan.objects}
        original = Monitor.RegisterResource

        def register(monitor: Monitor, request: Any) -> Any:
            if request.name in self.slow:
                time.sleep(0.2)
            answer = original(monitor, request)
            found.requests.append(request)
            if request.type.startswith("kubernetes:") and not preview:
                wanted = planned.get((request.type.rpartition(":")[2], request.name))
                self._apply(request, wanted, answer)
                if request.name.rpartition("/")[2] in self.rewritten:
                    answer.object.get_or_create_struct("metadata").update({"labels": {"team": "other"}})
            return answer

        def build() -> None:
            made = Fleet("dev", run=run)
            made.blocked.apply(found.blocked.update)

        with self._patch.context() as patch:
            patch.setattr(Monitor, "RegisterResource", register)
            try:
                record(build)
            except pulumi.RunError as error:
                found.error = str(error)
        if not preview:
            self._end(found)
        return found

    def _apply(self, request: Any, planned: KubeObject | None, answer: Any) -> None:
        inputs = rpc.deserialize_properties(request.object)
        id = readable_id(inputs)
        assert id
        if request.name.rpartition("/")[2] in self.left_out:
            live = self.world.live.get(id, {"apiVersion": id.api_version, "kind": id.kind, "metadata": {}})
            with suppress(TypeError):
                answer.object.update({"spec": live.get("spec", {})})
            return
        if list(request.ignoreChanges) == ["*"]:
            return
        before = self.world.live.get(id, {})
        if planned and before.get("spec") == inputs.get("spec") and before.get("data") == inputs.get("data") and before:
            return
        known = id in self.world.live or any(each["urn"].endswith(f"::{request.name}") for each in self.state)
        assert planned or known, f"{id} came back"
        if planned:
            manifest = {**planned.manifest, **{key: inputs[key] for key in inputs if key != "metadata"}}
            self.world.apply(KubeObject(manifest, planned.owner))

    def _live_for(self, *_: object, **__: object) -> Mapping[ObjectId, Any]:
        self.world.settle()
        return self.world.evidence().live

    def _end(self, found: Ended) -> None:
        """The engine deletes what was not registered, unless the program ended with an error."""
        maker = Monitor(Recording(), None)  # type: ignore[arg-type]
        before = {each["urn"]: each for each in self.state}
        registered = {maker.make_urn(each.parent, each.type, each.name): each for each in found.requests}
        self.state = [_stated(urn, each, before.get(urn)) for urn, each in registered.items()]
        if found.error:
            self.state += [each for urn, each in before.items() if urn not in registered]
            return
        for urn, each in before.items():
            id = readable_id(each["inputs"]) if urn not in registered else None
            if id and self.world.live.pop(id, None) is not None and is_reconciled(id):
                found.removed.append(id.name)
        found.removed.sort()


def _stated(urn: str, request: Any, before: Mapping[str, Any] | None) -> dict[str, Any]:
    keeps = before and list(request.ignoreChanges) == ["*"]
    return {
        "urn": urn,
        "type": request.type,
        "parent": request.parent,
        "inputs": before["inputs"]
        if keeps and before
        else rpc.deserialize_properties(request.object, keep_unknowns=True),
        "dependencies": list(request.dependencies),
        "protect": request.protect,
        "retainOnDelete": request.retainOnDelete,
        "customTimeouts": {"delete": float(request.customTimeouts.delete.removesuffix("s") or 0)},
    }
