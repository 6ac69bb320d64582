"""Where the kubeconfig of a remote cluster is, by what the main file says of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tenantry.policy.resource import mapping

_WRITTEN_BY = {
    "kamaji": ("controlPlane", "{}-admin-kubeconfig", "admin.conf"),
    "capi": ("cluster", "{}-kubeconfig", "value"),
    "vcluster": ("name", "vc-{}", "config"),
}
"""For each tool that writes kubeconfigs: the key with the cluster's name, the Secret's name, and its key."""


@dataclass(frozen=True, slots=True)
class Kubeconfig:
    """namespace: where the Secret or ConfigMap is; reference: the whole `kubeConfig` of Flux objects for the cluster."""

    namespace: str
    reference: Mapping[str, Mapping[str, str]]


def kubeconfig_of(written: Mapping[str, Any]) -> Kubeconfig | None:
    """What a cluster's `kubeconfig` in the file means to Flux; None: it says nothing."""
    for tool, (key, name, default) in _WRITTEN_BY.items():
        if given := mapping(written.get(tool)):
            reference = {"name": name.format(given.get(key)), "key": str(given.get("key") or default)}
            return Kubeconfig(str(given.get("namespace")), {"secretRef": reference})
    if secret := mapping(written.get("secret")):
        reference = {"name": str(secret.get("name")), "key": str(secret.get("key"))}
        return Kubeconfig(str(secret.get("namespace")), {"secretRef": reference})
    if config := mapping(written.get("configMap")):
        return Kubeconfig(str(config.get("namespace")), {"configMapRef": {"name": str(config.get("name"))}})
    return None
