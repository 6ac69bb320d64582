"""`tenantry approve`."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import click

from tenantry.cli.commands import Command
from tenantry.cli.fleet_file import reads_file
from tenantry.cli.management import connect_management, management_options
from tenantry.cli.options import environment_name
from tenantry.cli.output import data, working
from tenantry.compare.git import Repository
from tenantry.load import load_fleet
from tenantry.messages.errors import Refused
from tenantry.messages.text import declared, listed
from tenantry.plan.plan import Plan, plan
from tenantry.rollout.waves import Rollout, Wave, wave_name


@click.command(
    "approve",
    cls=Command,
    epilog="""\
Examples:
  tenantry approve prod 3
  tenantry approve prod early --dry-run
  tenantry approve prod 2 --rollout rocky/web

Exit codes:
  0    approved, or nothing waits for an approval
  2    the wave needs none, you are in none of its groups, or the management
       cluster does not answer or is not prepared
  130  interrupted
""",
)
@environment_name("environment")
@click.argument("wave")
@click.option("--rollout", metavar="NAME", default="", help="The rollout of an app's own, such as rocky/web.")
@click.option("--dry-run", is_flag=True, help="Show what would be approved, and approve nothing.")
@management_options
@reads_file
def command(
    file: Path,
    environment: str,
    wave: str,
    rollout: str,
    kubeconfig: Path | None,
    context: str | None,
    *,
    dry_run: bool,
) -> int:
    """Approve what a wave of a rollout would change, so that a later run begins it.

    WAVE is its number or its name. What is approved is what the file says now: an app that changes after that needs another
    approval, and the others keep theirs.

    The management cluster has to know you as a member of one of the groups in `approval` of the wave. It keeps your name, the
    commit and the time, and lets nobody approve in another name. An approval by the account that runs `tenantry up` does not
    count.
    """
    with working(f"planning {file}"):
        fleet = load_fleet(file)
        planned = plan(fleet, environment)
    found, its = _wave(planned, rollout, wave)
    name, platform, now = wave_name(found, its), fleet.document.platform.namespace, datetime.now(UTC)
    with connect_management(file, environment, kubeconfig, context) as client:
        from tenantry.cluster.requests import user_of
        from tenantry.cluster.waves import approvals_of, approve, changes_on
        from tenantry.preflight.fitness import fitted
        from tenantry.rollout.conditions import unapproved

        by, groups = user_of(client)
        group = next((each for each in its.groups if each in groups), None)
        if group is None:
            raise Refused(
                f"{name} is approved by {listed(its.groups)}, and you are '{by}' of {listed(groups) or 'no group'}",
                "use credentials of a member: --kubeconfig or --context",
            )
        with working(f"comparing {environment}"):
            changes = changes_on(client, fitted(client, planned), platform, now)
        parts = unapproved(found, its, changes.parts, changes.known)
        if not parts:
            data(f"nothing in {name} of environment '{environment}' waits for an approval")
            return 0
        what = f"{name} of environment '{environment}': {listed((part.subject for part in parts), 20)}"
        if dry_run:
            data(f"would approve {what}")
            return 0
        approve(client, approvals_of(platform, environment), parts, by=by, group=group, commit=_commit(file), now=now)
    data(f"approved {what}, as {by} of {group}")
    return 0


def _wave(planned: Plan, rollout: str, wave: str) -> tuple[Rollout, Wave]:
    """Raises: Refused: there is no such wave, or it needs no approval."""
    found = next((each for each in planned.rollouts if each.name == rollout), None)
    if found is None:
        names = [each.name for each in planned.rollouts if each.name]
        what = f"no rollout '{rollout}'" if rollout else "no rollout"
        raise Refused(f"environment '{planned.environment}' has {what}", f"name one of: {listed(names) or 'none'}")
    its = next((each for each in found.waves if wave in (str(each.number), each.name)), None)
    if its is None:
        raise Refused(
            f"there is no wave '{wave}'; {declared('declared', wave, [each.name for each in found.waves])}",
            "name a wave by its number or its name",
        )
    if not its.groups:
        asking = [str(each.number) for each in found.waves if each.groups]
        raise Refused(f"{wave_name(found, its)} needs no approval", f"name one that does: {listed(asking) or 'none'}")
    return found, its


def _commit(file: Path) -> str:
    try:
        return Repository(file.resolve().parent).commit("HEAD") or ""
    except Refused:
        return ""
