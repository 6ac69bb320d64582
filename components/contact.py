"""Connects a run to its management cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pulumi

from tenantry.cluster import connect
from tenantry.stacks.file import Reach

if TYPE_CHECKING:
    from tenantry.cluster.client import Client


@contextmanager
def connected(target: Reach) -> Iterator[Client]:
    """A client for the management cluster.

    A preview may do without Secrets, which it takes note of; a run has to read those that it writes.
    Raises: Refused: it cannot be reached.
    """
    with connect.connected(target) as client:
        if pulumi.runtime.is_dry_run():
            client.unread = set()
        yield client
