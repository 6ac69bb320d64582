"""Checks that the management cluster has the admission policy that `tenantry cluster bootstrap` of this version creates."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tenantry.compare.fields import changed_fields, projected
from tenantry.kube.objects import Manifest, ObjectId, object_id
from tenantry.messages.problems import Problem, warning
from tenantry.plan.admission_policy import tenants_policy


def check_policy(platform: str, management: str, read: Callable[[ObjectId], Manifest | None]) -> Iterator[Problem]:
    """Args: platform: the platform's namespace. read: an object of the management cluster.

    Raises: Refused: it cannot be read.
    """
    fix = f"tenantry cluster bootstrap {management} --kubeconfig FILE --context NAME"
    for wanted in tenants_policy(platform):
        id = object_id(wanted)
        there = read(id)
        if there is None:
            message = f"'{management}' has no {id}: a tenant's own Flux objects can refer to objects of other tenants"
            yield warning("no-policy", message, fix)
        elif any(changed_fields(projected(there["spec"], wanted["spec"]), wanted["spec"])):
            message = f"{id} on '{management}' differs from what this version of Tenantry creates"
            yield warning("other-policy", message, fix)
