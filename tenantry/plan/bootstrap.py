"""What a cluster needs once, before Flux can work on it: the platform's namespace, and its service account's permissions.

Every cluster gets the policies that keep tenants inside their namespaces, and a marker with its name, by which a kubeconfig that
reaches another cluster than before is noticed. The marker is on the cluster itself: it shares the fate of what it protects, and
outlives a management cluster that is lost.

Flux cannot create these for itself, and no stack owns them: an administrator applies them to a remote cluster, and they stay.
"""

from __future__ import annotations

from tenantry.fleet.fleet import Fleet
from tenantry.fleet.sharing import platform_account
from tenantry.kube.objects import Manifest
from tenantry.plan.admission_policy import management_policies, remote_policies
from tenantry.plan.objects.scope import MANAGED_BY

MARKER = "tenantry"
"""The ConfigMap in the platform's namespace that says which cluster this is."""

_RBAC = "rbac.authorization.k8s.io"


def bootstrap(fleet: Fleet, environment: str, cluster: str) -> tuple[Manifest, ...]:
    """The manifests for one cluster of an environment, the Namespace first.

    On the management cluster the service account itself is among them; on a remote only its user is bound, because the
    account lies beside the kubeconfig on the management cluster. All its environments' are, whichever is named.
    """
    declared = fleet.clusters[cluster]
    platform = fleet.document.platform.namespace
    account = declared.platformServiceAccount
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": platform, "labels": MANAGED_BY}}
    if cluster == fleet.environments[environment].management:
        metadata = {"name": account, "namespace": platform, "labels": MANAGED_BY}
        return (
            namespace,
            {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata},
            _binding(account, platform),
            cluster_marker(platform, cluster),
            *management_policies(platform, shared_identity=fleet.document.platform.sharedIdentity),
        )
    assert declared.kubeconfig is not None  # a rule of the fleet
    remote_for = (each for each in declared.environments if fleet.environments[each].management != cluster)
    accounts = dict.fromkeys(platform_account(fleet, each, cluster) for each in remote_for)
    bindings = (_binding(each, declared.kubeconfig.resolved.namespace) for each in accounts)
    return (namespace, *bindings, cluster_marker(platform, cluster), *remote_policies())


def cluster_marker(platform: str, cluster: str) -> Manifest:
    """The cluster's marker, so that no run mistakes it for another cluster."""
    metadata = {"name": MARKER, "namespace": platform, "labels": MANAGED_BY}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"cluster": cluster}}


def _binding(account: str, namespace: str) -> Manifest:
    """Add-ons install anything (CRDs, webhooks, roles), and baselines grant roles: both need all permissions."""
    return {
        "apiVersion": f"{_RBAC}/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": f"{account}-{namespace}", "labels": MANAGED_BY},
        "roleRef": {"apiGroup": _RBAC, "kind": "ClusterRole", "name": "cluster-admin"},
        "subjects": [{"apiGroup": _RBAC, "kind": "User", "name": f"system:serviceaccount:{namespace}:{account}"}],
    }
