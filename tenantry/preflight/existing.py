"""Secrets that the file says exist already: those beside kubeconfigs, one for all clusters, until they do."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tenantry.cluster.requests import in_parallel
from tenantry.flux.references import references
from tenantry.flux.schemas import kinds
from tenantry.kube.objects import KubeObject, Manifest, ObjectId
from tenantry.messages.errors import Problem, warning
from tenantry.messages.text import counted
from tenantry.plan.objects.scope import WATCHED
from tenantry.plan.plan import Plan


def check_existing(plan: Plan, read: Callable[[ObjectId], Manifest | None]) -> Iterator[Problem]:
    """A warning for each of these Secrets that is not there. read: gives an object without its values."""
    expected = expected_secrets(plan)
    (label,) = (f"{key}: {value}" for key, value in WATCHED.items())
    for (id, users), found in zip(expected.items(), in_parallel(read, expected), strict=True):
        if found is None:
            more = f" and {counted(len(users) - 1, 'more object')}" if len(users) > 1 else ""
            message = f"{id} does not exist (credentials with 'existing: true'): Flux reads it for {users[0].id}{more}"
            yield warning("no-secret", message, f"create it, once for all clusters, with the label '{label}'")


def expected_secrets(plan: Plan) -> dict[ObjectId, list[KubeObject]]:
    """The Secrets that clusters share and no run creates, each with the objects that name it."""
    planned, flux = {each.id for each in plan.objects}, set(kinds())
    found: dict[ObjectId, list[KubeObject]] = {}
    for user in plan.objects:
        for reference in references(user.id.kind, user.manifest["spec"]) if user.id.kind in flux else ():
            id = ObjectId("v1", "Secret", user.id.namespace, reference.name)
            # Only the names of what clusters share have a dot.
            if reference.kind == "Secret" and "." in reference.name and id not in planned:
                found.setdefault(id, []).append(user)
    return found
