"""`tenantry preview`."""

from __future__ import annotations

import click

from tenantry.cli.engine.options import Asked, EngineCommand, pulumi_options, stack_options
from tenantry.cli.engine.session import chosen, opened, run


@click.command(
    "preview",
    cls=EngineCommand,
    epilog="""\
Examples:
  tenantry preview prod
  tenantry preview --environment prod -- --diff
  tenantry preview --environment prod -- --expect-no-changes

Exit codes:
  0    Pulumi has shown what it would do
  1    Pulumi failed
  2    tenants.yaml is invalid, or pulumi, a stack, a login, a passphrase or
       the management cluster is missing
  4    the guard refuses the change
  130  interrupted
""",
)
@stack_options
@pulumi_options()
def command(asked: Asked) -> int:
    """Show with Pulumi what `tenantry up` would create, change and delete. Nothing is changed.

    Prints the `pulumi` command that it runs. Options after `--` go to pulumi; they and your own environment variables win
    over the settings that Tenantry chooses.
    """
    stack = chosen(asked)
    return run(opened(asked.project, stack, asked.environment, "preview"), stack, "preview", asked.passed)
