"""Checks that no two clusters of the file are one and the same cluster, whatever their kubeconfigs are called."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tenantry.messages.errors import Problem, error


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
