"""`tenantry up`."""

from __future__ import annotations

from dataclasses import replace

import click

from tenantry.cli.engine.options import Asked, EngineCommand, has, pulumi_options, stack_options
from tenantry.cli.engine.session import chosen, opened, run
from tenantry.cli.options import timeout as timeout_option
from tenantry.rollout.ignoring import CONDITIONS, IGNORE, variable_of


def _conditions(_: click.Context, __: click.Parameter, value: str | None) -> tuple[str, ...]:
    names = [each.strip() for each in (value or "").split(",") if each.strip()]
    if wrong := [each for each in names if each not in CONDITIONS]:
        raise click.BadParameter(f"'{wrong[0]}' is none of: {', '.join(CONDITIONS)}.")
    return tuple(each for each in CONDITIONS if each in names)


@click.command(
    "up",
    cls=EngineCommand,
    epilog="""\
Examples:
  tenantry up dev
  tenantry up --environment prod --yes --skip-preview
  tenantry up --environment prod --yes --ignore after,soak
  tenantry up --environment prod -- --message "Tenant movy" --parallel 16

Exit codes:
  0    applied, and every app is ready
  1    Pulumi failed, preflight found errors, or apps are not ready
  2    tenants.yaml is invalid, or pulumi, a stack, a login, a passphrase or
       the management cluster is missing
  4    the guard, or the gate to the environment before, refuses the change
  5    a change waits until a wave has soaked; nothing has failed
  130  interrupted, or answered with "no"
""",
)
@stack_options
@click.option("--no-preflight", is_flag=True, help="Do not check the live clusters first.")
@click.option(
    "--ignore",
    metavar="CONDITIONS",
    callback=_conditions,
    help=f"In an emergency: do not wait for these, with commas between them: {', '.join(CONDITIONS)}.",
)
@click.option("--no-wait", is_flag=True, help="Do not wait until every app is ready.")
@timeout_option(600, "How long to wait until every app is ready.")
@pulumi_options("yes", "skip_preview", "diff", "refresh", "target", "json")
def command(
    asked: Asked,
    *,
    ignore: tuple[str, ...],
    no_preflight: bool,
    no_wait: bool,
    timeout: int,
) -> int:
    """Apply an environment with Pulumi and its fastest safe settings, with a check before and the status after.

    Prints the `pulumi` command that it runs, and leaves the terminal to it. Options after `--` go to pulumi; they and your
    own environment variables win over the settings that Tenantry chooses.

    First, `tenantry preflight` checks the clusters. An error ends the command before Pulumi starts. Afterwards the command
    waits until every app is ready or one fails again and again, as `tenantry status --wait` does, unless --target confines the run.

    If `after` of the environment is a gate, the run is refused while the environment before does not run the changes. In an
    emergency, --ignore leaves out what is named. With `after` the output names the apps that change.
    """
    stack = chosen(asked)
    session = opened(asked.project, stack, asked.environment, "up")
    if ignore:
        session = replace(session, variables={IGNORE: variable_of(asked.environment, ignore)})
    planned = None
    if not (no_preflight and no_wait):
        from tenantry.cli.engine.checks import Planned
        from tenantry.preflight.after import Mode

        planned = Planned.of(asked.file, asked.environment, stack)
        if not no_preflight and (code := planned.preflight(Mode.IGNORE if "after" in ignore else Mode.RUN)):
            return code
    code = run(session, stack, "up", asked.passed)
    partly = has(asked.passed, "--target", "-t", "--exclude", "--preview-only", "--json")
    return code if code or planned is None or no_wait or partly else planned.wait(timeout)
