"""An admission policy for tenants of the management cluster. It closes two gaps that Flux's multi-tenancy lockdown leaves open.

A role such as `admin` lets a tenant create Flux objects in its own namespace. Two of their fields reach beyond the namespace with
the rights of the controllers, either with any flags or unless rarely used flags are set:

- `dependsOn` can name objects in any namespace, and its `readyExpr` can read their fields, including values;
- `kubeConfig.configMapRef` can make a controller send its own token to an address that the tenant chooses.
"""

from __future__ import annotations

from tenantry.kube.objects import Manifest
from tenantry.plan.objects.scope import MANAGED_BY, ROLE_LABEL

POLICY = "tenantry-tenants"
_API = "admissionregistration.k8s.io/v1"
# Flux must be able to remove its finalizer from an object that is being deleted, whatever the object contains.
_LEAVING = "has(object.metadata.deletionTimestamp)"


def tenants_policy(platform: str) -> tuple[Manifest, Manifest]:
    """The policy for Flux objects in tenants' namespaces on a management cluster, and its binding.

    Args: platform: the namespace of add-ons, which tenants' apps may depend on.
    """
    metadata = {"name": POLICY, "labels": MANAGED_BY}
    tenants = {"matchLabels": {**MANAGED_BY, **ROLE_LABEL}}
    spec = {
        "failurePolicy": "Fail",
        # Written with all defaults: server-side apply treats this as one value, so appliers that omit a default conflict.
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
