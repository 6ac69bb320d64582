"""`tenantry destroy`."""

from __future__ import annotations

import click

from tenantry.cli.engine.checks import Planned
from tenantry.cli.engine.chosen import chosen
from tenantry.cli.engine.options import Asked, EngineCommand, has, pulumi_options, stack_options, take_over_option
from tenantry.cli.engine.session import opened, take_over
from tenantry.cli.engine.stages import run_all, works_of


@click.command(
    "destroy",
    cls=EngineCommand,
    epilog="""\
Examples:
  tenantry destroy --environment dev
  tenantry destroy --environment dev --yes --skip-preview

Exit codes:
  0    everything is deleted
  1    Pulumi failed, or objects of the environment are left on the cluster
  2    tenants.yaml is invalid, or pulumi, a stack, a login, a passphrase or
       the management cluster is missing, or a lock cannot be taken over
  4    the environment is protected, the claims on the cluster say that a stack
       runs something else, or other shards still need the first one's objects
  130  interrupted, or answered with "no"
""",
)
@stack_options
@take_over_option
@pulumi_options("yes", "skip_preview", "diff", "refresh", "target", "json")
def command(
    asked: Asked,
    *,
    take_over_lock: bool,
) -> int:
    """Delete all objects of an environment with Pulumi, in order: Flux uninstalls what each app installed.

    Prints the `pulumi` command that it runs. Options after `--` go to pulumi; they and your own environment variables win
    over the settings that Tenantry chooses.

    A protected environment is refused: remove `protected` from it, run `tenantry up`, then destroy it. Afterwards the
    command checks that no object of the environment is left on the management cluster.
    """
    stacks = chosen(asked)
    session = opened(asked.project, stacks, asked.environment, "destroy")
    planned = Planned.of(asked.file, asked.environment, stacks)
    if not has(asked.passed, "--exclude-protected", "--preview-only") and (code := planned.refuse_protected()):
        return code
    on_cluster = not any(each.target.files for each in stacks)
    if on_cluster and (code := planned.refuse_others()):
        return code
    if take_over_lock:
        take_over(session, stacks, "destroy")
    code = run_all(session, works_of(stacks, "destroy", asked.passed, jobs=asked.jobs), asked.jobs)
    partly = asked.shard or has(asked.passed, "--target", "-t", "--exclude", "--exclude-protected", "--preview-only")
    return code if code or partly or not on_cluster else planned.nothing_left()
