"""Reads the state of the stack that runs, as it was before the run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pulumi
from pulumi.runtime import invoke

from tenantry.messages.errors import Refused

_READ = "pulumi:pulumi:readStackResourceOutputs"
_SELF_MANAGED = "organization"
"""The name that Pulumi gives the organization of a state that is not in Pulumi Cloud."""


def outputs_in_state() -> Mapping[str, Mapping[str, Any]]:
    """What the state says of all resources, by URN. Reads the whole state, so a run asks only if it has to.

    Raises: Refused: the state cannot be read, so that nobody knows what a run would delete.
    """
    stack, organization = pulumi.get_stack(), pulumi.get_organization()
    name = stack if organization == _SELF_MANAGED else f"{organization}/{pulumi.get_project()}/{stack}"
    try:
        answer = invoke(_READ, {"stackName": name})
    except Exception as error:
        raise Refused(
            f"the state of stack '{stack}' cannot be read, so that nobody knows what it holds: {error}",
            f"correct what keeps `pulumi stack export --stack {stack}` from working",
        ) from error
    found: Mapping[str, Any] = (answer.value or {}).get("outputs") or {}
    return {urn: resource.get("outputs") or {} for urn, resource in found.items()}


def key_of(urn: str) -> str:
    """The type and name in a URN, without the components above the resource: `kubernetes:core/v1:Namespace::rocky`."""
    *_, types, name = ("", *urn.split("::", 3))
    return f"{types.rpartition('$')[2]}::{name}"
