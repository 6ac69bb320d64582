"""Connects a run to the management clusters that it contacts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pulumi

from tenantry.cluster import connect
from tenantry.plan.plan import Plan
from tenantry.stacks.file import unanswered

from .config import ClusterTarget

if TYPE_CHECKING:
    from tenantry.cluster.client import Client


@contextmanager
def connected(target: ClusterTarget, plan: Plan) -> Iterator[Client]:
    """A client for the management clusters that the run contacts; of these, the plan may have only some.

    A preview may do without Secrets, which it takes note of; a run has to read those that it writes.
    Raises: Refused: one of them cannot be reached.
    """
    hubs = tuple(dict.fromkeys(plan.hub_by_cluster.values())) or plan.hubs
    ways = target.ways(plan.environment, hubs)
    with connect.connected(ways, explain=lambda failure, hub: unanswered(failure, hub, plan.environment)) as client:
        if pulumi.runtime.is_dry_run():
            client.unread = set()
        yield client
