"""What the attacker asks of the API servers directly, as its service account."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.faults.arena import HUB, PLACES, TENANT, Place
from tests.faults.commits import ADMISSION, RBAC, forbidden, intruder
from tests.faults.forgeries import KUBECONFIG, collection

FOREIGN = ("rocky", "movy", "tenantry-system", "kamaji-edge", "flux-system", "kube-system", "default")
"""Namespaces that are not the attacker's."""


@dataclass(frozen=True, slots=True)
class Request:
    """impersonating: whom the attacker pretends to be, beside being itself."""

    name: str
    method: str
    path: str
    refusal: str
    body: Mapping[str, Any] | None = None
    targets: tuple[str, ...] = ()
    places: tuple[Place, ...] = PLACES
    impersonating: str = ""

    @property
    def tried(self) -> str:
        played = f" as `{self.impersonating}`" if self.impersonating else ""
        return f"`{self.method} {self.path}`{played}"


def _named(kind: str, name: str = "intruder", **body: Any) -> dict[str, Any]:
    return {"kind": kind, "metadata": {"name": name}, **body}


def _core(namespace: str, rest: str) -> str:
    return f"/api/v1/namespaces/{namespace}/{rest}"


def _write(namespace: str) -> Request:
    return Request(
        f"write-{namespace}",
        "POST",
        _core(namespace, "configmaps"),
        forbidden("create", "configmaps", "", namespace),
        _named("ConfigMap"),
        (intruder(namespace),),
    )


_BINDING = {
    "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": "admin"},
    "subjects": [{"apiGroup": RBAC, "kind": "User", "name": TENANT}],
}
_QUOTA = _core(TENANT, "resourcequotas/tenantry")
_POLICY = f"/apis/{ADMISSION}/v1/validatingadmissionpolicybindings/tenantry-tenants"
_WEB = "/apis/apps/v1/namespaces/rocky/deployments/web"
_EVENT = {
    "kind": "Event",
    "metadata": {"name": "intruder"},
    "involvedObject": {"kind": "Deployment", "namespace": "rocky", "name": "web"},
    "reason": "a",
    "message": "b",
    "type": "Normal",
}

REQUESTS = (
    *(_write(namespace) for namespace in ("rocky", "tenantry-system", "kube-system", "default")),
    Request("read-secrets", "GET", _core("rocky", "secrets"), forbidden("list", "secrets", "", "rocky")),
    Request("read-all-secrets", "GET", "/api/v1/secrets", forbidden("list", "secrets")),
    Request(
        "read-kubeconfig",
        "GET",
        _core("kamaji-edge", f"secrets/{KUBECONFIG}"),
        forbidden("get", "secrets", "", "kamaji-edge"),
        targets=(_core("kamaji-edge", f"secrets/{KUBECONFIG}"),),
    ),
    Request("read-sources", "GET", collection("GitRepository", "rocky"), 'in the namespace "rocky"'),
    Request("delete-app", "DELETE", _WEB, forbidden("delete", "deployments", "apps", "rocky"), targets=(_WEB,)),
    Request("exec", "POST", _core("rocky", "pods/db-0/exec?command=sh"), forbidden("create", "pods/exec", "", "rocky")),
    Request("delete-quota", "DELETE", _QUOTA, forbidden("delete", "resourcequotas", "", TENANT), targets=(_QUOTA,)),
    Request(
        "own-namespace",
        "PATCH",
        f"/api/v1/namespaces/{TENANT}",
        forbidden("patch", "namespaces", "", TENANT),
        {"metadata": {"labels": {"toolkit.fluxcd.io/tenant": "rocky"}}},
        (f"/api/v1/namespaces/{TENANT}",),
    ),
    Request(
        "delete-namespace",
        "DELETE",
        "/api/v1/namespaces/rocky",
        forbidden("delete", "namespaces", "", "rocky"),
        targets=("/api/v1/namespaces/rocky",),
    ),
    Request(
        "bind-neighbour",
        "POST",
        f"/apis/{RBAC}/v1/namespaces/rocky/rolebindings",
        forbidden("create", "rolebindings", RBAC, "rocky"),
        _named("RoleBinding", **_BINDING),
        (f"/apis/{RBAC}/v1/namespaces/rocky/rolebindings/intruder",),
    ),
    Request(
        "bind-cluster",
        "POST",
        f"/apis/{RBAC}/v1/clusterrolebindings",
        forbidden("create", "clusterrolebindings", RBAC),
        _named("ClusterRoleBinding", **_BINDING),
        (f"/apis/{RBAC}/v1/clusterrolebindings/intruder",),
    ),
    Request(
        "neighbours-token",
        "POST",
        _core("rocky", "serviceaccounts/rocky/token"),
        forbidden("create", "serviceaccounts/token", "", "rocky"),
        {"kind": "TokenRequest", "apiVersion": "authentication.k8s.io/v1", "spec": {}},
    ),
    Request(
        "platforms-token",
        "POST",
        _core("kamaji-edge", "serviceaccounts/tenantry-platform/token"),
        forbidden("create", "serviceaccounts/token", "", "kamaji-edge"),
        {"kind": "TokenRequest", "apiVersion": "authentication.k8s.io/v1", "spec": {}},
    ),
    Request("events", "POST", _core(TENANT, "events"), "involvedObject.namespace", _EVENT),
    Request("node", "GET", "/api/v1/nodes/node-1/proxy/pods", forbidden("get", "nodes/proxy")),
    Request(
        "certificate",
        "POST",
        "/apis/certificates.k8s.io/v1/certificatesigningrequests",
        forbidden("create", "certificatesigningrequests", "certificates.k8s.io"),
        _named("CertificateSigningRequest"),
    ),
    Request(
        "impersonate-neighbour",
        "GET",
        _core("rocky", "secrets"),
        'cannot impersonate resource "serviceaccounts" in API group "" in the namespace "rocky"',
        places=(HUB,),
        impersonating="system:serviceaccount:rocky:rocky",
    ),
    Request(
        "impersonate-platform",
        "GET",
        "/api/v1/secrets",
        'cannot impersonate resource "serviceaccounts" in API group "" in the namespace "tenantry-system"',
        places=(HUB,),
        impersonating="system:serviceaccount:tenantry-system:tenantry-platform",
    ),
    Request(
        "flux-beside-kubeconfig",
        "POST",
        collection("Kustomization", "kamaji-edge"),
        forbidden("create", "kustomizations", "kustomize.toolkit.fluxcd.io", "kamaji-edge"),
        _named("Kustomization"),
        (f"{collection('Kustomization', 'kamaji-edge')}/intruder",),
        (HUB,),
    ),
    Request(
        "admission",
        "DELETE",
        _POLICY,
        forbidden("delete", "validatingadmissionpolicybindings", ADMISSION),
        targets=(_POLICY,),
        places=(HUB,),
    ),
)
