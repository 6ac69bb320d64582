"""Objects of an environment on the management cluster that the file does not plan, or that nobody's state knows."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from tenantry.cluster import requests
from tenantry.guard.claims import CLAIM_LABEL, Kept
from tenantry.guard.places import Places, whose
from tenantry.kube.objects import Manifest, ObjectId, group_of, holds_data, labels_of, object_id, readable_id
from tenantry.messages.errors import Refused
from tenantry.messages.text import counted, listed
from tenantry.plan.objects.lifecycle import is_given_up
from tenantry.plan.objects.scope import APP_LABEL, MANAGED_BY
from tenantry.plan.plan import Plan

if TYPE_CHECKING:
    from tenantry.cluster.client import Client


def leftovers(plan: Plan, owned: Iterable[Manifest]) -> list[ObjectId]:
    """The environment's objects that are neither planned nor being deleted, and that a run removes.

    owned: their metadata. Claims are not part of a plan, and are left out.
    """
    return sorted(set(_unplanned(plan, (each for each in owned if not _stays(each)))))


def remains(plan: Plan, owned: Iterable[Manifest]) -> list[ObjectId]:
    """As `leftovers`, those that no run removes: they can hold data, and nobody off-boarded them."""
    return sorted(set(_unplanned(plan, filter(_stays, owned))))


def _unplanned(plan: Plan, owned: Iterable[Manifest]) -> Iterator[ObjectId]:
    planned = {each.id for each in plan.objects}
    yield from (id for each in owned if is_leftover(each) and (id := readable_id(each)) and id not in planned)


def is_leftover(manifest: Manifest) -> bool:
    """Whether an object that is not planned is there to stay, and not kept by a stack for itself."""
    return not bool(manifest["metadata"].get("deletionTimestamp")) and not _is_stacks(manifest)


def _stays(manifest: Manifest) -> bool:
    id = readable_id(manifest)
    return bool(id and holds_data(group_of(id.api_version), id.kind)) and not is_given_up(manifest)


def told(environment: str, found: Iterable[ObjectId]) -> str:
    """A message with a fix on a second line; "" if nothing is left over."""
    found = list(found)
    if not found:
        return ""
    are, them = ("is", "it") if len(found) == 1 else ("are", "them")
    return (
        f"{counted(len(found), 'object')} of environment '{environment}' on its management cluster {are} not in the file:"
        f" {listed(found)}\n"
        f"  fix: `tenantry up` removes {them} if its stack's state has {them}. Objects that remain after it were created by an"
        " interrupted run: run `tenantry up` with the file of that run, then with this one. Those in a tenant's namespace can also"
        " be the tenant's own, with copied labels: ask the tenant"
    )


def told_remains(found: Iterable[ObjectId], kept: Iterable[Kept]) -> str:
    """As `told`, of what stays and is in none of the namespaces that a claim records."""
    known = {each.namespace for each in kept}
    left = [each for each in found if (each.name if each.kind == "Namespace" else each.namespace) not in known]
    if not left:
        return ""
    are, them = ("is", "it") if len(left) == 1 else ("are", "them")
    return (
        f"{counted(len(left), 'object')} with data on the management cluster {are} not in the file: {listed(left)}\n"
        f"  fix: declare {them} again; no run deletes {them} without 'state: offboarding'"
    )


def told_kept(environment: str, kept: Iterable[Kept]) -> str:
    """A message about the namespaces that the claims record; "" if there are none."""
    kept = sorted(kept)
    if not kept:
        return ""
    places = (f"'{each.namespace}' on {each.cluster} ({each.owner}, since {each.since})" for each in kept)
    hold, are = ("holds", "is") if len(kept) == 1 else ("hold", "are")
    return (
        f"{counted(len(kept), 'namespace')} of environment '{environment}' {hold} data and {are} no longer in the file:"
        f" {listed(places)}\n"
        "  fix: declare the tenant again with 'adopt: true' to go on with its data, and with 'state: offboarding' too to delete"
        " it for good"
    )


def _is_stacks(manifest: Manifest) -> bool:
    """Whether a stack keeps the object for itself: its claim."""
    return CLAIM_LABEL in labels_of(manifest)


_RECONCILERS = ("Kustomization", "HelmRelease")
_PAUSE = 1.0


class Orphans(NamedTuple):
    """proven: a run has to delete them by itself. others: a tenant can have made them."""

    proven: list[Manifest]
    others: list[Manifest]


def orphans(unplanned: Iterable[Manifest], places: Places, is_in_state: Callable[[ObjectId], bool]) -> Orphans:
    """Those of an environment's unplanned objects that no run of Pulumi deletes; what can hold data stays, and is left out.

    Args: places: labels count only where the fleet puts such objects. is_in_state: whether Pulumi deletes an object.
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
            others.append(manifest)
    return Orphans(proven, others)


def delete(client: Client, found: Sequence[Manifest], seconds: float) -> None:
    """Delete orphans in the order of a teardown: first apps, then baselines, then what these need, each gone before the next.

    Raises: Refused: the server does not allow it, or Flux has not cleaned up in time.
    """
    end = time.monotonic() + seconds
    for group in _in_order(found):
        ids = [object_id(manifest) for manifest in group]
        requests.in_parallel(
            lambda manifest: requests.deleted(client, object_id(manifest), str(manifest["metadata"].get("uid", ""))),
            group,
        )
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
