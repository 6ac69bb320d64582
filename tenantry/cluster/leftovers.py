"""Objects on the management cluster that carry the environment's label and that the file does not plan.

The next `tenantry up` removes those that the stack's state knows. A run that was killed before it wrote its state can leave
objects that no state knows: neither a run of another file nor `pulumi destroy` removes these.
"""

from __future__ import annotations

from collections.abc import Iterable

from tenantry.guard.claims import CLAIM_LABEL, RECORD_LABEL
from tenantry.kube.objects import Manifest, ObjectId, labels_of, readable_id
from tenantry.messages.text import counted, listed
from tenantry.plan.plan import Plan


def leftovers(plan: Plan, owned: Iterable[Manifest]) -> list[ObjectId]:
    """The environment's objects that are neither planned nor being deleted.

    owned: their metadata. Claims and records are not part of a plan, and are left out.
    """
    planned = {each.id for each in plan.objects}
    return sorted({id for each in owned if (id := readable_id(each)) and is_leftover(each)} - planned)


def is_leftover(manifest: Manifest) -> bool:
    """Whether an object that is not planned is there to stay, and not kept by a stack for itself."""
    return not _is_leaving(manifest) and not _is_stacks(manifest)


def told(environment: str, found: Iterable[ObjectId]) -> str:
    """A message with a fix on a second line; "" if nothing is left over."""
    found = list(found)
    if not found:
        return ""
    them = "it" if len(found) == 1 else "them"
    return (
        f"{counted(len(found), 'object')} of environment '{environment}' on the management cluster that the file does not declare:"
        f" {listed(found)}\n"
        f"  fix: `tenantry up` removes {them}. Objects that remain after it were created by an interrupted run and"
        " are in no stack's state:"
        " run `tenantry up` with the file of that run, then with this one"
    )


def _is_leaving(manifest: Manifest) -> bool:
    return bool(manifest["metadata"].get("deletionTimestamp"))


def _is_stacks(manifest: Manifest) -> bool:
    """Whether a stack keeps the object for itself: its claim or its record."""
    return not labels_of(manifest).keys().isdisjoint((CLAIM_LABEL, RECORD_LABEL))
