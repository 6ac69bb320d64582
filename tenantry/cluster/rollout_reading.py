"""Reads what the waves of a rollout wait for: a few objects one by one, and many in one list for each kind, in pages."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from tenantry.cluster import requests
from tenantry.cluster.control import FIELD_MANAGER, REQUESTED
from tenantry.cluster.rollout import Awaited, Live
from tenantry.cluster.rollout_watch import Request
from tenantry.kube.objects import Manifest, ObjectId, readable_id
from tenantry.messages.text import grouped
from tenantry.plan.objects.scope import ENVIRONMENT_LABEL

if TYPE_CHECKING:
    from tenantry.cluster.client import Client

_FEW = 32
"""So many objects of a kind are read one by one. A list holds those of all clusters, and takes longer in a large fleet."""


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

    def one(id: ObjectId) -> list[Manifest]:
        found = requests.one(client, id, metadata_only=id.api_version == "v1")
        return [found] if found else []

    kinds = grouped(ids, lambda id: (id.api_version, id.kind))
    few = [id for found in kinds.values() if len(found) <= _FEW for id in found]
    many = [kind for kind, found in kinds.items() if len(found) > _FEW]
    read = [*requests.in_parallel(one, few), *requests.in_parallel(of_kind, many)]
    return {id: each for group in read for each in group if (id := readable_id(each))}


def ask(client: Client, asked: Iterable[Request]) -> None:
    """Have Flux reconcile objects now. One that is gone meanwhile is missed at the next reading."""

    def one(each: Request) -> None:
        annotations = {"metadata": {"annotations": {REQUESTED: each.token}}}
        requests.patched(client, each.id, annotations, manager=FIELD_MANAGER, dry_run=False)

    requests.in_parallel(one, asked)
