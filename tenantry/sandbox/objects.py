"""Objects that the sandbox creates on its clusters: simulated nodes, and the kubeconfig Secrets of the remote clusters."""

import base64
from typing import Any

from tenantry.sandbox.access import Access
from tenantry.sandbox.spec import Manifest, RemoteSpec

NODES = ("node-1", "node-2")
"""Two, so that a workload that spreads its replicas over nodes becomes Ready, too."""
CAPACITY = {"cpu": "64", "memory": "256Gi", "ephemeral-storage": "1Ti", "pods": "1000"}
MANAGED = {"app.kubernetes.io/managed-by": "tenantry-sandbox"}


def node(name: str) -> Manifest:
    """A node that exists in the API only."""
    labels = {
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "topology.kubernetes.io/zone": f"zone-{name[-1]}",
    }
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels, "annotations": {"kwok.x-k8s.io/node": "fake"}},
        "status": {"capacity": CAPACITY, "allocatable": CAPACITY},
    }


def kubeconfig_objects(remote: RemoteSpec, access: Access) -> tuple[Manifest, ...]:
    """The Secret with a remote's kubeconfig, and its namespace."""
    # The label makes Flux reconcile as soon as the Secret appears or changes.
    labels = {**MANAGED, "reconcile.fluxcd.io/watch": "Enabled"}
    secret: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": remote.secret, "namespace": remote.namespace, "labels": labels},
        "data": {remote.key: base64.b64encode(access.kubeconfig().encode()).decode()},
    }
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": remote.namespace, "labels": MANAGED}}
    return (namespace, secret)
