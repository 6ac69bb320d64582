"""All stacks of a project, from the files beside Pulumi.yaml."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from tenantry.messages.errors import Refused
from tenantry.messages.problems import Problem, error, refuse
from tenantry.messages.text import counted, listed
from tenantry.plan.shards import WHOLE, Shard
from tenantry.stacks.file import NAMESPACE, StackTarget, directory_of, read_yaml, stack_target

_PREFIX, _SUFFIX = "Pulumi.", ".yaml"


class Stack(NamedTuple):
    """A stack that has a file. shard: the part of the environment that it runs."""

    name: str
    environment: str
    target: StackTarget
    shard: Shard = WHOLE


def stacks_of(project: Path) -> list[Stack]:
    """The stacks with a file in the project's directory, by environment and shard, then by name.

    Raises: Refused: a file or a setting is invalid, or the shards of an environment do not fit together.
    """
    found = read_stacks(project)
    refuse(unfit(found))
    return found


def stacks_running(project: Path, environment: str) -> list[Stack]:
    """The stacks of one environment, the first shard first. Raises: Refused: as `stacks_of`, for this environment."""
    found = [each for each in read_stacks(project) if each.environment == environment]
    refuse(unfit(found))
    return found


def read_stacks(project: Path) -> list[Stack]:
    """As `stacks_of`, without checking whether the shards fit together. Raises: Refused: a file or a setting is invalid."""
    names = (file.name.removeprefix(_PREFIX).removesuffix(_SUFFIX) for file in project.glob(f"{_PREFIX}*{_SUFFIX}"))
    return sorted(
        (_stack(project, name) for name in names), key=lambda each: (each.environment, each.shard.index, each.name)
    )


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
    running = [each for each in read_stacks(project) if each.environment == environment]
    return running[0].target if running else StackTarget()


def stack_of(project: Path, environment: str, tenant: str) -> Stack | None:
    """The stack that runs a tenant of an environment; None: several stacks do not share it, or their files are invalid."""
    try:
        running = [each for each in read_stacks(project) if each.environment == environment]
    except Refused:
        return None
    return next((each for each in running if each.shard != WHOLE and each.shard.holds(tenant)), None)


def unfit(stacks: Sequence[Stack]) -> Iterator[Problem]:
    """Why the shards of environments do not fit together. A stack that writes the whole environment to files may stand beside."""
    for environment in dict.fromkeys(each.environment for each in stacks):
        mine = [each for each in stacks if each.environment == environment]
        shards = [each for each in mine if each.shard != WHOLE]
        if shards:
            beside = [each for each in mine if each.shard == WHOLE and not each.target.files]
            yield from _of_environment(environment, shards, beside)


def _of_environment(environment: str, shards: list[Stack], beside: list[Stack]) -> Iterator[Problem]:
    count = max(each.shard.count for each in shards)
    counts = {each.shard.count for each in shards}
    if beside:
        yield error(
            "undivided-stack",
            f"{_stacks(beside)} would run all of environment '{environment}' beside the shards of {_stacks(shards)}",
            f"tenantry shards move --environment {environment} --to {count}; or remove the file of the stack that is not needed",
        )
    if len(counts) > 1:
        said = listed(f"{each.name} ({each.shard})" for each in shards)
        yield error(
            "shard-counts",
            f"the stacks of environment '{environment}' count different numbers of shards: {said}",
            f"give all of them the same number; to change it: tenantry shards move --environment {environment} --to {count}",
        )
        return
    yield from _not_once_each(environment, shards, count)
    yield from _targets(environment, shards)


def _not_once_each(environment: str, shards: list[Stack], count: int) -> Iterator[Problem]:
    by_index: dict[int, list[Stack]] = {}
    for each in shards:
        by_index.setdefault(each.shard.index, []).append(each)
    for index, same in by_index.items():
        if len(same) > 1:
            yield error(
                "shard-twice",
                f"{_stacks(same)} run the same shard {index}/{count} of environment '{environment}'",
                f"give each stack a shard of its own: pulumi config set {NAMESPACE}:shard I/{count} --stack NAME",
            )
    if missing := [f"{index}/{count}" for index in range(1, count + 1) if index not in by_index]:
        yield error(
            "shard-missing",
            f"no stack runs {counted(len(missing), 'shard')} of environment '{environment}': {listed(missing)}",
            f"pulumi stack init NAME; pulumi config set {NAMESPACE}:environment {environment} --stack NAME;"
            f" pulumi config set {NAMESPACE}:shard {missing[0]} --stack NAME",
        )


def _targets(environment: str, shards: list[Stack]) -> Iterator[Problem]:
    if len({each.target.files for each in shards}) > 1 or len({_cluster(each) for each in shards}) > 1:
        yield error(
            "shard-targets",
            f"the stacks of environment '{environment}' do not have the same target: {_stacks(shards)}",
            f"give all of them the same {NAMESPACE}:target, {NAMESPACE}:kubeconfig and {NAMESPACE}:context",
        )
    elif shards[0].target.files and len({_directory(each) for each in shards}) < len(shards):
        yield error(
            "shard-directories",
            f"some of {_stacks(shards)} write to the same directory, and each would remove the others' files",
            f"give each stack a {NAMESPACE}:directory of its own; without the setting they are"
            f" {directory_of(environment, shards[0].shard)} and so on",
        )


def _cluster(stack: Stack) -> tuple[Path | None, str | None]:
    return (None, None) if stack.target.files else (stack.target.kubeconfig, stack.target.context)


def _directory(stack: Stack) -> Path:
    return Path(stack.target.directory or directory_of(stack.environment, stack.shard))


def _stacks(stacks: list[Stack]) -> str:
    names = listed(f"'{each.name}'" for each in stacks)
    return f"{'stack' if len(stacks) == 1 else 'stacks'} {names}"


def _stack(project: Path, name: str) -> Stack:
    target = stack_target(project, name)
    return Stack(name, target.claim.environment if target.claim else name, target, target.shard)
