"""Which stacks a command runs, in which order."""

from __future__ import annotations

from pathlib import Path

from tenantry.messages.errors import Refused
from tenantry.messages.text import declared, listed
from tenantry.plan.shards import WHOLE
from tenantry.stacks.file import stack_target
from tenantry.stacks.project import Stack, stacks_of


def chosen(project: Path, environment: str, stack: str | None, shard: str | None) -> list[Stack]:
    """The stacks of an environment by shard; the one with its name if no stack has a file yet.

    Raises: Refused: no stack matches, several run the whole environment, or a shard has no stack.
    """
    if not (project / "Pulumi.yaml").is_file():
        raise Refused(
            f"there is no Pulumi.yaml in {project.resolve()}, so it is no Pulumi project",
            "name the project's tenants.yaml with --file; `tenantry init` makes a new project",
        )
    found = [each for each in stacks_of(project) if each.environment == environment]
    if stack:
        return [
            next(
                (each for each in found if each.name == stack), Stack(stack, environment, stack_target(project, stack))
            )
        ]
    if not found:
        found = [Stack(environment, environment, stack_target(project, environment))]
    if shard:
        return _of_shard(found, environment, shard)
    whole = [each for each in found if each.shard == WHOLE]
    if len(found) > 1 and whole:
        return [_named(whole, environment, found)]
    _check_shards(found, environment)
    return sorted(found, key=lambda each: each.shard.index)


def _of_shard(found: list[Stack], environment: str, shard: str) -> list[Stack]:
    matching = [each for each in found if str(each.shard) == shard]
    if len(matching) != 1:
        shards = [str(each.shard) for each in found]
        raise Refused(
            f"environment '{environment}' has no shard '{shard}'; {declared('stacks run', shard, shards)}",
            "name one of them with --shard, or leave it out to run all",
        )
    return matching


def _named(whole: list[Stack], environment: str, found: list[Stack]) -> Stack:
    for each in whole:
        if each.name == environment and len(found) == len(whole):
            return each
    raise Refused(
        f"several stacks run environment '{environment}': {listed(each.name for each in found)}",
        "name one of them with --stack",
    )


def _check_shards(found: list[Stack], environment: str) -> None:
    counts = {each.shard.count for each in found}
    missing = sorted(set(range(1, max(counts) + 1)) - {each.shard.index for each in found})
    if len(counts) == 1 and len(found) == max(counts) and not missing:
        return
    stacks = listed(f"{each.name} ({each.shard})" for each in found)
    raise Refused(
        f"the stacks of environment '{environment}' are not its shards, each once: {stacks}",
        "set `tenantry:shard` of each stack to I/N, with the same N; or run one of them: --shard I/N",
    )
