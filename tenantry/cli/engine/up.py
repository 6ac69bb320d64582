"""`tenantry up`."""

from __future__ import annotations

from dataclasses import replace

import click

from tenantry.cli import options
from tenantry.cli.engine.options import Asked, EngineCommand, has, pulumi_options, stack_options
from tenantry.cli.engine.session import chosen, opened, run
from tenantry.stacks.ignoring import CONDITIONS, IGNORE, THROUGH, ignore_variable, through_variable

_LINES = "tenantry.lines"


class UpCommand(EngineCommand):
    """Takes the lines after `--ignore NAMES`, up to the next option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        end = args.index("--") if "--" in args else len(args)
        at = next((index for index, each in enumerate(args[:end]) if each.partition("=")[0] == "--ignore"), None)
        if at is not None:
            first = at + (1 if "=" in args[at] else 2)
            last = next((index for index in range(first, end) if args[index].startswith("-")), max(first, end))
            ctx.meta[_LINES] = tuple(args[first:last])
            args = [*args[:first], *args[last:]]
        return super().parse_args(ctx, args)


def _conditions(_: click.Context, __: click.Parameter, value: str | None) -> tuple[str, ...]:
    names = [each.strip() for each in (value or "").split(",") if each.strip()]
    if wrong := [each for each in names if each not in CONDITIONS]:
        raise click.BadParameter(f"'{wrong[0]}' is none of: {', '.join(CONDITIONS)}.")
    return tuple(each for each in CONDITIONS if each in names)


@click.command(
    "up",
    cls=UpCommand,
    epilog="""\
Examples:
  tenantry up dev
  tenantry up --environment prod --yes --skip-preview
  tenantry up prod --yes --through canary
  tenantry up prod --yes --ignore waves,after rocky/web platform/dns
  tenantry up --environment prod -- --message "Tenant movy" --parallel 16

Exit codes:
  0    applied, and every app is ready; with --through, up to that wave
  1    Pulumi failed, preflight found errors, apps are not ready, a value is
       missing, an object was refused, or another run came between
  2    tenants.yaml is invalid, or pulumi, a stack, a login, a passphrase or
       the management cluster is missing
  4    the guard refuses the change
  5    a change waits for a soak or the environment before; nothing has failed
  130  interrupted, or answered with "no"
""",
)
@stack_options
@click.option("--no-preflight", is_flag=True, help="Do not check the live clusters first.")
@click.option(
    "--ignore",
    metavar="NAMES LINE...",
    callback=_conditions,
    help=f"In an emergency: let the named lines through. With commas between them: {', '.join(CONDITIONS)}.",
)
@click.option(
    "--through", metavar="WAVE", help="End well when every wave up to this one is ready: its name, or its number."
)
@click.option("--no-wait", is_flag=True, help="Do not wait until every app is ready.")
@options.timeout(600, "How long to wait until every app is ready.")
@pulumi_options("yes", "skip_preview")
def command(
    asked: Asked,
    *,
    ignore: tuple[str, ...],
    through: str | None,
    no_preflight: bool,
    no_wait: bool,
    timeout: int,
) -> int:
    """Apply an environment with Pulumi and its fastest safe settings, with a check before and the status after.

    Prints the `pulumi` command that it runs, and leaves the terminal to it. Options after `--` go to pulumi; they and your
    own environment variables win over the settings that Tenantry chooses.

    First, `tenantry preflight` checks the clusters. An error ends the command before Pulumi starts. Afterwards the command
    waits until every app is ready or one fails again and again, as `tenantry status --wait` does, unless Pulumi's --target
    confines the run.

    A change goes wave by wave, in one run. What a wave does not run ready, a soak, and what the environment before does not run yet
    is blocked and held: it remains as it was applied last, and the same command goes on later. In an emergency, --ignore lets
    LINES through, such as rocky/web, platform/dns or rocky. What the file does not have any more leaves wave by wave, too, in
    further runs that begin by themselves.
    """
    stack = chosen(asked)
    session = opened(asked.project, stack, asked.environment, "up")
    lines: tuple[str, ...] = click.get_current_context().meta.get(_LINES, ())
    if ignore and not lines:
        raise click.UsageError("name the lines that go through, such as: --ignore waves rocky/web")
    variables = {IGNORE: ignore_variable(asked.environment, ignore, lines)} if ignore else {}
    variables |= {THROUGH: through_variable(asked.environment, through)} if through else {}
    session = replace(session, variables=variables)
    planned = None
    if not (no_preflight and no_wait):
        from tenantry.cli.engine.checks import Planned

        planned = Planned.of(asked.file, asked.environment, stack)
        if not no_preflight and (code := planned.preflight(ignored=lines if "after" in ignore else ())):
            return code
    code = run(session, stack, "up", asked.passed)
    partly = has(asked.passed, "--target", "-t", "--exclude", "--preview-only", "--json")
    return code if code or planned is None or no_wait or partly or through else planned.wait(timeout)
