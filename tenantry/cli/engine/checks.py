"""What `up`, `preview` and `destroy` look at before and after Pulumi: the plan, the live clusters, the status."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from tenantry.cli.management import connect_management
from tenantry.cli.output import error, say, working
from tenantry.cli.preflight import print_report, report_on
from tenantry.cli.status.command import print_status, read_report
from tenantry.cluster.client import Client
from tenantry.cluster.inventory import against_claim, holdings, namespaces_of, owned_on
from tenantry.cluster.leftovers import leftovers
from tenantry.cluster.reading import check_deletable, not_read
from tenantry.cluster.selection import Selection
from tenantry.fleet.fleet import Fleet
from tenantry.guard import held
from tenantry.guard.keeping import keeping_problems, left_behind, unfreed
from tenantry.kube.objects import ObjectId
from tenantry.load import load_fleet, plan_one, warnings_of
from tenantry.messages.errors import RefusedChange, refuse
from tenantry.messages.text import counted, listed
from tenantry.plan.plan import Plan, nothing_of
from tenantry.stacks.file import Stack

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
    def of(cls, file: Path, stack: Stack) -> Planned:
        """Plan the stack's environment. Raises: InvalidFleet, Refused: the file is invalid, or has no such environment."""
        with working(f"planning {file}"):
            fleet = load_fleet(file)
            return cls(file, fleet, plan_one(fleet, stack.environment), stack)

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

    def refuse_protected(self) -> int:
        """Explain that a protected environment cannot be destroyed. Returns: 4 if it is protected, otherwise 0."""
        name = self.plan.environment
        if not self.fleet.environments[name].protected:
            return 0
        error(
            f"environment '{name}' is protected: Pulumi would delete a part of it and refuse the rest\n"
            f"  fix: remove `protected` from it in {self.file}, run `tenantry up --environment {name}`, then this again"
        )
        return 4

    def refuse_others(self) -> int:
        """Check what the program would check, which does not run when Pulumi destroys a stack.

        Returns: 4 if the stack runs something else, or another one runs the environment; otherwise 0.
        Raises:  Refused: Pulumi could not delete the Secrets.
        """
        try:
            with self.connect() as client:
                if claim := self.stack.target.claim:
                    refuse(against_claim(client, self.fleet, claim))
                secrets = (planned.id for planned in self.plan.objects if planned.id.kind == "Secret")
                check_deletable(client, self.plan.environment, secrets)
        except RefusedChange as refused:
            error(str(refused))
            return 4
        return 0

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
