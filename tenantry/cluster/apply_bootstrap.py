"""Applies the bootstrap manifests to a cluster for an administrator. No stack owns them afterwards.

Everything is asked for before the first change: the platform's rights are not granted on a cluster that would not take the rest.

Fields that another field manager owns are not overwritten: the conflict names the manager, and the administrator decides.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import TYPE_CHECKING

from tenantry.cluster import requests
from tenantry.cluster.drift import essence
from tenantry.cluster.kubectl import mark
from tenantry.kube.objects import Manifest, ObjectId, object_id
from tenantry.messages.data import mapping_at
from tenantry.messages.errors import Refused
from tenantry.plan.bootstrap import MARKER

if TYPE_CHECKING:
    from tenantry.cluster.client import Client

FIELD_MANAGER = "tenantry"


class Outcome(StrEnum):
    CREATED = "created"
    CHANGED = "changed"
    UNCHANGED = "unchanged"


def apply(client: Client, manifests: Iterable[Manifest]) -> Iterator[tuple[ObjectId, Outcome]]:
    """Apply manifests in order by server-side apply, and report what that did to each.

    Raises: Refused: the cluster is marked as another one, lacks a kind, or would reject one of them, and nothing is applied.
            httpx2.RequestError: no answer.
    """
    manifests = list(manifests)
    _check_marker(client, manifests)
    _rehearse(client, manifests)
    for manifest in manifests:
        id = object_id(manifest)
        before = requests.one(client, id)
        after = requests.applied(client, id, manifest, manager=FIELD_MANAGER, force=False, dry_run=False)
        if before is None:
            yield id, Outcome.CREATED
        else:
            yield id, Outcome.UNCHANGED if after and essence(before) == essence(after) else Outcome.CHANGED


def _check_marker(client: Client, manifests: Iterable[Manifest]) -> None:
    """Raises: Refused: the marker on the cluster has another name."""
    for manifest in manifests:
        id = object_id(manifest)
        if (id.kind, id.name) == ("ConfigMap", MARKER):
            name = manifest["data"]["cluster"]
            marked = mapping_at(requests.one(client, id) or {}, "data").get("cluster") or name
            if marked != name:
                raise Refused(
                    f"this cluster is marked as '{marked}', not as '{name}' ({id})",
                    f"name the kubeconfig of '{name}' with --kubeconfig and --context; if '{marked}' was renamed in the file:"
                    f" {mark(id.namespace, name)}",
                )


def _rehearse(client: Client, manifests: Iterable[Manifest]) -> None:
    """Raises: Refused: in a dry run, the cluster does not take a manifest, or does not have the admission policies yet."""
    missing: set[str] = set()
    for manifest in manifests:
        id = object_id(manifest)
        if id.namespace in missing:
            # A dry run creates no namespace, so the cluster would reject the objects in it.
            continue
        if id.kind == "Namespace" and requests.one(client, id) is None:
            missing.add(id.name)
        try:
            after = requests.applied(client, id, manifest, manager=FIELD_MANAGER, force=False)
        except requests.Conflict as conflict:
            raise Refused(
                conflict.message,
                "if kubectl applied them: tenantry bootstrap NAME | kubectl apply -f -; otherwise remove these fields from the"
                " other manager's configuration, or rename the platform's objects",
            ) from None
        if after is None:
            raise Refused(
                f"the cluster does not serve {id.kind}, without which tenants could leave their namespaces; nothing was changed",
                "upgrade the cluster to Kubernetes 1.30 or later, then run the command again",
            )
