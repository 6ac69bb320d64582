"""`tenantry preview`, `up` and `destroy`: Pulumi with the fastest safe settings, with checks before and after."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import Any

import click

from tenantry.cli import options
from tenantry.cli.commands import Command
from tenantry.cli.options import connect_management
from tenantry.cli.output import error, say, working
from tenantry.cli.preflight import print_report, report_on
from tenantry.cli.pulumi import Session, opened
from tenantry.cli.status import print_status, read_report
from tenantry.cluster.client import Client
from tenantry.cluster.inventory import against_claim, holdings, namespaces_of, owned_on
from tenantry.cluster.leftovers import leftovers
from tenantry.cluster.reading import check_deletable, not_read
from tenantry.cluster.states import Selection
from tenantry.fleet.fleet import Fleet
from tenantry.guard.keeping import keeping_problems, left_behind, unfreed
from tenantry.guard.reading import held
from tenantry.kube.objects import ObjectId
from tenantry.load import load_fleet, plan_one, warnings_of
from tenantry.messages.errors import RefusedChange, refuse
from tenantry.messages.text import counted, listed
from tenantry.plan.plan import Plan, nothing_of
from tenantry.stacks.file import Stack
from tenantry.stacks.outcome import CONDITIONS, IGNORE, OFFBOARD, THROUGH, ignore_variable, through_variable

_REST, _LINES = "tenantry.rest", "tenantry.lines"
"""Keys of a context's `meta`."""


class _EngineCommand(Command):
    """A command that takes options for Pulumi after `--`, and lines after `--ignore NAMES`, up to the next option."""

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        return [*super().collect_usage_pieces(ctx), "[-- PULUMI-OPTION...]"]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        end = args.index("--") if "--" in args else len(args)
        args, ctx.meta[_REST] = args[:end], tuple(args[end + 1 :])
        at = next((index for index, word in enumerate(args) if word.partition("=")[0] == "--ignore"), end)
        first = at + (1 if "=" in "".join(args[at : at + 1]) else 2)
        last = next((index for index in range(first, end) if args[index].startswith("-")), end)
        ctx.meta[_LINES] = tuple(args[first:last])
        return super().parse_args(ctx, [*args[:first], *args[last:]])


def _runs_stack(work: Callable[..., int]) -> Callable[..., int]:
    """Make a command of a function that runs the stack of an environment, which gets a session for it."""

    @options.environment("The environment whose stack runs.", required=True, argument=True)
    @wraps(work)
    def command(environment: str, *, yes: bool = False, skip_preview: bool = False, **given: Any) -> int:
        context = click.get_current_context()
        own = (*(("--yes",) if yes else ()), *(("--skip-preview",) if skip_preview else ()))
        return work(opened(options.fleet_file(context), environment, (*own, *context.meta[_REST])), **given)

    return command


_yes = click.option("-y", "--yes", is_flag=True, help="Do not ask before anything is changed.")
_skip_preview = click.option("--skip-preview", is_flag=True, help="Do not compute a preview first.")


@click.command(
    "preview",
    cls=_EngineCommand,
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
@_runs_stack
@options.file_option()
def preview(session: Session) -> int:
    """Show with Pulumi what `tenantry up` would create, change and delete. Nothing is changed.

    Prints the `pulumi` command that it runs. Options after `--` go to pulumi; they and your own environment variables win
    over the settings that Tenantry chooses.
    """
    return session.run("preview")


def _conditions(_: click.Context, __: click.Parameter, value: str | None) -> tuple[str, ...]:
    names = [name.strip() for name in (value or "").split(",") if name.strip()]
    if wrong := [name for name in names if name not in CONDITIONS]:
        raise click.BadParameter(f"'{wrong[0]}' is none of: {', '.join(CONDITIONS)}.")
    return tuple(condition for condition in CONDITIONS if condition in names)


@click.command(
    "up",
    cls=_EngineCommand,
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
@_runs_stack
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
@_yes
@_skip_preview
@options.file_option()
def up(
    session: Session, *, ignore: tuple[str, ...], through: str | None, no_preflight: bool, no_wait: bool, timeout: int
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
    environment = session.stack.environment
    lines: tuple[str, ...] = click.get_current_context().meta[_LINES]
    if ignore and not lines:
        raise click.UsageError("name the lines that go through, such as: --ignore waves rocky/web")
    variables = {IGNORE: ignore_variable(environment, ignore, lines)} if ignore else {}
    variables |= {THROUGH: through_variable(environment, through)} if through else {}
    session = replace(session, variables=variables)
    planned = None if no_preflight and no_wait else Planned.of(session)
    if planned and not no_preflight and (code := planned.preflight()):
        return code
    code = session.run("up")
    partly = session.has("--target", "-t", "--exclude", "--preview-only", "--json")
    return code if code or planned is None or no_wait or partly or through else planned.wait(timeout)


@click.command(
    "destroy",
    cls=_EngineCommand,
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
@_runs_stack
@click.option("--offboard", is_flag=True, help="Delete the namespaces too, with all data in them.")
@options.timeout(600, "How long to wait with --offboard until every cluster has what is given up.")
@_yes
@_skip_preview
@options.file_option()
def destroy(session: Session, *, offboard: bool, timeout: int) -> int:
    """Delete all objects of an environment with Pulumi, in order: Flux uninstalls what each app installed.

    Namespaces stay with their data, and what else can hold data; the command lists the namespaces. With --offboard they are deleted
    too: a first run gives up every tenant and add-on, as `state: offboarding` does, and the second deletes everything.

    Prints the `pulumi` command that it runs. Options after `--` go to pulumi; they and your own environment variables win
    over the settings that Tenantry chooses.

    A protected environment is refused: remove `protected` from it, run `tenantry up`, then destroy it. Afterwards the
    command checks that no object of the environment is left on the management cluster.
    """
    planned = Planned.of(session)
    if not session.has("--exclude-protected", "--preview-only"):
        planned.check_unprotected()
    planned.check_own()
    partly = session.has("--target", "-t", "--exclude", "--exclude-protected", "--preview-only")
    if offboard and partly:
        raise click.UsageError("--offboard is for a whole environment")
    if offboard:
        giving_up = replace(session, variables={OFFBOARD: session.stack.environment})
        if code := giving_up.run("up") or planned.wait_until_freed(timeout):
            return code
    retained = planned.retained()
    code = session.run("destroy")
    return code if code or partly else planned.report_orphaned(retained)


# --- before and after Pulumi: the plan, the live clusters, the status ----------------------------------------------------

_PAUSE = 1.0
"""Seconds between two looks at the cluster."""


@dataclass(frozen=True, slots=True)
class Planned:
    """An environment's plan, and the stack that runs it."""

    file: Path
    fleet: Fleet
    plan: Plan
    stack: Stack

    @classmethod
    def of(cls, session: Session) -> Planned:
        """Plan the stack's environment. Raises: InvalidFleet, Refused: the file is invalid, or has no such environment."""
        with working(f"planning {session.file}"):
            fleet = load_fleet(session.file)
            return cls(session.file, fleet, plan_one(fleet, session.stack.environment), session.stack)

    def connect(self) -> AbstractContextManager[Client]:
        """A client for the management cluster."""
        return connect_management(self.file, self.plan.environment, None, None)

    def preflight(self) -> int:
        """Check the clusters and say on stderr what is wrong. Returns: the exit code; 0: Pulumi may start."""
        if warnings := warnings_of(self.fleet):
            say(f"{self.file}: {counted(len(warnings), 'warning')}; `tenantry validate` shows them")
        # The run compares live objects by itself.
        report = report_on(self.file, self.fleet, self.plan, drift=False)
        print_report(self.plan, report, brief=True, write=say)
        if report.fit and not report.refused:
            return 0
        if report.refused:
            # Without preflight, the program refuses it too.
            error("the change is refused, so Pulumi was not started\n  fix: fix the errors above")
            return 4
        error("preflight found errors, so Pulumi was not started\n  fix: correct them, or use --no-preflight")
        return 1

    def wait(self, timeout: int) -> int:
        """Wait until every app is ready, and show the status. Returns: 0 if they are, otherwise 1."""
        with self.connect() as client:
            report = read_report(client, self.fleet, self.plan, Selection(), timeout)
        print_status(report, self.plan)
        return 0 if report.ready else 1

    def check_unprotected(self) -> None:
        """Raises: RefusedChange: the environment is protected."""
        name = self.plan.environment
        if self.fleet.environments[name].protected:
            raise RefusedChange(
                f"environment '{name}' is protected: Pulumi would delete a part of it and refuse the rest",
                f"remove `protected` from it in {self.file}, run `tenantry up --environment {name}`, then this again",
            )

    def check_own(self) -> None:
        """Check what the program would check, which does not run when Pulumi destroys a stack.

        Raises: RefusedChange: the stack runs something else, or another one runs the environment; Refused: Pulumi could not
                delete the Secrets.
        """
        with self.connect() as client:
            if claim := self.stack.claim:
                refuse(against_claim(client, self.fleet, claim))
            secrets = (planned.id for planned in self.plan.objects if planned.id.kind == "Secret")
            check_deletable(client, self.plan.environment, secrets)

    def retained(self) -> list[str]:
        """The namespaces that remain with their data when everything else is destroyed, for messages.

        Raises: Refused: one of them would be deleted, because its cluster has no mark yet.
        """
        nothing = nothing_of(self.plan)
        with self.connect() as client:
            now = held(holdings(client, self.plan), self.plan.environment)
        refuse(keeping_problems(nothing, now))
        return [f"'{name}' on {cluster}" for cluster, name in left_behind(nothing, now)]

    def wait_until_freed(self, timeout: int) -> int:
        """Wait until every remote cluster has what an off-boarding run gave up. Returns: 1 after the timeout, otherwise 0."""
        end = time.monotonic() + timeout
        with (
            self.connect() as client,
            working("waiting until the clusters have what was given up"),
        ):
            while True:
                waiting = unfreed(holdings(client, self.plan), self.plan.environment)
                if not waiting:
                    return 0
                if time.monotonic() > end:
                    break
                time.sleep(_PAUSE)
        error(
            f"after {timeout} s, what is given up is not known everywhere, so nothing was deleted: {listed(waiting)}\n"
            f"  fix: tenantry status --environment {self.plan.environment} shows what is not ready; then run this again"
        )
        return 1

    def report_orphaned(self, retained: Sequence[str]) -> int:
        """Look for objects of the environment on its management cluster. Returns: 1 if there are any, otherwise 0.

        retained: the namespaces that were to remain, for messages.
        """
        name = self.plan.environment
        with (
            self.connect() as client,
            working(f"looking for what is left of {name}"),
        ):
            # With a namespace, a role in it is gone that let a Secret be read.
            unread: set[ObjectId] = set()
            client.unread = unread
            orphaned = leftovers(
                nothing_of(self.plan), owned_on(client, name, [planned.id for planned in self.plan.objects])
            )
            namespaces = {namespace["metadata"]["name"] for namespace in namespaces_of(client)} if unread else set()
            client.unread = {id for id in unread if id.namespace in namespaces}
            unknown = not_read(client)
        if retained:
            say(
                f"{counted(len(retained), 'namespace')} of environment '{name}' {'stays' if len(retained) == 1 else 'stay'} with"
                f" their data: {listed(retained)}\n"
                f"  fix: `tenantry up --environment {name}` takes them over again, and with 'state: offboarding' they"
                " would go with their data"
            )
        if unknown:
            say(unknown)
        if not orphaned:
            say(f"no other object of environment '{name}' is left on {self.plan.management}")
            return 0
        say(
            f"{counted(len(orphaned), 'object')} of environment '{name}' that no stack knows: {listed(orphaned)}\n"
            f"  fix: run `tenantry up --environment {name}`, which takes them over, then this again"
        )
        return 1


commands = {"preview": preview, "up": up, "destroy": destroy}
