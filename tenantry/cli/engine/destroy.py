"""`tenantry destroy`."""

from __future__ import annotations

from dataclasses import replace

import click

from tenantry.cli import options
from tenantry.cli.engine.checks import Planned
from tenantry.cli.engine.options import Asked, EngineCommand, deleted_stack_options, has, pulumi_options
from tenantry.cli.engine.session import chosen, opened, run
from tenantry.stacks.outcome import OFFBOARD


@click.command(
    "destroy",
    cls=EngineCommand,
    epilog="""\
Examples:
  tenantry destroy dev
  tenantry destroy --environment dev --yes --skip-preview
  tenantry destroy --environment dev --offboard

Exit codes:
  0    everything is deleted but what stays with its data
  1    Pulumi failed, objects of the environment are left on the cluster, or
       with --offboard a cluster did not follow in time
  2    tenants.yaml is invalid, or pulumi, a stack, a login, a passphrase or
       the management cluster is missing
  4    the environment is protected, the claims on the cluster say that a stack
       runs something else
  130  interrupted, or answered with "no"
""",
)
@deleted_stack_options
@click.option("--offboard", is_flag=True, help="Delete the namespaces too, with all data in them.")
@options.timeout(600, "How long to wait with --offboard until every cluster has what is given up.")
@pulumi_options("yes", "skip_preview")
def command(asked: Asked, *, offboard: bool, timeout: int) -> int:
    """Delete all objects of an environment with Pulumi, in order: Flux uninstalls what each app installed.

    Namespaces stay with their data, and what else can hold data; the command lists the namespaces. With --offboard they are deleted
    too: a first run gives up every tenant and add-on, as `state: offboarding` does, and the second deletes everything.

    Prints the `pulumi` command that it runs. Options after `--` go to pulumi; they and your own environment variables win
    over the settings that Tenantry chooses.

    A protected environment is refused: remove `protected` from it, run `tenantry up`, then destroy it. Afterwards the
    command checks that no object of the environment is left on the management cluster.
    """
    stack = chosen(asked)
    session = opened(asked.project, stack, asked.environment, "destroy")
    planned = Planned.of(asked.file, asked.environment, stack)
    if not has(asked.passed, "--exclude-protected", "--preview-only") and (code := planned.refuse_protected()):
        return code
    if code := planned.refuse_others():
        return code
    partly = has(asked.passed, "--target", "-t", "--exclude", "--exclude-protected", "--preview-only")
    if offboard and partly:
        raise click.UsageError("--offboard is for a whole environment")
    if offboard:
        giving_up = replace(session, variables={OFFBOARD: asked.environment})
        if code := run(giving_up, stack, "up", asked.passed):
            return code
        if code := planned.wait_until_freed(timeout):
            return code
    staying = planned.staying()
    code = run(session, stack, "destroy", asked.passed)
    return code if code or partly else planned.nothing_left(staying)
