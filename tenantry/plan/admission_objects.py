"""An admission policy of an API server, of expressions and messages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tenantry.kube.objects import Manifest
from tenantry.plan.objects.scope import ENVIRONMENT_LABEL, MANAGED_BY, ROLE_LABEL

Rule = tuple[str, str]
"""An expression that is true of objects that are allowed, and what the author of another one is told."""
_API = "admissionregistration.k8s.io/v1"
_OF_ENVIRONMENT = {"key": ENVIRONMENT_LABEL, "operator": "Exists"}
FLEETS = {"matchExpressions": [_OF_ENVIRONMENT], "matchLabels": ROLE_LABEL}
"""The tenants' namespaces of all environments."""


def policy(
    name: str,
    rules: list[Manifest],
    conditions: Mapping[str, str],
    variables: Mapping[str, str],
    validations: Iterable[Rule],
    selector: Manifest = FLEETS,
) -> tuple[Manifest, Manifest]:
    """A policy and its binding. Args: rules: the requests that it looks at; conditions: which of these it judges."""
    metadata = {"name": name, "labels": MANAGED_BY}
    # With what the API server would add: it takes all of this for one value, so two who apply less are in conflict.
    constraints = {
        "matchPolicy": "Equivalent",
        "namespaceSelector": selector,
        "objectSelector": {},
        "resourceRules": rules,
    }
    spec = {
        "failurePolicy": "Fail",
        "matchConstraints": constraints,
        **({"matchConditions": _named(conditions)} if conditions else {}),
        **({"variables": _named(variables)} if variables else {}),
        "validations": [{"expression": text, "message": message} for text, message in validations],
    }
    binding = {"policyName": name, "validationActions": ["Deny"]}
    return (
        {"apiVersion": _API, "kind": "ValidatingAdmissionPolicy", "metadata": metadata, "spec": spec},
        {"apiVersion": _API, "kind": "ValidatingAdmissionPolicyBinding", "metadata": metadata, "spec": binding},
    )


def _named(expressions: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"name": name, "expression": text} for name, text in expressions.items()]


def matched(group: str, resources: tuple[str, ...], *operations: str) -> Manifest:
    """Requests that a policy looks at."""
    asked = {"apiGroups": [group], "operations": list(operations), "resources": list(resources)}
    return {**asked, "apiVersions": ["*"], "scope": "*"}
