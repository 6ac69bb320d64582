"""The whole program of a stack, in one call: a fleet's `__main__.py` needs nothing else."""

import pulumi

from tenantry.stacks.outcome import STARTED, tell

from .config import read_config
from .fleet import Fleet
from .gates import gates_of
from .pace import say_if_slow
from .program import make_plan, readable_errors, tenant_outputs, with_values
from .provider import management_provider


def run() -> None:
    """Plan first, register afterwards, so that a mistake anywhere in the file leaves the stack untouched."""
    tell(STARTED)
    with readable_errors():
        config = read_config()
        plan = make_plan(config)
        complete = with_values(plan, config.target, config.shard)
        gates = gates_of(plan, config.target)
    say_if_slow(plan)
    Fleet(plan.environment, complete, management_provider(config.target, plan.management), gates=gates)
    pulumi.export("environment", plan.environment)
    pulumi.export("objects", len(plan.objects))
    pulumi.export("tenants", tenant_outputs(plan))
