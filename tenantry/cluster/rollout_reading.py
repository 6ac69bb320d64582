"""What the gates of a rollout read from the management cluster, and what they ask Flux for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from tenantry.cluster import requests
from tenantry.cluster.control import FIELD_MANAGER, REQUESTED
from tenantry.cluster.rollout import Awaited
from tenantry.cluster.rollout_watch import Request
from tenantry.kube.objects import ObjectId

if TYPE_CHECKING:
    from tenantry.cluster.client import Client


def wanted_of(awaited: Iterable[Awaited]) -> frozenset[ObjectId]:
    """Everything that has to be read to judge some reconcilers."""
    return frozenset(id for each in awaited for id in (each.id, *each.sources, *each.inputs, *each.after))


def ask(client: Client, asked: Iterable[Request]) -> None:
    """Have Flux reconcile objects now. One that is gone meanwhile is missed at the next reading."""

    def one(each: Request) -> None:
        annotations = {"metadata": {"annotations": {REQUESTED: each.token}}}
        requests.patched(client, each.id, annotations, manager=FIELD_MANAGER, dry_run=False)

    requests.in_parallel(one, asked)
