"""Connects a run to the management clusters that it contacts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tenantry.cluster import connect
from tenantry.messages.errors import UNREACHABLE, Refused
from tenantry.plan.plan import Plan
from tenantry.stacks.file import NAMESPACE, for_hub

from .config import ClusterTarget

if TYPE_CHECKING:
    from tenantry.cluster.client import Client


@contextmanager
def connected(target: ClusterTarget, plan: Plan) -> Iterator[Client]:
    """A client for the management clusters of a plan that the run contacts. Raises: Refused: one of them cannot be reached."""

    def explained(failure: Refused, hub: str) -> Refused:
        fix = for_hub(failure.fix, hub)
        if hub and failure.code == UNREACHABLE:
            run = f"tenantry up --environment {plan.environment} --without {hub}"
            fix += f"; to leave what is there as it is: {run} (pulumi config set --path '{NAMESPACE}:without[0]' {hub})"
        return Refused(failure.message, fix, code=failure.code)

    with connect.connected(target.ways(plan.environment, plan.hubs), explain=explained) as client:
        yield client
