"""Which stacks have something to do, for environments that several stacks share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from tenantry.compare.diff import Diff
from tenantry.compare.shards import touched
from tenantry.messages.errors import Refused
from tenantry.messages.inert import code
from tenantry.messages.text import printable
from tenantry.stacks.project import read_stacks


class TouchedShard(NamedTuple):
    """stack: "" if no stack's file says that it runs the shard."""

    shard: str
    stack: str


def touched_shards(file: Path, diffs: Iterable[Diff]) -> dict[str, list[TouchedShard]]:
    """By environment, in the order in which they run. Environments with one stack, or without a difference, are left out."""
    try:
        stacks = read_stacks(file.resolve().parent)
    except Refused:
        return {}  # the commands that run stacks report the mistake; a difference has no need of stacks
    counts: dict[str, int] = {}
    for each in stacks:
        counts[each.environment] = max(counts.get(each.environment, 1), each.shard.count)
    names = {(each.environment, each.shard): each.name for each in stacks}
    return {
        diff.environment: [
            TouchedShard(str(shard), names.get((diff.environment, shard), ""))
            for shard in touched(diff, counts[diff.environment])
        ]
        for diff in diffs
        if diff and counts.get(diff.environment, 1) > 1
    }


def as_text(shards: Mapping[str, Sequence[TouchedShard]]) -> str:
    """A line for each environment; "" if none is divided."""
    return "\n".join(
        f"shards of {name} with changes: {', '.join(_in_words(each.shard, printable(each.stack)) for each in found) or 'none'}"
        for name, found in shards.items()
    )


def as_markdown(shards: Mapping[str, Sequence[TouchedShard]]) -> str:
    return "\n".join(
        f"Shards of {code(name)} with changes:"
        f" {', '.join(_in_words(each.shard, each.stack and code(each.stack)) for each in found) or 'none'}"
        for name, found in shards.items()
    )


def _in_words(shard: str, stack: str) -> str:
    return f"{shard} ({stack})" if stack else shard
