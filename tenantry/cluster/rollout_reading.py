"""Reads what the waves of a rollout wait for: one list for each kind, in pages."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from tenantry.cluster import requests
from tenantry.cluster.control import FIELD_MANAGER, REQUESTED
from tenantry.cluster.rollout import Awaited, Live
from tenantry.cluster.rollout_watch import Request
from tenantry.kube.objects import Manifest, ObjectId, readable_id
from tenantry.plan.objects.scope import ENVIRONMENT_LABEL

if TYPE_CHECKING:
    from tenantry.cluster.client import Client


def wanted_of(awaited: Iterable[Awaited]) -> frozenset[ObjectId]:
    """Everything that has to be read to judge some reconcilers."""
    return frozenset(id for each in awaited for id in (each.id, *each.sources, *each.inputs))


def read(client: Client, environment: str, wanted: Iterable[ObjectId]) -> Live:
    """The wanted objects that exist. Of ConfigMaps and Secrets only the metadata is read.

    Raises: Refused: reading is not allowed. httpx2.RequestError: no answer.
    """
    ids = frozenset(wanted)
    selector = f"{ENVIRONMENT_LABEL}={environment}"

    def of_kind(kind: tuple[str, str]) -> list[Manifest]:
        found = requests.every(client, *kind, selector=selector, metadata_only=kind[0] == "v1")
        return [each for each in found if readable_id(each) in ids]

    kinds = sorted({(id.api_version, id.kind) for id in ids})
    return {id: each for group in requests.in_parallel(of_kind, kinds) for each in group if (id := readable_id(each))}


def ask(client: Client, asked: Iterable[Request]) -> None:
    """Have Flux reconcile objects now. One that is gone meanwhile is missed at the next reading."""

    def one(each: Request) -> None:
        annotations = {"metadata": {"annotations": {REQUESTED: each.token}}}
        requests.patched(client, each.id, annotations, manager=FIELD_MANAGER, dry_run=False)

    requests.in_parallel(one, asked)
