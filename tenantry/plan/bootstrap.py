"""What a cluster needs once, before Flux can work on it."""

from __future__ import annotations

from collections.abc import Container

from tenantry.fleet.fleet import Fleet, platform_account
from tenantry.fleet.placement import addons_on
from tenantry.kube.objects import Manifest
from tenantry.plan.admission import management_policies, remote_policies
from tenantry.plan.objects.remote import NO_TOKEN
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
    namespace = _namespace(platform)
    if cluster == fleet.environments[environment].management:
        homes, acting = homes_of_addons(fleet, cluster), homes_of_accounts(fleet, cluster)
        return (
            namespace,
            *(_namespace(home) for home in homes if home != platform),
            *(_account(account, home) for home in acting),
            *(_binding(account, home) for home in acting),
            cluster_marker(platform, cluster),
            *management_policies(homes, shared_identity=fleet.document.platform.sharedIdentity),
        )
    assert declared.kubeconfig is not None  # a rule of the fleet
    remote_for = (name for name in declared.environments if cluster != fleet.environments[name].management)
    accounts = dict.fromkeys(platform_account(fleet, name, cluster) for name in remote_for)
    bindings = (_binding(account, declared.kubeconfig.resolved.namespace) for account in accounts)
    return (namespace, *bindings, cluster_marker(platform, cluster), *remote_policies())


def homes_of_accounts(fleet: Fleet, hub: str) -> tuple[str, ...]:
    """Those of `homes_of_addons` in which Flux acts as the platform's account."""
    return _homes(fleet, hub, [name for name, addon in fleet.document.platform.addons.items() if addon.account is None])


def homes_of_addons(fleet: Fleet, hub: str) -> tuple[str, ...]:
    """The namespaces of add-ons' Flux objects on a management cluster, the platform's first."""
    return _homes(fleet, hub, fleet.document.platform.addons)


def _homes(fleet: Fleet, hub: str, addons: Container[str]) -> tuple[str, ...]:
    platform = fleet.document.platform
    managed = [name for name, environment in fleet.environments.items() if hub == environment.management]
    own = (
        platform.addons[addon].namespace
        for environment in managed
        if environment in fleet.clusters[hub].environments
        for addon in addons_on(fleet, hub)
        if addon in addons
    )
    return tuple(dict.fromkeys((platform.namespace, *sorted({namespace for namespace in own if namespace}))))


def _namespace(name: str) -> Manifest:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": MANAGED_BY}}


def _account(name: str, namespace: str) -> Manifest:
    metadata = {"name": name, "namespace": namespace, "labels": MANAGED_BY}
    return {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata, **NO_TOKEN}


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
