"""Admission that changes what is written, as policies of a platform do: it adds a field, and it sets a planned one otherwise."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from tests.e2e.clusters import eventually
from tests.faults.api import Api

ADMISSION = "/apis/admissionregistration.k8s.io/v1"
ADDED = "example.com/cost-centre"
"""An annotation that every object gets."""
OVERWRITTEN = re.compile(r": Kustomization \S+: spec\.timeout is '7m0s', planned is ")
"""How a comparison tells the planned field that always gets another value."""
_EVERYWHERE = (
    ("", "v1", ("namespaces", "serviceaccounts", "resourcequotas", "limitranges", "configmaps")),
    ("rbac.authorization.k8s.io", "v1", ("rolebindings",)),
    ("networking.k8s.io", "v1", ("networkpolicies",)),
    ("source.toolkit.fluxcd.io", "v1", ("gitrepositories",)),
    ("helm.toolkit.fluxcd.io", "v2", ("helmreleases",)),
)
_KUSTOMIZATIONS = (("kustomize.toolkit.fluxcd.io", "v1", ("kustomizations",)),)
_ANNOTATED = f'metadata: Object.metadata{{annotations: {{"{ADDED}": "1"}}}}'


def install(api: Api) -> None:
    """Have a cluster's API server change what is written from now on."""
    _policy(api, "annotates", _EVERYWHERE, f"Object{{{_ANNOTATED}}}")
    _policy(api, "overwrites", _KUSTOMIZATIONS, f'Object{{{_ANNOTATED}, spec: Object.spec{{timeout: "7m0s"}}}}')
    probe = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "probe"}}
    made = "/api/v1/namespaces/default/configmaps?dryRun=All"
    eventually(lambda: ADDED in api.ask("POST", made, probe).body["metadata"].get("annotations", {}), "admission")


def _policy(api: Api, name: str, resources: Sequence[tuple[str, str, Sequence[str]]], expression: str) -> None:
    rules = [
        {"apiGroups": [group], "apiVersions": [version], "operations": ["CREATE", "UPDATE"], "resources": [*plurals]}
        for group, version, plurals in resources
    ]
    spec = {
        "matchConstraints": {"resourceRules": rules},
        "failurePolicy": "Fail",
        "reinvocationPolicy": "Never",
        "mutations": [{"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": expression}}],
    }
    _make(api, "mutatingadmissionpolicies", "MutatingAdmissionPolicy", name, spec)
    _make(api, "mutatingadmissionpolicybindings", "MutatingAdmissionPolicyBinding", name, {"policyName": name})


def _make(api: Api, plural: str, kind: str, name: str, spec: Mapping[str, Any]) -> None:
    body = {"apiVersion": "admissionregistration.k8s.io/v1", "kind": kind, "metadata": {"name": name}, "spec": spec}
    answer = api.ask("POST", f"{ADMISSION}/{plural}", body)
    assert not answer.message, answer.message
