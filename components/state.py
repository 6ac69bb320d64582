"""What Pulumi's state says of the stack that runs, as it was before the run."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pulumi
from pulumi.runtime import invoke

from tenantry.guard.claims import unmarked
from tenantry.kube.objects import ObjectId
from tenantry.messages.errors import Refused, RefusedChange, refuse
from tenantry.messages.text import lines_of
from tenantry.plan.plan import Plan
from tenantry.stacks.targets import key_in_state, key_of

_READ = "pulumi:pulumi:readStackResourceOutputs"
_SELF_MANAGED = "organization"
"""The name that Pulumi gives the organization of a state that is not in Pulumi Cloud."""


def stack_name() -> str:
    """The name of the running stack, with its organization in Pulumi Cloud."""
    stack, organization = pulumi.get_stack(), pulumi.get_organization()
    return stack if organization == _SELF_MANAGED else f"{organization}/{pulumi.get_project()}/{stack}"


def outputs_in_state() -> Mapping[str, Mapping[str, Any]]:
    """What the state says of all resources, by URN. Reads the whole state, so a run asks only if it has to.

    Raises: Refused: the state cannot be read, so that nobody knows what a run would delete.
    """
    stack = pulumi.get_stack()
    try:
        answer = invoke(_READ, {"stackName": stack_name()})
    except Exception as error:
        raise Refused(
            f"the state of stack '{stack}' cannot be read, so that nobody knows what it holds: {error}",
            f"correct what keeps `pulumi stack export --stack {stack}` from working",
        ) from error
    found: Mapping[str, Any] = (answer.value or {}).get("outputs") or {}
    return {urn: resource.get("outputs") or {} for urn, resource in found.items()}


class InState:
    """Whether the state has an object. It is read when somebody asks first."""

    def __init__(self) -> None:
        self._keys: frozenset[str] | None = None

    def __call__(self, id: ObjectId) -> bool:
        """Raises: Refused: as `outputs_in_state`."""
        if self._keys is None:
            self._keys = frozenset(map(key_of, outputs_in_state()))
        return key_in_state(id) in self._keys


def check_retained(planned: Plan, left: Collection[str]) -> None:
    """Refuse a run that would delete what can hold data, without having been asked to.

    Reads the whole state, so only a run that leaves something with data on the management cluster does it.

    Args:   planned: the whole environment. left: the names of what the run leaves there.
    Raises: Refused: the state does not say that Pulumi leaves an object behind, or it cannot be read.
    """
    if left:
        refuse(unmarked(resources_in_state(), {each.id for each in planned.objects}))


_SHOWN = 10
"""How many URNs a command to type has. The next run tells the others."""


class StillProtected(RefusedChange):
    """Pulumi would refuse to delete something in the midst of a run. urns: of what its state protects."""

    def __init__(self, urns: Sequence[str]) -> None:
        self.urns = tuple(urns)
        stack = shlex.quote(pulumi.get_stack())
        super().__init__(
            f"Flux has never applied anything of what this run removes, and Pulumi's state still protects it\n{lines_of(urns)}",
            "`tenantry up` takes the protection away; without it: pulumi state unprotect --yes --stack"
            f" {stack} {shlex.join(urns[:_SHOWN])}",
        )


def check_unprotected(going: Iterable[ObjectId]) -> None:
    """Refuse a run that may remove objects which Pulumi itself protects. It is asked only about what was never applied.

    Raises: StillProtected; Refused: the state cannot be read.
    """
    if keys := {key_in_state(id) for id in going}:
        urns = [str(each.get("urn")) for each in resources_in_state() if each.get("protect")]
        if found := [urn for urn in urns if key_of(urn) in keys]:
            raise StillProtected(found)


def resources_in_state() -> list[dict[str, Any]]:
    """All resources in the state of the stack that runs. Raises: Refused: it cannot be read."""
    try:
        from pulumi.automation import LocalWorkspace

        deployment = LocalWorkspace(work_dir=str(Path.cwd())).export_stack(stack_name()).deployment or {}
    except Exception as problem:
        stack = pulumi.get_stack()
        raise Refused(
            f"the state of stack '{stack}' cannot be read, so that nobody knows what it holds: {problem}",
            f"correct what keeps `pulumi stack export --stack {stack}` from working",
        ) from problem
    return [each for each in deployment.get("resources") or () if isinstance(each, dict)]
