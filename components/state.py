"""Reads the state of the stack that runs, as it was before the run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pulumi
from pulumi.runtime import invoke

from tenantry.kube.objects import ObjectId
from tenantry.messages.errors import Refused
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
