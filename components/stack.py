"""The whole program of a stack, in one call: a fleet's `__main__.py` needs nothing else."""

import asyncio

import pulumi

from tenantry.stacks.record import OUTPUT

from .fleet import Fleet
from .program import tenant_outputs
from .run import run_of


def run() -> None:
    """Create the fleet that the stack's config names, and export what it has."""
    this = run_of()

    async def create() -> pulumi.Inputs:
        plan = this.whole or this.plan
        fleet = Fleet(plan.environment, run=this)
        outputs = {"environment": plan.environment, "objects": len(plan.objects), "tenants": tenant_outputs(plan)}
        # Once requests are under way, the SDK waits for one after the other. Before, it waits for all outputs, again after each.
        await asyncio.sleep(0)
        return {**outputs, OUTPUT: fleet.record} if fleet.record else outputs

    pulumi.run(create)
