"""The whole program of a stack, in one call: a fleet's `__main__.py` needs nothing else."""

import pulumi

from tenantry.stacks.record import OUTPUT

from .fleet import Fleet
from .program import tenant_outputs
from .run import run_of


def run() -> None:
    """Create the fleet that the stack's config names, and export what it has."""
    this = run_of()
    plan = this.whole or this.plan
    fleet = Fleet(plan.environment, run=this)
    pulumi.export("environment", plan.environment)
    pulumi.export("objects", len(plan.objects))
    pulumi.export("tenants", tenant_outputs(plan))
    if fleet.record:
        pulumi.export(OUTPUT, fleet.record)
