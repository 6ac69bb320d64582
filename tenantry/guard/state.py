"""What a stack's state holds that its settings do not name any more: Pulumi would delete it as no longer declared.

The claim on the cluster shows this first. If somebody deletes the claim and changes `tenantry:environment`, only the state
still knows what the stack has run before.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from tenantry.guard.claims import Claim
from tenantry.kube.kinds import group_of, holds_data
from tenantry.kube.objects import ObjectId, labels_of, readable_id
from tenantry.messages.data import mapping_at
from tenantry.messages.problems import Problem, error
from tenantry.messages.text import lines_of, listed
from tenantry.plan.objects.lifecycle import STATE_LABEL

_FLEET = "tenantry:index:Fleet"


def foreign(mine: Claim, urns: Iterable[str]) -> Iterator[Problem]:
    """Problems with a stack's own state. urns: of all resources in it."""
    named = [_split(each) for each in urns]
    other = sorted({name for types, name in named if types[-1] == _FLEET and name != mine.environment})
    if other:
        yield error(
            "other-environment",
            f"the state of stack '{mine.stack}' holds environment '{listed(other)}', which it would delete for"
            f" '{mine.environment}'",
            f"pulumi config set tenantry:environment {other[0]}; run '{mine.environment}' from a stack of its own",
        )


def unmarked(resources: Iterable[Mapping[str, Any]], planned: Collection[ObjectId]) -> Iterator[Problem]:
    """A problem if Pulumi would delete what can hold data and was not off-boarded.

    A stack that was last run by a version of Tenantry without such marks has none. resources: all in its state.
    """
    found = sorted(str(id) for each in resources if (id := _unmarked(each)) and id not in planned)
    if found:
        yield error(
            "not-marked-yet",
            "this run would remove objects that Pulumi does not keep yet, and they would be deleted with their data\n"
            f"{lines_of(found)}",
            "put back what is missing and run `tenantry up`, which marks them; then remove it; to delete them, set"
            " 'state: offboarding' instead",
        )


def _unmarked(resource: Mapping[str, Any]) -> ObjectId | None:
    """The object of a resource, if it can hold data and goes with the resource without having been off-boarded."""
    inputs = mapping_at(dict(resource), "inputs")
    id = readable_id(inputs)
    if id is None or not holds_data(group_of(id.api_version), id.kind) or resource.get("retainOnDelete"):
        return None
    return None if STATE_LABEL in labels_of(inputs) else id


def _split(urn: str) -> tuple[list[str], str]:
    """The types of a resource and of what it is below, the resource's own last; and its name."""
    parts = urn.split("::", 3)
    return (parts[2].split("$"), parts[3]) if len(parts) == 4 else ([""], "")
