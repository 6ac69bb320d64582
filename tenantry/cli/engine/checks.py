"""What `up`, `preview` and `destroy` look at before and after Pulumi: the plan, the live clusters, the status."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from tenantry.cli.diff.values import DisplayLimits
from tenantry.cli.management import connect_management
from tenantry.cli.output import error, say, working
from tenantry.cli.preflight import print_report, print_warnings, report_on
from tenantry.fleet.fleet import Fleet
from tenantry.load import load_fleet, plan_one, warnings_of
from tenantry.messages.errors import UNKNOWN_NAME, Refused, RefusedChange
from tenantry.messages.problems import refuse
from tenantry.messages.text import counted, declared, listed
from tenantry.plan.plan import Plan, nothing_of
from tenantry.plan.shards import WHOLE, of_shard, shard_of
from tenantry.preflight.after import Mode
from tenantry.stacks.project import Stack
from tenantry.stacks.targets import targets_of


class Preflight(NamedTuple):
    """code: the exit code; 0: Pulumi may start. first_last: the first shard runs after the others."""

    code: int
    first_last: bool = False


@dataclass(frozen=True, slots=True)
class Planned:
    """An environment's plan, and the stacks that run it."""

    file: Path
    fleet: Fleet
    plan: Plan
    stacks: Sequence[Stack]

    @classmethod
    def of(cls, file: Path, environment: str, stacks: Sequence[Stack]) -> Planned:
        """Plan the environment. Raises: InvalidFleet, Refused: the file is invalid, or has no such environment."""
        with working(f"planning {file}"):
            fleet = load_fleet(file)
            return cls(file, fleet, plan_one(fleet, environment), stacks)

    def preflight(self, mode: Mode = Mode.RUN) -> Preflight:
        """Check the clusters as `tenantry preflight --brief` does, on stderr."""
        print_warnings(self.file, warnings_of(self.fleet), brief=True)
        shards = [each.shard for each in self.stacks]
        # The run compares live objects by itself.
        report = report_on(self.file, self.fleet, self.plan, None, None, shards, mode, drift=False)
        print_report(self.plan, report, DisplayLimits(), brief=True, write=say)
        if report.fit and not report.refused:
            return Preflight(0, report.first_last)
        if report.refused:
            # Without preflight, the program refuses it too.
            error("the change is refused, so Pulumi was not started\n  fix: do as the errors above say")
            return Preflight(4)
        error("preflight found errors, so Pulumi was not started\n  fix: correct them, or use --no-preflight")
        return Preflight(1)

    def wait(self, timeout: int) -> int:
        """Wait until every app of the stacks is ready, and show the status. Returns: 0 if they are, otherwise 1."""
        from tenantry.cli.status.command import show
        from tenantry.cli.status.waiting import wait_until_ready
        from tenantry.cluster.report import full_report
        from tenantry.cluster.selection import Selection

        with connect_management(self.file, self.plan.environment, None, None) as client:
            shown = self._shown()
            live = wait_until_ready(client, shown, Selection(), timeout)
            with working(f"reading the status of {self.plan.environment}"):
                report = full_report(client, shown, live)
        show(report, shown, self.fleet)
        return 0 if report.ready else 1

    def _shown(self) -> Plan:
        """The plan of the only stack, or of the whole environment."""
        first = self.stacks[0].shard
        return of_shard(self.plan, first) if len(self.stacks) == 1 else self.plan

    def confined(self, tenant: str, project: str) -> tuple[list[Stack], list[str]]:
        """The stack that has a tenant, and options that confine a preview to the tenant's objects."""
        names = self.fleet.document.tenants
        if tenant not in names:
            raise Refused(
                f"there is no tenant '{tenant}'; {declared('declared', tenant, names)}",
                "correct the name",
                code=UNKNOWN_NAME,
            )
        stacks = [
            each
            for each in self.stacks
            if each.shard == WHOLE or each.shard.index == shard_of(tenant, each.shard.count)
        ]
        if not stacks:
            raise Refused(f"tenant '{tenant}' is not in this shard", "leave --shard out")
        plan = of_shard(self.plan, stacks[0].shard)
        return stacks, [word for urn in targets_of(plan, tenant, stacks[0].name, project) for word in ("--target", urn)]

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

        Returns: 4 if a stack runs something else, or other shards need what the only stack would remove; otherwise 0.
        """
        try:
            self._check_others()
        except RefusedChange as refused:
            error(str(refused))
            return 4
        return 0

    def _check_others(self) -> None:
        from tenantry.cluster.inventory import against_claim, holdings
        from tenantry.cluster.shards import against_other_shards

        first, platform = self.stacks[0].shard, self.fleet.document.platform.namespace
        with connect_management(self.file, self.plan.environment, None, None) as client:
            for each in self.stacks:
                if each.target.claim:
                    refuse(against_claim(client, self.fleet, each.target.claim))
            if len(self.stacks) < first.count:
                there = list(holdings(client, self.plan))
                refuse(against_other_shards(client, platform, nothing_of(self.plan), there, first, "destroy"))

    def nothing_left(self) -> int:
        """Look for objects of the environment on its management cluster. Returns: 1 if there are any, otherwise 0."""
        from tenantry.cluster.inventory import owned_on
        from tenantry.cluster.leftovers import leftovers

        name = self.plan.environment
        with (
            connect_management(self.file, name, None, None) as client,
            working(f"looking for what is left of {name}"),
        ):
            left = leftovers(nothing_of(self.plan), owned_on(client, name, [each.id for each in self.plan.objects]))
        if not left:
            say(f"no object of environment '{name}' is left on {self.plan.management}")
            return 0
        say(
            f"{counted(len(left), 'object')} of environment '{name}' that no stack knows: {listed(left)}\n"
            f"  fix: run `tenantry up --environment {name}`, which takes them over, then this again"
        )
        return 1
