"""The whole program of a stack, in one call: a fleet's `__main__.py` needs nothing else."""

from __future__ import annotations

import asyncio

import pulumi

from .fleet import Fleet
from .run import run_of

_OF_TENANTS = ("namespaces", "clusters", "apps", "objects")


def run() -> None:
    """Create the fleet that the stack's config names, and export what it has."""
    this = run_of()

    async def create() -> pulumi.Inputs:
        plan = this.plan
        fleet = Fleet(plan.environment, run=this)
        outputs = {
            "environment": plan.environment,
            "objects": len(plan.objects),
            # Sorted, so that a new order in the file is not a change.
            "tenants": {
                name: {key: tenant.facts[key] for key in _OF_TENANTS} for name, tenant in sorted(fleet.tenants.items())
            },
            "blocked": fleet.blocked,
        }
        # Once requests are under way, the SDK waits for one after the other. Before, it waits for all outputs, again after each.
        await asyncio.sleep(0)
        return outputs

    pulumi.run(create)
