"""One environment as Pulumi shows it: Fleet > Tenant > Placement and Fleet > Cluster, each with its own objects."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, Protocol

import pulumi

from tenantry.cluster.rollout_order import Turns
from tenantry.kube.objects import KubeObject, ObjectId
from tenantry.plan.plan import Plan

from .gates import Gates
from .objects import Object, Objects, answered, future_of
from .steps import Steps


class Last(Protocol):
    """Makes the object that is created after all others, when every wave is good."""

    async def planned(self, *, complete: bool) -> KubeObject | None:
        """complete: whether the engine could change everything. None: there is no such object."""

    def answered(self, outputs: Mapping[str, Any]) -> None:
        """What the engine has of the object; empty if there is none."""

    def failed(self, error: Exception) -> None:
        """The object is not created, because the run has failed."""


class Check(Protocol):
    """Looks at some objects when all have been created. ids: which ones."""

    @property
    def ids(self) -> frozenset[ObjectId]: ...

    async def check(self, answers: Mapping[ObjectId, Mapping[str, Any]]) -> None:
        """answers: what the engine says that each object is. Raises: RunError: something is wrong."""


class Cluster(pulumi.ComponentResource):
    """What the placements on one cluster share, and the cluster's add-ons."""

    def __init__(
        self, name: str, planned: Iterable[KubeObject], objects: Objects, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("tenantry:index:Cluster", name, {}, opts)
        objects.create(planned, self)
        self.register_outputs({})


class Placement(pulumi.ComponentResource):
    """The objects of a tenant on the management cluster for one of its clusters: the baseline, sources, charts and apps."""

    def __init__(
        self, name: str, planned: Iterable[KubeObject], objects: Objects, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("tenantry:index:Placement", name, {}, opts)
        objects.create(planned, self)
        self.register_outputs({})


class Tenant(pulumi.ComponentResource):
    """A tenant's placements, by cluster, after the objects that several of them share."""

    placements: Mapping[str, Placement]

    def __init__(
        self,
        name: str,
        shared: Iterable[KubeObject],
        by_cluster: Mapping[str, Iterable[KubeObject]],
        objects: Objects,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("tenantry:index:Tenant", name, {}, opts)
        objects.create(shared, self)
        # Names are unique among all placements of the stack.
        self.placements = {
            cluster: Placement(f"{name}/{cluster}", planned, objects, pulumi.ResourceOptions(parent=self))
            for cluster, planned in by_cluster.items()
        }
        self.register_outputs({})


class Fleet(pulumi.ComponentResource):
    """A plan on its management cluster. What depends on the fleet, or on one of its tenants, waits for all objects below."""

    clusters: Mapping[str, Cluster]
    tenants: Mapping[str, Tenant]

    def __init__(
        self,
        name: str,
        plan: Plan,
        opts: pulumi.ResourceOptions | None = None,
        *,
        gates: Gates | None = None,
        last: Last | None = None,
        check: Check | None = None,
    ) -> None:
        """Create all objects of the plan, and after them the last one, if there is one.

        gates: None: the plan's rollouts are left aside. check: of some objects, when all have been created.
        """
        super().__init__("tenantry:index:Fleet", name, {}, opts)
        self._gates = gates or Gates(plan.environment, Turns(), None)
        steps = Steps(plan.apps, self._gates.turns, self)
        objects = Objects(self._gates, steps)
        own = pulumi.ResourceOptions(parent=self)
        owned = _by_owner(plan.objects)
        of_clusters = owned.pop("", {})
        objects.create(of_clusters.pop("", ()), self)
        self.clusters = {each: Cluster(each, planned, objects, own) for each, planned in of_clusters.items()}
        self.tenants = {
            each: Tenant(each, by_cluster.pop("", ()), by_cluster, objects, own) for each, by_cluster in owned.items()
        }
        steps.complete()
        self._last = last
        # The SDK waits at the end of the program for all outputs.
        self.complete: pulumi.Output[bool] = pulumi.Output.from_input(self._finish(objects.created, check))
        self.register_outputs({})

    async def _finish(self, created: Mapping[ObjectId, Object], check: Check | None) -> bool:
        """Lead the waves, look at the result, and create the last object. Returns whether the engine could change everything."""
        answers = {id: answered(each) for id, each in created.items()}
        try:
            await self._gates.lead(answers)
            complete = all(await asyncio.gather(*answers.values()))
            if check and complete:
                there = check.ids & created.keys()
                await check.check({id: await future_of(created[id].answer()) for id in there})
            if self._last:
                await self._end(self._last, complete=complete)
            return complete
        except Exception as error:
            if self._last:
                self._last.failed(error)
            raise

    async def _end(self, last: Last, *, complete: bool) -> None:
        planned = await last.planned(complete=complete)
        if planned is None:
            last.answered({})
            return
        opts = pulumi.ResourceOptions(parent=self)
        last.answered(await future_of(Object(planned, opts).answer()))


def _by_owner(objects: Iterable[KubeObject]) -> dict[str, dict[str, list[KubeObject]]]:
    """Objects by tenant and cluster ("" for an owner without one), each group in the order of the plan."""
    owned: dict[str, dict[str, list[KubeObject]]] = defaultdict(lambda: defaultdict(list))
    for planned in objects:
        owned[planned.owner.tenant][planned.owner.cluster].append(planned)
    return owned
