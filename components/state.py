"""Reads which resources are in the state of the stack that runs."""

from __future__ import annotations

import pulumi
from pulumi.runtime import invoke

from tenantry.messages.errors import Refused

_READ = "pulumi:pulumi:readStackResourceOutputs"
_SELF_MANAGED = "organization"
"""The name that Pulumi gives the organization of a state that is not in Pulumi Cloud."""


def stack_name() -> str:
    """The name of the running stack, with its organization in Pulumi Cloud."""
    stack, organization = pulumi.get_stack(), pulumi.get_organization()
    return stack if organization == _SELF_MANAGED else f"{organization}/{pulumi.get_project()}/{stack}"


def urns_in_state() -> list[str]:
    """The URNs of all resources. Reads the whole state, so a run asks only if it has to.

    Raises: Refused: the state cannot be read, so that nobody knows what a run would delete.
    """
    stack = pulumi.get_stack()
    try:
        answer = invoke(_READ, {"stackName": stack_name()})
    except Exception as error:
        raise Refused(
            f"the state of stack '{stack}' cannot be read, and no claim on the cluster says what the stack runs: {error}",
            f"correct what keeps `pulumi stack export --stack {stack}` from working",
        ) from error
    return list((answer.value or {}).get("outputs") or {})
