"""What the management cluster holds as an environment's own, and the file does not plan.

The next `pulumi up` removes it, as far as the stack's state knows of it. What a run had made that was killed before it wrote
its state down, no state knows of: a run of another file, or `pulumi destroy`, leaves it where it is.
"""

from __future__ import annotations

from collections.abc import Iterable

from tenantry.guard.claims import CLAIM_LABEL
from tenantry.kube.objects import Manifest, ObjectId, object_id
from tenantry.messages.text import counted, listed
from tenantry.plan.plan import Plan


def leftovers(plan: Plan, owned: Iterable[Manifest]) -> list[ObjectId]:
    """Which of the environment's objects are neither planned nor on their way out.

    owned: their metadata. The claim is no part of a plan, and left out.
    """
    planned = {each.id for each in plan.objects}
    staying = (each for each in owned if "deletionTimestamp" not in each["metadata"] and not _is_claim(each))
    return sorted({object_id(each) for each in staying} - planned)


def told(environment: str, found: Iterable[ObjectId]) -> str:
    """A message, with a fix in a second line; "" of nothing."""
    found = list(found)
    if not found:
        return ""
    them = "it" if len(found) == 1 else "them"
    return (
        f"{counted(len(found), 'object')} of environment '{environment}' on the management cluster that the file does not plan:"
        f" {listed(found)}\n"
        f"  fix: `pulumi up` removes {them}. What is there after that was made by a run that was killed, and no stack knows of it:"
        " run `pulumi up` with the file of that run, then with this one"
    )


def _is_claim(manifest: Manifest) -> bool:
    return CLAIM_LABEL in (manifest["metadata"].get("labels") or {})
