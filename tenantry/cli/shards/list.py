"""`tenantry shards list`."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import click

from tenantry.cli.commands import Command
from tenantry.cli.diff.sides import both_sides
from tenantry.cli.fleet_file import reads_file
from tenantry.cli.options import environments as environments_option
from tenantry.cli.options import output
from tenantry.cli.output import data, data_json, say, working
from tenantry.compare.diff import diff_all
from tenantry.compare.shards import touched
from tenantry.load import load_fleet, plan_all, plan_one
from tenantry.messages.text import printable
from tenantry.plan.plan import Plan
from tenantry.plan.shards import Shard
from tenantry.stacks.project import Stack, stacks_of


@dataclass(frozen=True, slots=True)
class Row:
    """A shard with its stack, which is "" if no stack runs the environment. objects: how many are planned."""

    environment: str
    shard: Shard
    stack: str
    tenants: tuple[str, ...]
    objects: int


@click.command(
    "list",
    cls=Command,
    epilog="""\
Examples:
  tenantry shards list
  tenantry shards list --environment prod --output json
  tenantry shards list --changed-since origin/main
  tenantry shards list --changed-since origin/main --output matrix
                                     for strategy.matrix of GitHub's workflows

Exit codes:
  0  success
  2  tenants.yaml is invalid, or the stacks do not fit together
""",
)
@environments_option("Only this environment; can be repeated. Default: all of them.")
@click.option(
    "--changed-since",
    "base",
    metavar="REF",
    help="Only shards that plan something else than at the merge base of HEAD and REF, a Git revision.",
)
@output("text", "json", "matrix", kind="Shards")
@reads_file
def list_shards(file: Path, environment: tuple[str, ...], base: str | None, output: str) -> int:
    """List shards in the order in which they run.

    Each has its stack, and how many tenants and objects it runs. An environment with one stack has the one shard 1/1.
    No cluster is contacted. With `--changed-since`, the first shard
    is listed too if shared objects change.
    """
    stacks = stacks_of(file.resolve().parent)
    rows = list(_changed(file, base, environment, stacks, output) if base else _all(file, environment, stacks))
    if output == "json":
        from tenantry.cli.documents.states import Shards

        data_json(Shards(shards=rows))
    elif output == "matrix":
        data(json.dumps({"include": [_entry(each) for each in rows if each.stack]}))
    else:
        _print(rows)
    return 0


def _all(file: Path, environments: tuple[str, ...], stacks: list[Stack]) -> Iterator[Row]:
    with working(f"planning {file}") as tell:
        fleet = load_fleet(file)
        plans = {each: plan_one(fleet, each) for each in environments} if environments else plan_all(fleet, tell)
    for name, plan in plans.items():
        yield from _rows(plan, stacks, _shards(name, stacks))


def _changed(file: Path, base: str, environments: tuple[str, ...], stacks: list[Stack], output: str) -> Iterator[Row]:
    sides = both_sides(file, base, environments, merge_base=True, as_json=output == "json")
    for diff in diff_all(sides.before, sides.after):
        if diff.environment in sides.after:
            count = len(_shards(diff.environment, stacks))
            yield from _rows(sides.after[diff.environment], stacks, touched(diff, count))


def _shards(environment: str, stacks: Iterable[Stack]) -> list[Shard]:
    count = max((each.shard.count for each in stacks if each.environment == environment), default=1)
    return [Shard(index, count) for index in range(1, count + 1)]


def _rows(plan: Plan, stacks: Iterable[Stack], shards: Iterable[Shard]) -> Iterator[Row]:
    names = {each.shard: each.name for each in reversed([*stacks]) if each.environment == plan.environment}
    objects = Counter(each.owner.tenant for each in plan.objects)
    for shard in shards:
        mine = {tenant: count for tenant, count in objects.items() if shard.holds(tenant)}
        tenants = tuple(sorted(tenant for tenant in mine if tenant))
        yield Row(plan.environment, shard, names.get(shard, ""), tenants, sum(mine.values()))


def _print(rows: list[Row]) -> None:
    if not rows:
        say("no shard has anything to do")
        return
    shown = [("ENVIRONMENT", "SHARD", "STACK", "TENANTS", "OBJECTS"), *map(_cells, rows)]
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
    for line in shown:
        words = (cell.ljust(width) for cell, width in zip(line[:3], widths, strict=False))
        numbers = (cell.rjust(width) for cell, width in zip(line[3:], widths[3:], strict=True))
        data("  ".join((*words, *numbers)))


def _cells(row: Row) -> tuple[str, ...]:
    return (row.environment, str(row.shard), printable(row.stack) or "-", str(len(row.tenants)), str(row.objects))


def _entry(row: Row) -> Mapping[str, str]:
    return {"environment": row.environment, "shard": str(row.shard), "stack": row.stack}
