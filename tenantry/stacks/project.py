"""All stacks of a project, from the files beside Pulumi.yaml."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from tenantry.messages.errors import Refused
from tenantry.stacks.file import StackTarget, read_yaml, stack_target

_PREFIX, _SUFFIX = "Pulumi.", ".yaml"


class Stack(NamedTuple):
    """A stack that has a file."""

    name: str
    environment: str
    target: StackTarget


def stacks_of(project: Path) -> list[Stack]:
    """The stacks with a file in the project's directory, by environment, then by name.

    Raises: Refused: a file or a setting is invalid.
    """
    names = (file.name.removeprefix(_PREFIX).removesuffix(_SUFFIX) for file in project.glob(f"{_PREFIX}*{_SUFFIX}"))
    return sorted((_stack(project, name) for name in names), key=lambda each: (each.environment, each.name))


def stacks_running(project: Path, environment: str) -> list[Stack]:
    """The stacks of one environment, by name. Only one of them may run it on its cluster; its claim there says which one.

    Raises: Refused: a file or a setting is invalid.
    """
    return [each for each in stacks_of(project) if each.environment == environment]


def project_name(project: Path) -> str:
    """The name in Pulumi.yaml. Raises: Refused: there is none."""
    name = (read_yaml(project / "Pulumi.yaml") or {}).get("name")
    if not isinstance(name, str) or not name:
        raise Refused(
            f"{project / 'Pulumi.yaml'} has no name of a project",
            "cd into the project's directory; tenantry init makes one",
        )
    return name


def target_of(project: Path, environment: str) -> StackTarget:
    """How to reach an environment: as the stack of its name says, otherwise as the first stack that runs it says.

    Raises: Refused: a file or a setting is invalid.
    """
    if (project / f"{_PREFIX}{environment}{_SUFFIX}").exists():
        return stack_target(project, environment)
    running = stacks_running(project, environment)
    return running[0].target if running else StackTarget()


def _stack(project: Path, name: str) -> Stack:
    target = stack_target(project, name)
    return Stack(name, target.claim.environment if target.claim else name, target)
