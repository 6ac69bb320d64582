"""Which stack a command runs."""

from __future__ import annotations

from pathlib import Path

from tenantry.cli.engine.options import Asked
from tenantry.messages.errors import Refused
from tenantry.messages.text import listed
from tenantry.stacks.file import stack_target
from tenantry.stacks.project import Stack, stacks_of, stacks_running


def chosen(asked: Asked) -> Stack:
    """The stack that runs an environment; the one with its name if no stack has a file yet.

    Raises: Refused: no stack matches, several name the environment, or the environment is not declared; InvalidFleet: tenants.yaml
            is not YAML.
    """
    project, environment = asked.project, asked.environment
    if not (project / "Pulumi.yaml").is_file():
        raise Refused(
            f"there is no Pulumi.yaml in {project.resolve()}, so it is no Pulumi project",
            "name the project's tenants.yaml with --file; `tenantry init` makes a new project",
        )
    if asked.stack:
        return _of_name(project, environment, asked.stack)
    return _only(stacks_running(project, environment), environment) or _without_file(asked)


def _without_file(asked: Asked) -> Stack:
    """The stack with the environment's name. No file tells that the name is spelt right, so tenants.yaml has to."""
    from tenantry.cluster.declared import management_of
    from tenantry.source.parse import read

    management_of(read(asked.file), asked.environment)
    return Stack(asked.environment, asked.environment, stack_target(asked.project, asked.environment))


def _of_name(project: Path, environment: str, name: str) -> Stack:
    for each in stacks_of(project):
        if each.name == name and each.environment != environment:
            raise Refused(f"stack '{name}' runs environment '{each.environment}'", "name that environment")
        if each.name == name:
            return each
    return Stack(name, environment, stack_target(project, name))


def _only(found: list[Stack], environment: str) -> Stack | None:
    """The stack that runs the environment, of several the one with its name; None: none has a file."""
    named = [each for each in found if each.name == environment] or found
    if len(named) > 1:
        raise Refused(
            f"the files of several stacks name environment '{environment}': {listed(each.name for each in found)}",
            "name the one that runs it with --stack",
        )
    return named[0] if named else None
