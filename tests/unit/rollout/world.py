"""A management cluster as plain data, and runs against it: `blocked` decides, and what is free is applied."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from tenantry.cluster.drift import compared
from tenantry.kube.objects import KubeObject, ObjectId, is_of_flux
from tenantry.plan.engine_order import is_reconciled
from tenantry.plan.plan import Plan
from tenantry.rollout.blocked import Asking
from tenantry.rollout.change import NOTHING, Change, Difference, Evidence, Ignoring, Kind, Lines, Reason

STAMP = "%Y-%m-%dT%H:%M:%SZ"


@dataclass
class Run:
    """What one run did: the rounds in which it applied Kustomizations and HelmReleases, by name, and what it held."""

    rounds: list[list[str]] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    held: dict[ObjectId, Reason] = field(default_factory=dict)
    unready: dict[str, Reason] = field(default_factory=dict)

    @property
    def kinds(self) -> set[Kind]:
        return {each.kind for each in (*self.held.values(), *self.unready.values())}

    @property
    def names(self) -> list[str]:
        return sorted(id.name for id in self.held if is_reconciled(id))

    def message(self, name: str) -> str:
        return next(each.message for id, each in self.held.items() if id.name == name)


@dataclass
class World:
    """failing: names on which Flux gives up, once they have other content than before. slow: that stay progressing.

    cut_off: clusters that Flux does not reach. absent: sources and charts without an artifact. uses: what the state says that
    objects depend on.
    """

    live: dict[ObjectId, dict[str, Any]] = field(default_factory=dict)
    now: datetime = datetime(2026, 1, 1, 12, tzinfo=UTC)
    failing: set[str] = field(default_factory=set)
    slow: set[str] = field(default_factory=set)
    cut_off: set[str] = field(default_factory=set)
    absent: set[str] = field(default_factory=set)
    missing: dict[ObjectId, str] = field(default_factory=dict)
    refused: dict[ObjectId, str] = field(default_factory=dict)
    before: dict[str, Reason] = field(default_factory=dict)
    uses: dict[ObjectId, tuple[ObjectId, ...]] = field(default_factory=dict)
    plan: Plan | None = None

    def change(self, plan: Plan) -> Change:
        changed: dict[ObjectId, Difference] = {}
        for planned in plan.objects:
            live = self.live.get(planned.id)
            fields = tuple(compared(planned.manifest, live)[0]) if live else ()
            if (
                live is None
                or fields
                or ("suspend" in live.get("spec", {}) and not planned.manifest["spec"].get("suspend"))
            ):
                changed[planned.id] = Difference(planned, live, fields or ((("spec", "suspend"),) if live else ()))
        planned_ids = {each.id for each in plan.objects}
        removed = {id: each for id, each in self.live.items() if id not in planned_ids}
        return Change(Lines(plan), changed, removed)

    def evidence(self) -> Evidence:
        flux = {id: each for id, each in self.live.items() if is_of_flux(id.api_version) or id.kind == "ConfigMap"}
        return Evidence(
            live=flux,
            refused={**self.refused, **self.missing},
            before=self.before,
            uses=lambda id: self.uses.get(id, ()),
        )

    def up(self, plan: Plan, ignoring: Ignoring = NOTHING, rounds: int = 20) -> Run:
        """A run of `pulumi up` to its end: it asks again until nothing becomes free. Flux looks between two rounds."""
        run, applied = Run(), list[ObjectId]()
        for _ in range(rounds):
            change = self.change(plan)
            held = Asking(change, self.evidence(), self.now, ignoring, applied).blocked
            free = [id for id in change.changed if id not in held]
            for id in free:
                self.apply(change.lines.objects[id])
            if names := sorted(id.name for id in free if is_reconciled(id)):
                run.rounds.append(names)
            applied += free
            if not free and not any(each.kind is Kind.PROGRESSING for each in held.values()):
                break
            self.settle()
        change = self.change(plan)
        answer = Asking(change, self.evidence(), self.now, ignoring, applied)
        run.held, run.unready = answer.blocked, answer.unready
        for id in [id for id in change.removed if id not in run.held]:
            run.removed += [id.name] if is_reconciled(id) else []
            del self.live[id]
        run.removed.sort()
        return run

    def settle(self, seconds: float = 5) -> None:
        """Flux looks again, some seconds later."""
        self.now += timedelta(seconds=seconds)
        for id, each in self.live.items():
            if is_of_flux(id.api_version) and not each.get("spec", {}).get("suspend"):
                each["status"] = self._status(id, each)

    def suspend(self, name: str) -> None:
        """By hand."""
        next(each for id, each in self.live.items() if id.name == name and is_reconciled(id))["spec"]["suspend"] = True

    def named(self, name: str) -> dict[str, Any]:
        return next(each for id, each in self.live.items() if id.name == name)

    def apply(self, planned: KubeObject) -> None:
        before, self.uses[planned.id] = self.live.get(planned.id), planned.depends_on
        manifest = deepcopy(dict(planned.manifest))
        manifest["metadata"] = {
            **manifest["metadata"],
            "uid": str(planned.id),
            "generation": before["metadata"]["generation"] + 1 if before else 1,
            "creationTimestamp": before["metadata"]["creationTimestamp"] if before else f"{self.now:{STAMP}}",
            "managedFields": [
                {
                    "manager": "pulumi-kubernetes",
                    "time": f"{self.now:{STAMP}}",
                    "fieldsV1": {"f:spec": {}, "f:data": {}},
                }
            ],
        }
        self.live[planned.id] = {**manifest, **({"status": before["status"]} if before and "status" in before else {})}

    def _status(self, id: ObjectId, each: Mapping[str, Any]) -> dict[str, Any]:
        before: dict[str, Any] = dict(each.get("status", {}))
        generation = each["metadata"]["generation"]
        cluster = each["metadata"].get("labels", {}).get("tenantry/cluster")
        condition = {"type": "Ready", "status": "True", "observedGeneration": generation, "reason": "Succeeded"}
        if id.name in self.slow and before.get("observedGeneration") != generation:
            return {**before, "conditions": [{**condition, "status": "Unknown", "message": "building"}]}
        if cluster in self.cut_off and is_reconciled(id):
            message = "failed to get client: dial tcp 10.0.0.1:6443: i/o timeout"
            return {**before, "conditions": [{**condition, "status": "False", "reason": "Failed", "message": message}]}
        if id.name in self.failing or id.name in self.absent:
            bad = {**condition, "status": "False", "reason": "Failed", "message": "no such path"}
            stalled = {**condition, "type": "Stalled", "message": "no such path"}
            stamped = {"lastTransitionTime": f"{self.now:{STAMP}}"}
            tried = {"lastAttemptedRevision": "1"} if is_reconciled(id) else {}
            return {**before, **tried, "observedGeneration": generation, "conditions": [bad | stamped, stalled]}
        found: dict[str, Any] = {"observedGeneration": generation}
        if not is_reconciled(id):
            chart = {"observedSourceArtifactRevision": "1"} if id.kind == "HelmChart" else {}
            return {**found, **chart, "conditions": [condition], "artifact": {"revision": "1"}}
        first = f"{self.now:{STAMP}}"
        if before.get("observedGeneration") == generation and before.get("history"):
            first = before["history"][0].get("firstReconciled") or before["history"][0]["lastDeployed"]
        entry = {"firstReconciled": first, "lastDeployed": first, "status": "deployed", "chartVersion": "1"}
        entry["lastReconciledStatus"] = "ReconciliationSucceeded"
        revisions = {"lastAppliedRevision": "1", "lastAttemptedRevision": "1"}
        return {**found, **revisions, "conditions": [condition], "history": [entry]}


def settled(plan: Plan, **how: Any) -> World:
    """A world in which a plan has been applied and runs ready for a day."""
    world = World(**how)
    without = Ignoring(waves=frozenset(each for found in Lines(plan).subjects.values() for each in found))
    world.up(plan, without)
    world.settle(86400)
    assert not world.change(plan).changed, world.change(plan).changed
    return world
