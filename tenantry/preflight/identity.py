"""Checks that no two clusters of the file are one and the same cluster, whatever their kubeconfigs are called."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from tenantry.cluster.requests import one
from tenantry.kube.objects import ObjectId
from tenantry.messages.errors import Problem, Refused, error

if TYPE_CHECKING:
    from tenantry.cluster.client import Client


def identity(client: Client) -> str:
    """What no other cluster has: the uid of a namespace that every cluster makes for itself. "": it cannot be read."""
    try:
        there = one(client, ObjectId("v1", "Namespace", "", "kube-system"))
    except Refused:
        return ""
    return str(there["metadata"].get("uid", "")) if there else ""


def same_clusters(identities: Mapping[str, str]) -> Iterator[Problem]:
    """Clusters of the file whose kubeconfigs lead to one and the same cluster."""
    first: dict[str, str] = {}
    for name, uid in identities.items():
        other = first.setdefault(uid, name)
        if uid and other != name:
            yield error(
                "same-cluster",
                f"'{other}' and '{name}' are one cluster: both have the same 'kube-system' namespace, so removing a tenant"
                " from one removes it from the other",
                "declare the cluster once, or have the kubeconfigs written for the clusters that are meant",
            )
