"""Whether what a run leaves on the management cluster stays there: Pulumi's state says so, not the program."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

import pulumi

from tenantry.guard.claims import unmarked
from tenantry.messages.errors import Refused, refuse
from tenantry.plan.plan import Plan

from .state import stack_name


def check_retained(planned: Plan, left: Collection[str]) -> None:
    """Refuse a run that would delete what can hold data, without having been asked to.

    Reads the whole state, so only a run that leaves something with data on the management cluster does it.

    Args:   planned: the whole environment. left: the names of what the run leaves there.
    Raises: Refused: the state does not say that Pulumi leaves an object behind, or it cannot be read.
    """
    if left:
        refuse(unmarked(_resources(), {each.id for each in planned.objects}))


def _resources() -> list[dict[str, Any]]:
    """All resources in the state of the stack that runs. Raises: Refused: it cannot be read."""
    try:
        from pulumi.automation import LocalWorkspace

        deployment = LocalWorkspace(work_dir=str(Path.cwd())).export_stack(stack_name()).deployment or {}
    except Exception as problem:
        stack = pulumi.get_stack()
        raise Refused(
            f"the state of stack '{stack}' cannot be read, which says whether namespaces stay with their data: {problem}",
            f"correct what keeps `pulumi stack export --stack {stack}` from working",
        ) from problem
    return [each for each in deployment.get("resources") or () if isinstance(each, dict)]
