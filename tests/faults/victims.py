"""Everything on a cluster that is not the attacker's."""

from __future__ import annotations

from typing import Any

from tests.faults.api import Api, lasting
from tests.faults.arena import TENANT

_COLLECTIONS = (
    *(
        f"/api/v1/{each}"
        for each in ("namespaces", "secrets", "configmaps", "serviceaccounts", "services", "limitranges")
    ),
    "/api/v1/resourcequotas",
    *(f"/apis/apps/v1/{each}" for each in ("deployments", "statefulsets", "daemonsets")),
    "/apis/networking.k8s.io/v1/networkpolicies",
    *(
        f"/apis/rbac.authorization.k8s.io/v1/{each}"
        for each in ("clusterroles", "clusterrolebindings", "roles", "rolebindings")
    ),
    *(
        f"/apis/admissionregistration.k8s.io/v1/{each}"
        for each in ("mutatingwebhookconfigurations", "validatingwebhookconfigurations", "validatingadmissionpolicies")
    ),
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
    "/apis/scheduling.k8s.io/v1/priorityclasses",
    "/apis/kustomize.toolkit.fluxcd.io/v1/kustomizations",
    "/apis/helm.toolkit.fluxcd.io/v2/helmreleases",
    "/apis/source.toolkit.fluxcd.io/v1/gitrepositories",
    "/apis/source.toolkit.fluxcd.io/v1/helmrepositories",
)


def belongings(api: Api) -> dict[str, dict[str, Any]]:
    """Objects by path and name, without status; kinds that the cluster does not have are left out."""
    found = {}
    for path in _COLLECTIONS:
        for item in api.ask("GET", path).body.get("items", []):
            namespace, name = item["metadata"].get("namespace", ""), item["metadata"]["name"]
            # On the management cluster the attacker's objects for remotes lie in another namespace, and carry its name.
            if not namespace.startswith(TENANT) and TENANT not in name:
                found[f"{path} {namespace}/{name}"] = lasting(item)
    return found
