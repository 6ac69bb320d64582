"""The whole program of a stack, in one call: a fleet's `__main__.py` needs nothing else."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from typing import TypedDict

import pulumi

from tenantry.plan.plan import Plan

from .fleet import Fleet
from .run import run_of


def run() -> None:
    """Create the fleet that the stack's config names, and export what it has."""
    this = run_of()

    async def create() -> pulumi.Inputs:
        plan = this.plan
        fleet = Fleet(plan.environment, run=this)
        outputs = {
            "environment": plan.environment,
            "objects": len(plan.objects),
            "tenants": tenant_outputs(plan),
            "blocked": fleet.blocked,
        }
        # Once requests are under way, the SDK waits for one after the other. Before, it waits for all outputs, again after each.
        await asyncio.sleep(0)
        return outputs

    pulumi.run(create)


class TenantOutput(TypedDict):
    """A tenant as the stack exports it."""

    namespaces: list[str]
    clusters: list[str]
    apps: list[str]
    objects: int


def tenant_outputs(planned: Plan) -> dict[str, TenantOutput]:
    """The outputs for each tenant, sorted, so that a new order in the file is not a change."""
    facts = {placement.tenant: _Facts() for placement in planned.placements}
    for placement in planned.placements:
        facts[placement.tenant].namespaces.update(placement.namespaces)
        facts[placement.tenant].clusters.add(placement.cluster)
    for app in planned.apps:
        if app.tenant:
            facts[app.tenant].apps.add(app.name)
    objects = Counter(object.owner.tenant for object in planned.objects)
    return {tenant: facts[tenant].output(objects[tenant]) for tenant in sorted(facts)}


@dataclass(slots=True)
class _Facts:
    """Collects the facts about one tenant from the whole plan."""

    namespaces: set[str] = field(default_factory=set)
    clusters: set[str] = field(default_factory=set)
    apps: set[str] = field(default_factory=set)

    def output(self, objects: int) -> TenantOutput:
        return TenantOutput(
            namespaces=sorted(self.namespaces), clusters=sorted(self.clusters), apps=sorted(self.apps), objects=objects
        )
