"""The objects of a Flux installation except its CRDs: the namespace, the controllers' service accounts and their rights.

The rights are those of an ordinary installation, under the same names.
"""

from collections.abc import Iterable
from typing import Any

from tenantry.sandbox.spec import Manifest

NAMESPACE = "flux-system"
CONTROLLERS = ("source-controller", "kustomize-controller", "helm-controller", "notification-controller")
RECONCILERS = ("kustomize-controller", "helm-controller")
"""The controllers that apply tenants' manifests."""
GROUPS = tuple(f"{area}.toolkit.fluxcd.io" for area in ("helm", "image", "kustomize", "notification", "source"))
EXTENSIONS = "source.extensions.fluxcd.io"
READ = ["get", "list", "watch"]
WRITE = ["create", "delete", "deletecollection", "patch", "update"]
AGGREGATE = "rbac.authorization.k8s.io/aggregate-to-"


def manifests() -> tuple[Manifest, ...]:
    """The objects, in an order in which they can be applied."""
    return (
        _object("v1", "Namespace", NAMESPACE),
        *(_object("v1", "ServiceAccount", name, namespace=NAMESPACE) for name in CONTROLLERS),
        _cluster_role("flux-edit", [_rule(_all_groups(), ["*"], WRITE)], aggregate_to=("admin", "edit")),
        _cluster_role("flux-view", [_rule(_all_groups(), ["*"], READ)], aggregate_to=("admin", "edit", "view")),
        _cluster_role("crd-controller", _controller_rules()),
        _binding("crd-controller", f"crd-controller-{NAMESPACE}", CONTROLLERS),
        _binding("cluster-reconciler", "cluster-admin", RECONCILERS),
    )


def user(controller: str) -> str:
    """The user name of a controller at the API server."""
    return f"system:serviceaccount:{NAMESPACE}:{controller}"


def groups() -> tuple[str, ...]:
    """The groups that every service account of the namespace is in."""
    return ("system:authenticated", "system:serviceaccounts", f"system:serviceaccounts:{NAMESPACE}")


def _all_groups() -> list[str]:
    return [*GROUPS, EXTENSIONS]


def _controller_rules() -> list[Manifest]:
    return [
        _rule(_all_groups(), ["*"], ["*"]),
        _rule([""], ["namespaces", "secrets", "configmaps", "serviceaccounts"], READ),
        _rule([""], ["events"], ["create", "patch"]),
        _rule([""], ["configmaps"], [*READ, "create", "update", "patch", "delete"]),
        _rule([""], ["configmaps/status"], ["get", "update", "patch"]),
        _rule(["coordination.k8s.io"], ["leases"], [*READ, "create", "update", "patch", "delete"]),
        _rule([""], ["serviceaccounts/token"], ["create"]),
        {"nonResourceURLs": ["/livez/ping"], "verbs": ["head"]},
    ]


def _rule(api_groups: list[str], resources: list[str], verbs: list[str]) -> Manifest:
    return {"apiGroups": api_groups, "resources": resources, "verbs": verbs}


def _cluster_role(name: str, rules: list[Manifest], aggregate_to: Iterable[str] = ()) -> Manifest:
    labels = {f"{AGGREGATE}{role}": "true" for role in aggregate_to}
    role = _object("rbac.authorization.k8s.io/v1", "ClusterRole", f"{name}-{NAMESPACE}", labels=labels)
    return {**role, "rules": rules}


def _binding(name: str, role: str, controllers: Iterable[str]) -> Manifest:
    binding = _object("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", f"{name}-{NAMESPACE}")
    subjects = [{"kind": "ServiceAccount", "name": each, "namespace": NAMESPACE} for each in controllers]
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role}
    return {**binding, "roleRef": reference, "subjects": subjects}


def _object(api_version: str, kind: str, name: str, **metadata: Any) -> dict[str, Any]:
    labels = {"app.kubernetes.io/part-of": "flux", **metadata.pop("labels", {})}
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name, "labels": labels, **metadata}}
