"""The whole program of a stack, in one call: a fleet's `__main__.py` needs nothing else."""

import pulumi

from tenantry.stacks.outcome import STARTED, tell
from tenantry.stacks.record import OUTPUT

from .comparing import restoring
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
        plan, keeper = make_plan(config)
        complete = with_values(plan, config.target, config.shard)
        gates = gates_of(plan, config.target, to_the_end=keeper is not None)
        check = restoring(plan, config.target, config.shard)
        if check:
            complete = check.leaving(complete)
    say_if_slow(plan)
    last = keeper.of_run(gates) if keeper else None
    provider = management_provider(config.target, plan.management)
    opts = pulumi.ResourceOptions(provider=provider)
    Fleet(plan.environment, complete, opts, gates=gates, last=last, check=check)
    pulumi.export("environment", plan.environment)
    pulumi.export("objects", len(plan.objects))
    pulumi.export("tenants", tenant_outputs(plan))
    if last:
        pulumi.export(OUTPUT, last.output)
