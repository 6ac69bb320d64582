"""The policies of admission.yaml, which `bootstrap` installs: API servers refuse what a tenant must not do by itself."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cache
from pathlib import Path
from string import Template
from typing import Any

import yaml

from tenantry.grants.grants import POLICYS_SHORTEST
from tenantry.grants.limits import duration_paths
from tenantry.kube.objects import Manifest
from tenantry.messages.text import listed
from tenantry.model.durations import LONGEST_DURATION
from tenantry.plan.objects.scope import ENVIRONMENT_LABEL, MANAGED_BY, ROLE_LABEL

_API = "admissionregistration.k8s.io/v1"
_FLEETS = {"matchExpressions": [{"key": ENVIRONMENT_LABEL, "operator": "Exists"}], "matchLabels": ROLE_LABEL}
"""The tenants' namespaces of all environments."""
DEPLOYING = ("tenantry", "fleets", "deploy")
"""The API group, the resource and the verb of a right that only these policies ask for. Who has it on the whole cluster counts as
the platform with few rights: otherwise an account would have to write in all namespaces, also Secrets, to run a stack.
"""
_INTERVALS = (
    *("interval", "retryInterval", "chart.spec.interval"),
    *("install.strategy.retryInterval", "upgrade.strategy.retryInterval"),
)


def management_policies(platform: Sequence[str], *, shared_identity: bool) -> tuple[Manifest, ...]:
    """The policies of a management cluster, each with its binding.

    Args: platform: the namespaces of add-ons. shared_identity: whether tenants may use the controllers' cloud identity.
    """
    return _policies(("management", "remote", "labels"), platform, shared_identity=shared_identity)


def remote_policies() -> tuple[Manifest, ...]:
    """The policies of every cluster, each with its binding."""
    return _policies(("remote", "labels"))


def label_policies() -> tuple[Manifest, ...]:
    """The policies that keep the fleet's labels and annotations from tenants, each with its binding."""
    return _policies(("labels",))


@cache
def _declared() -> Any:
    """The content of admission.yaml."""
    return yaml.load(Path(__file__).with_name("admission.yaml").read_bytes(), Loader=yaml.CSafeLoader)


def _policies(
    clusters: Collection[str], platform: Sequence[str] = (), *, shared_identity: bool = False
) -> tuple[Manifest, ...]:
    longest = f"{int(LONGEST_DURATION // 3600)}h"
    texts = {
        **_declared()["texts"],
        "deploys": "authorizer.group('{}').resource('{}').check('{}').allowed()".format(*DEPLOYING),
        "addons": listed(map(repr, platform)),
        "are_addons": f"== '{platform[0]}'" if len(platform) == 1 else f"in {list(platform)}",
        "shortest": POLICYS_SHORTEST,
        "longest": longest,
        "long_enough": _durations(_INTERVALS, f">= duration('{POLICYS_SHORTEST}')"),
        "short_enough": _durations(duration_paths(), f"<= duration('{longest}')"),
    }
    chosen = (policy for policy in _declared()["policies"] if policy["clusters"] in clusters)
    made = (_with_binding(policy, texts, shared_identity=shared_identity) for policy in chosen)
    return tuple(manifest for both in made for manifest in both)


def _durations(paths: Sequence[str], bound: str) -> str:
    of_spec = (f"object.spec.?{path.replace('.', '.?')}.orValue('{POLICYS_SHORTEST}')" for path in paths)
    return " && ".join(f"duration({duration}) {bound}" for duration in of_spec)


def _with_binding(policy: Manifest, texts: Mapping[str, str], *, shared_identity: bool) -> tuple[Manifest, Manifest]:
    def filled(text: str) -> str:
        return Template(text).safe_substitute(texts)

    def named(expressions: Mapping[str, str]) -> list[dict[str, str]]:
        return [{"name": name, "expression": filled(text)} for name, text in expressions.items()]

    validations = [*policy["validations"], *(() if shared_identity else policy.get("without_shared_identity", ()))]
    # With what the API server would add: it takes all of this for one value, so two who apply less are in conflict.
    constraints = {
        "matchPolicy": "Equivalent",
        "namespaceSelector": policy.get("selector", _FLEETS),
        "objectSelector": {},
        "resourceRules": [
            {
                "apiGroups": [group],
                "operations": policy["operations"],
                "resources": resources,
                "apiVersions": ["*"],
                "scope": policy.get("scope", "*"),
            }
            for group, resources in policy["resources"].items()
        ],
    }
    spec = {
        "failurePolicy": "Fail",
        "matchConstraints": constraints,
        **({"matchConditions": named(policy["conditions"])} if "conditions" in policy else {}),
        **({"variables": named(policy["variables"])} if "variables" in policy else {}),
        "validations": [{key: filled(rule[key]) for key in ("expression", "message")} for rule in validations],
    }
    metadata = {"name": policy["name"], "labels": MANAGED_BY}
    binding = {"policyName": policy["name"], "validationActions": ["Deny"]}
    return (
        {"apiVersion": _API, "kind": "ValidatingAdmissionPolicy", "metadata": metadata, "spec": spec},
        {"apiVersion": _API, "kind": "ValidatingAdmissionPolicyBinding", "metadata": metadata, "spec": binding},
    )
