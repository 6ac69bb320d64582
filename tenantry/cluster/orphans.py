"""Objects of an environment that neither its plan nor its stack's state knows: a run that was killed while it created them.

No run of Pulumi removes them, because Pulumi deletes only what is in its state. In a tenant's namespace the tenant can make objects
with the same labels, so there they are deleted only if the admission policies have kept tenants from that since before they were
made. Otherwise they stay, and count for nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from tenantry.cluster import requests
from tenantry.cluster.leftovers import is_leftover
from tenantry.guard.places import Places, whose
from tenantry.kube.kinds import group_of, holds_data
from tenantry.kube.objects import Manifest, ObjectId, labels_of, object_id, readable_id
from tenantry.messages.errors import Refused
from tenantry.messages.text import listed
from tenantry.plan.objects.scope import APP_LABEL, MANAGED_BY

if TYPE_CHECKING:
    from tenantry.cluster.client import Client

_RECONCILERS = ("Kustomization", "HelmRelease")
_PAUSE = 1.0


class Orphans(NamedTuple):
    """proven: a run has to delete them by itself. others: a tenant can have made them."""

    proven: list[Manifest]
    others: list[Manifest]


def orphans(
    unplanned: Iterable[Manifest],
    places: Places,
    is_in_state: Callable[[ObjectId], bool],
    is_proven: Callable[[Manifest], bool] = lambda _: False,
) -> Orphans:
    """Those of an environment's unplanned objects that no run of Pulumi deletes; what can hold data stays, and is left out.

    Args: places: labels count only where the fleet puts such objects. is_in_state: whether Pulumi deletes an object.
          is_proven: whether no tenant can have given an object its labels. The guard counts what it is true of.
    """
    proven: list[Manifest] = []
    others: list[Manifest] = []
    for manifest in unplanned:
        id, said = readable_id(manifest), whose(manifest)
        if id is None or holds_data(group_of(id.api_version), id.kind) or not is_leftover(manifest):
            continue
        if not MANAGED_BY.items() <= labels_of(manifest).items() or is_in_state(id):
            continue
        place = places.tenants(manifest)
        if place is None:
            proven += [manifest] if id.kind not in _RECONCILERS or places.puts(manifest, said) else []
        elif said == place.whose:
            (proven if is_proven(manifest) else others).append(manifest)
    return Orphans(proven, others)


def delete(client: Client, found: Sequence[Manifest], seconds: float) -> None:
    """Delete orphans in the order of a teardown: first apps, then baselines, then what these need, each gone before the next.

    Raises: Refused: the server does not allow it, or Flux has not cleaned up in time.
    """
    end = time.monotonic() + seconds
    for group in _in_order(found):
        ids = [object_id(manifest) for manifest in group]
        requests.in_parallel(lambda manifest: requests.deleted(client, object_id(manifest), _uid(manifest)), group)
        while left := [id for id, there in zip(ids, _present(client, ids), strict=True) if there]:
            if time.monotonic() > end:
                raise Refused(
                    f"Flux has not cleaned up in {seconds:g} s what an interrupted run had created: {listed(left)}",
                    "look at why with `tenantry status`, then run the same command again",
                )
            time.sleep(_PAUSE)


def _present(client: Client, ids: Collection[ObjectId]) -> list[bool]:
    return requests.in_parallel(lambda id: requests.one(client, id, metadata_only=True) is not None, ids)


def _in_order(found: Iterable[Manifest]) -> Iterator[list[Manifest]]:
    ranked: dict[int, list[Manifest]] = {}
    for manifest in found:
        rank = (1 if APP_LABEL in labels_of(manifest) else 2) if manifest["kind"] in _RECONCILERS else 3
        ranked.setdefault(rank, []).append(manifest)
    yield from (ranked[rank] for rank in sorted(ranked))


def _uid(manifest: Manifest) -> str:
    return str(manifest["metadata"].get("uid", ""))
