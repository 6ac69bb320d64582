"""What Flux's own locks leave open to a tenant of the management cluster, refused there by the API server itself.

A role such as `admin` lets a tenant make Flux objects in its own namespace. Two of their fields reach out of it with the
controllers' rights, whatever flags these run with, or unless they have flags that few set:

- `dependsOn` may name objects of any namespace, and its `readyExpr` asks what stands in them, in their values too;
- `kubeConfig.configMapRef` may have a controller present a token of its own at an address of the tenant's choice.
"""

from __future__ import annotations

from tenantry.kube.objects import Manifest
from tenantry.plan.objects.scope import MANAGED_BY, ROLE_LABEL

POLICY = "tenantry-tenants"
_API = "admissionregistration.k8s.io/v1"
# Whatever stands in an object that is being deleted, Flux has to be able to take its finalizer off.
_LEAVING = "has(object.metadata.deletionTimestamp)"


def tenants_policy(platform: str) -> tuple[Manifest, Manifest]:
    """The policy for Flux objects in tenants' namespaces of a management cluster, and its binding.

    Args: platform: the namespace of add-ons, for which tenants' apps may wait.
    """
    metadata = {"name": POLICY, "labels": MANAGED_BY}
    tenants = {"matchLabels": {**MANAGED_BY, **ROLE_LABEL}}
    spec = {
        "failurePolicy": "Fail",
        # With what the API server would add: it takes all of this for one value, so two who apply less are in conflict.
        "matchConstraints": {
            "matchPolicy": "Equivalent",
            "namespaceSelector": tenants,
            "objectSelector": {},
            "resourceRules": [
                _rule("kustomize.toolkit.fluxcd.io", "kustomizations"),
                _rule("helm.toolkit.fluxcd.io", "helmreleases"),
            ],
        },
        "validations": [_own_dependencies(platform), _no_controller_tokens()],
    }
    binding = {"policyName": POLICY, "validationActions": ["Deny"]}
    return (
        {"apiVersion": _API, "kind": "ValidatingAdmissionPolicy", "metadata": metadata, "spec": spec},
        {"apiVersion": _API, "kind": "ValidatingAdmissionPolicyBinding", "metadata": metadata, "spec": binding},
    )


def _rule(group: str, resource: str) -> Manifest:
    operations = ["CREATE", "UPDATE"]
    return {"apiGroups": [group], "apiVersions": ["*"], "operations": operations, "resources": [resource], "scope": "*"}


def _own_dependencies(platform: str) -> Manifest:
    own = "!has(each.namespace) || each.namespace == object.metadata.namespace"
    addon = f"each.namespace == '{platform}' && !has(each.readyExpr)"
    return {
        "expression": f"{_LEAVING} || !has(object.spec.dependsOn) || object.spec.dependsOn.all(each, {own} || ({addon}))",
        "message": f"a tenant's dependsOn names its own namespace, or without a readyExpr '{platform}'",
    }


def _no_controller_tokens() -> Manifest:
    return {
        "expression": f"{_LEAVING} || !has(object.spec.kubeConfig) || !has(object.spec.kubeConfig.configMapRef)",
        "message": "a tenant's kubeConfig is a Secret of its own: with configMapRef Flux would lend it its own identity",
    }
