"""`tenantry history`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tenantry.cli.commands import Command
from tenantry.cli.completers import tenants_or_platform
from tenantry.cli.fleet_file import reads_file
from tenantry.cli.management import management_options, open_management
from tenantry.cli.options import environment as environment_option
from tenantry.cli.options import output as output_option
from tenantry.cli.output import data_json, print_fitting, say, stdout_console, working
from tenantry.kube.names import PLATFORM
from tenantry.load import load_fleet, plan_one
from tenantry.messages.errors import UNKNOWN_NAME, Refused
from tenantry.messages.text import counted, declared, listed, printable

if TYPE_CHECKING:
    from rich.table import Table

    from tenantry.cluster.history import Counts, Entry

_COLUMNS = (
    *("BEGAN", "RESULT", "CHANGES", "TENANTS", "COMMIT", "BY", "IGNORED", "WITHOUT"),
    *("PIPELINE", "USER", "STACK", "VERSION", "PLAN"),
)
_DISPENSABLE = ("PLAN", "VERSION", "STACK", "USER", "PIPELINE", "WITHOUT", "TENANTS")
"""Columns that are omitted on a narrow terminal, in this order."""
_ALWAYS = ("BEGAN", "RESULT", "CHANGES")


@click.command(
    "history",
    cls=Command,
    epilog="""\
Examples:
  tenantry history prod
  tenantry history --environment prod --tenant rocky
  tenantry history --environment prod --limit 0 -o wide
  tenantry history --environment prod --output json

CHANGES has how many objects were created (+), changed (~) and deleted (-).
COMMIT ends with a + if files were not as in the commit.

The results:
  succeeded    the management cluster was as planned at the end
  waiting      the same, except for what waits and stays as it is
  partly       the same, except for what failed, or lacks something
  applied      plain `pulumi up` deleted objects after its program had ended,
               and nobody noted how that went
  failed       the run stopped; CHANGES has what it set out to change
  interrupted  a signal or an answer ended it, or it was killed
  running      nobody noted an end, and no later run has begun

Exit codes:
  0  success, also if no run is noted
  2  there is no such environment or tenant, or no management cluster answers
""",
)
@environment_option("The environment whose runs are shown.", required=True, argument=True)
@click.option(
    "-n",
    "--tenant",
    metavar="NAME",
    default="",
    help="Only runs that changed something of this tenant, or of 'platform'.",
    shell_complete=tenants_or_platform,
)
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    default=20,
    show_default=True,
    metavar="N",
    help="Show the newest N runs; 0: all. JSON has all.",
)
@output_option("text", "json", kind="History")
@management_options
@reads_file
def command(
    file: Path, environment: str, tenant: str, limit: int, output: str, kubeconfig: Path | None, context: str | None
) -> int:
    """Show which runs changed an environment: when, from which commit, by whom, what, and how each ended.

    A run that changes something notes itself on the management cluster, whether `tenantry up` or plain `pulumi up`
    started it. A run that changes nothing notes nothing. The oldest entries make room for new ones, after
    several hundred runs.

    BY and PIPELINE are what the build server or the system said; USER is whom the management cluster saw.
    """
    with working(f"planning {file}"):
        fleet = load_fleet(file)
        planned = plan_one(fleet, environment)
    from tenantry.cluster.history import digest_of, history_on

    with (
        open_management(file, planned, kubeconfig, context) as reached,
        working(f"reading the history of {environment}"),
    ):
        found = history_on(reached.client, fleet.document.platform.namespace, environment)
    runs, here = found.newest_first(tenant), digest_of(planned)
    if tenant and not runs and tenant not in (PLATFORM, *fleet.document.tenants):
        raise Refused(
            f"no run of '{environment}' changed a tenant '{tenant}'; {declared('declared', tenant, fleet.document.tenants)}",
            "correct the name",
            code=UNKNOWN_NAME,
        )
    if output == "json":
        from tenantry.cli.documents.lists import History

        data_json(History(environment=environment, plan=here, runs=runs, unreadable=found.unreadable))
        return 0
    if not runs:
        whose = f" that changed '{tenant}'" if tenant else ""
        say(f"no run of environment '{environment}'{whose} is noted: a run notes itself if it changes something")
        return 0
    _print(runs[: limit or len(runs)], tenant)
    if limit and len(runs) > limit:
        say(f"{counted(len(runs) - limit, 'older run')}: tenantry history --environment {environment} --limit 0")
    if found.unreadable:
        say(f"these entries cannot be read, and are left out: {listed(found.unreadable, 3)}")
    _compare_plans(file, environment, found.newest_first()[0], here)
    return 0


def _compare_plans(file: Path, environment: str, last: Entry, here: str) -> None:
    """Say on stderr whether the file is what the last run had."""
    if last.verb == "up" and last.plan and last.plan != here:
        fix = f"\n  fix: see what differs: tenantry diff {last.commit} -e {environment}" if last.commit else ""
        say(f"the last run had another plan than {file} has here{fix}")


def _print(runs: Sequence[Entry], tenant: str) -> None:
    from rich.table import Table
    from rich.text import Text

    cells = [_cells(each, tenant) for each in runs]
    columns = tuple(each for each in _COLUMNS if each in _ALWAYS or any(row[each] for row in cells))

    def build(headings: Sequence[str]) -> Table:
        table = Table(box=None, pad_edge=False, header_style="bold")
        for heading in headings:
            table.add_column(heading, overflow="fold")
        for row in cells:
            table.add_row(*(Text(printable(row[heading])) for heading in headings))
        return table

    print_fitting(build, columns, _DISPENSABLE, stdout_console())


def _cells(run: Entry, tenant: str) -> dict[str, str]:
    return {
        "BEGAN": run.began,
        "RESULT": run.result if run.verb == "up" else f"{run.verb} {run.result}",
        "CHANGES": _signs(run.changes[tenant] if tenant else run.total),
        "TENANTS": listed(run.changes, 5),
        "COMMIT": f"{run.commit[:8]}{'+' if run.edited else ''}",
        "BY": run.actor or run.user,
        "IGNORED": f"{','.join(run.ignored)}: {run.reason}" if run.ignored else "",
        "WITHOUT": listed(run.without),
        "PIPELINE": run.pipeline,
        "USER": run.user,
        "STACK": run.stack,
        "VERSION": run.version,
        "PLAN": run.plan,
    }


def _signs(counts: Counts) -> str:
    """+3 ~2 -1"""
    return " ".join(f"{sign}{number}" for sign, number in zip("+~-", counts, strict=True) if number)
