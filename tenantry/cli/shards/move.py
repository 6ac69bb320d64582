"""`tenantry shards move`."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tenantry.cli.commands import Command
from tenantry.cli.fleet_file import reads_file
from tenantry.cli.management import connect_management, management_options
from tenantry.cli.options import environment as environment_option
from tenantry.cli.output import data, say
from tenantry.cli.shards.backend import Backend
from tenantry.cli.shards.steps import Division
from tenantry.load import load_fleet
from tenantry.plan.shards import MOST

if TYPE_CHECKING:
    from tenantry.cli.shards.steps import Division
    from tenantry.stacks.division import Move


@click.command(
    "move",
    cls=Command,
    epilog="""\
Examples:
  tenantry shards move --environment prod --to 4 --dry-run
  tenantry shards move --environment prod --to 4
  tenantry shards move --environment prod --to 1    one stack again

Exit codes:
  0  the environment is divided as asked, or with --dry-run would be
  2  invalid input, the cluster or Pulumi does not answer, a stack is
     locked, or its last run did not finish
""",
)
@environment_option("The environment.", required=True)
@click.option(
    "--to",
    "count",
    type=click.IntRange(1, MOST),
    required=True,
    metavar="N",
    help="How many stacks share the environment from now on.",
)
@click.option("--dry-run", is_flag=True, help="Print what would move, and change nothing.")
@management_options
@reads_file
def move(
    file: Path, environment: str, count: int, kubeconfig: Path | None, context: str | None, *, dry_run: bool
) -> int:
    """Change how many stacks share an environment.

    No object is deleted or changed on any cluster. Moves the tenants' resources from state to state. Missing stacks
    are made as copies of the first shard's stack, named
    after it: prod-2, prod-3. No run of the environment can start before the move is complete. After an interruption,
    run the same command again.

    Needs the program `pulumi`, logged in to the backend, and whatever decrypts the stacks' secrets. Commit the changed
    files Pulumi.*.yaml afterwards.
    """
    platform = load_fleet(file).document.platform.namespace
    project = file.resolve().parent
    with connect_management(file, environment, kubeconfig, context) as client:
        division = Division(client, Backend(project), project, platform, environment, count)
        if division.is_done:
            say(f"environment '{environment}' is divided into {_shards(count)} already")
            return 0
        if dry_run:
            _print(division, division.planned().moves)
            say("nothing was changed")
            return 0
        done = division.run(say)
    _print(division, done)
    preview = f"tenantry preview --environment {shlex.quote(environment)}"
    say(f"next: commit the files of the stacks, then run `{preview}`, which must show no change")
    for each in division.leaving:
        say(f"stack '{each}' runs nothing any more: pulumi stack rm {each}")
    return 0


def _print(division: Division, moves: Sequence[Move]) -> None:
    """The moves between each two stacks on one line, and every tenant below."""
    data(f"{division.environment}: {_shards(division.before)} -> {_shards(division.count)}")
    for source, dest in dict.fromkeys((each.source, each.dest) for each in moves):
        data(f"  {source} -> {dest}")
        data("\n".join(_tenants(each for each in moves if (each.source, each.dest) == (source, dest))))


def _tenants(moves: Iterable[Move]) -> list[str]:
    return [f"    {each.tenant}: {each.resources} resources" for each in moves]


def _shards(count: int) -> str:
    return f"{count} shards" if count > 1 else "one stack"
