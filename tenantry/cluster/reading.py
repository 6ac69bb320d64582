"""Reads certain objects of an environment: a few one by one, many in one list for each kind, in pages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from tenantry.cluster import requests
from tenantry.kube.objects import Manifest, ObjectId, object_id, readable_id
from tenantry.messages.text import grouped
from tenantry.plan.objects.scope import ENVIRONMENT_LABEL

if TYPE_CHECKING:
    from tenantry.cluster.client import Client

_FEW = 32
"""So many objects of a kind are read one by one. A list holds those of all clusters, and takes longer in a large fleet."""


def read_objects(
    client: Client, environment: str, wanted: Iterable[ObjectId], *, whole: bool = True
) -> Mapping[ObjectId, Manifest]:
    """Those of an environment's objects that exist.

    whole: False: of ConfigMaps and Secrets only the metadata is read.
    Raises: Refused: reading is not allowed. httpx2.RequestError: no answer.
    """
    ids = frozenset(wanted)

    def of_kind(kind: tuple[str, str]) -> list[Manifest]:
        selector = f"{ENVIRONMENT_LABEL}={environment}"
        found = requests.every(client, *kind, selector=selector, metadata_only=kind[0] == "v1" and not whole)
        return [each for each in found if readable_id(each) in ids]

    def one(id: ObjectId) -> list[Manifest]:
        found = requests.one(client, id, metadata_only=id.api_version == "v1" and not whole)
        return [found] if found else []

    kinds = grouped(sorted(ids), lambda id: (id.api_version, id.kind))
    few = [id for found in kinds.values() if len(found) <= _FEW for id in found]
    many = [kind for kind, found in kinds.items() if len(found) > _FEW]
    read = [*requests.in_parallel(one, few), *requests.in_parallel(of_kind, many)]
    found = {id: each for group in read for each in group if (id := readable_id(each))}
    unseen = [id for kind in many for id in kinds[kind] if id not in found]
    return {
        **found,
        **without_label(client, environment, unseen, metadata_only=lambda kind: kind[0] == "v1" and not whole),
    }


def without_label(
    client: Client,
    environment: str,
    wanted: Iterable[ObjectId],
    *,
    metadata_only: Callable[[tuple[str, str]], bool] = lambda _: False,
) -> dict[ObjectId, Manifest]:
    """Those of some objects that exist without the environment's label: in a tenant's namespace, the tenant can take it off.

    One list of metadata for each kind. metadata_only: by API version and kind, of which ones nothing else is read.
    Raises: as `read_objects`.
    """
    kinds = grouped(sorted(set(wanted)), lambda id: (id.api_version, id.kind))

    def of_kind(kind: tuple[str, str]) -> list[Manifest]:
        ids, selector = {*kinds[kind]}, f"{ENVIRONMENT_LABEL}!={environment}"
        listed = requests.every(client, *kind, selector=selector, metadata_only=True)
        there = [each for each in listed if readable_id(each) in ids]
        if metadata_only(kind):
            return there
        return [whole for each in there if (whole := requests.one(client, object_id(each)))]

    return {object_id(each): each for found in requests.in_parallel(of_kind, kinds) for each in found}
