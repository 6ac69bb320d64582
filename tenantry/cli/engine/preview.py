"""`tenantry preview`."""

from __future__ import annotations

import click

from tenantry.cli.engine.options import Asked, EngineCommand, pulumi_options, stack_options
from tenantry.cli.engine.session import chosen, opened, run
from tenantry.cli.options import tenant_name
from tenantry.cli.output import say


@click.command(
    "preview",
    cls=EngineCommand,
    epilog="""\
Examples:
  tenantry preview prod
  tenantry preview --environment prod --diff
  tenantry preview --environment prod --tenant rocky
  tenantry preview --environment prod -- --expect-no-changes

Exit codes:
  0    Pulumi has shown what it would do
  1    Pulumi failed, or --preflight found errors
  2    tenants.yaml is invalid, or pulumi, a stack, a login, a passphrase or
       the management cluster is missing
  4    the guard refuses the change
  130  interrupted
""",
)
@stack_options
@tenant_name("Only the objects of this tenant, and what they depend on.")
@click.option("--preflight", is_flag=True, help="Check the live clusters first.")
@pulumi_options("diff", "refresh", "target", "json")
def command(asked: Asked, *, tenant: str | None, preflight: bool) -> int:
    """Show with Pulumi what `tenantry up` would create, change and delete. Nothing is changed.

    Prints the `pulumi` command that it runs. Options after `--` go to pulumi; they and your own environment variables win
    over the settings that Tenantry chooses.

    With --tenant, Pulumi compares the objects of one tenant only, which is faster in a large fleet. Changes of other
    tenants and of the platform are not shown.
    """
    stack = chosen(asked)
    session = opened(asked.project, stack, asked.environment, "preview")
    passed = asked.passed
    if tenant or preflight:
        from tenantry.cli.engine.checks import Planned
        from tenantry.preflight.after import Mode

        planned = Planned.of(asked.file, asked.environment, stack)
        if preflight and (code := planned.preflight(Mode.PREVIEW)):
            return code
        if tenant:
            passed = (*passed, *planned.confined(tenant, session.name))
            say(f"only tenant '{tenant}' is previewed; changes of other tenants and of the platform are not shown")
    return run(session, stack, "preview", passed)
