"""The Pulumi program. A stack is one environment: its configuration says which, tenants.yaml says what it holds."""

import pulumi

from components.config import read_config
from components.fleet import Fleet
from components.program import make_plan, readable_errors, tenant_outputs, with_values
from components.provider import management_provider


def main() -> None:
    """Plan first, register afterwards, so that a mistake anywhere in the file leaves the stack untouched."""
    with readable_errors():
        config = read_config()
        plan = make_plan(config)
        complete = with_values(plan, config.target)
    Fleet(plan.environment, complete, management_provider(config.target, plan.management))
    pulumi.export("environment", plan.environment)
    pulumi.export("objects", len(plan.objects))
    pulumi.export("tenants", tenant_outputs(plan))


if __name__ == "__main__":
    main()
