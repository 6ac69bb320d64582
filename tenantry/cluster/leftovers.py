"""Objects on the management cluster that carry the environment's label and that the file does not plan.

The next `tenantry up` removes those that the stack's state knows. A run that was killed before it wrote its state can leave
objects that no state knows: neither a run of another file nor `pulumi destroy` removes these.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tenantry.guard.claims import CLAIM_LABEL, RECORD_LABEL
from tenantry.guard.kept import Kept
from tenantry.kube.kinds import group_of, holds_data
from tenantry.kube.objects import Manifest, ObjectId, labels_of, readable_id
from tenantry.messages.text import counted, listed
from tenantry.plan.objects.lifecycle import STATE_LABEL
from tenantry.plan.plan import Plan


def leftovers(plan: Plan, owned: Iterable[Manifest]) -> list[ObjectId]:
    """The environment's objects that are neither planned nor being deleted, and that a run removes.

    owned: their metadata. Claims and records are not part of a plan, and are left out.
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
    return not _is_leaving(manifest) and not _is_stacks(manifest)


def _stays(manifest: Manifest) -> bool:
    id = readable_id(manifest)
    return bool(id and holds_data(group_of(id.api_version), id.kind)) and STATE_LABEL not in labels_of(manifest)


def told(environment: str, found: Iterable[ObjectId]) -> str:
    """A message with a fix on a second line; "" if nothing is left over."""
    found = list(found)
    if not found:
        return ""
    them = "it" if len(found) == 1 else "them"
    return (
        f"{counted(len(found), 'object')} of environment '{environment}' on the management cluster that the file does not declare:"
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
    them = "it" if len(left) == 1 else "them"
    return (
        f"{counted(len(left), 'object')} with data on the management cluster that the file does not declare: {listed(left)}\n"
        f"  fix: declare {them} again; no run deletes {them} without 'state: offboarding'"
    )


def told_kept(environment: str, kept: Iterable[Kept]) -> str:
    """A message about the namespaces that the claims record; "" if there are none."""
    kept = sorted(kept)
    if not kept:
        return ""
    places = (f"'{each.namespace}' on {each.cluster} ({each.owner}, since {each.since})" for each in kept)
    hold = "holds" if len(kept) == 1 else "hold"
    return (
        f"{counted(len(kept), 'namespace')} of environment '{environment}' {hold} data that the file does not declare any more:"
        f" {listed(places)}\n"
        "  fix: declare the tenant again with 'adopt: true' to go on with its data, and with 'state: offboarding' too to delete"
        " it for good"
    )


def _is_leaving(manifest: Manifest) -> bool:
    return bool(manifest["metadata"].get("deletionTimestamp"))


def _is_stacks(manifest: Manifest) -> bool:
    """Whether a stack keeps the object for itself: its claim or its record."""
    return not labels_of(manifest).keys().isdisjoint((CLAIM_LABEL, RECORD_LABEL))
