"""All stacks of a project, from the files beside Pulumi.yaml."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from tenantry.plan.shards import WHOLE, Shard
from tenantry.stacks.file import StackTarget, stack_target

_PREFIX, _SUFFIX = "Pulumi.", ".yaml"


class Stack(NamedTuple):
    """A stack that has a file. shard: the part of the environment that it runs."""

    name: str
    environment: str
    target: StackTarget
    shard: Shard = WHOLE


def stacks_of(project: Path) -> list[Stack]:
    """The stacks with a file in the project's directory, sorted by name. Raises: Refused: a file or a setting is invalid."""
    names = (file.name.removeprefix(_PREFIX).removesuffix(_SUFFIX) for file in project.glob(f"{_PREFIX}*{_SUFFIX}"))
    return [_stack(project, name) for name in sorted(names)]


def _stack(project: Path, name: str) -> Stack:
    target = stack_target(project, name)
    return Stack(name, target.claim.environment if target.claim else name, target)
