"""What a cluster needs once, before Flux can work on it; and the policies of admission.yaml among it.

By these policies API servers refuse what a tenant must not do by itself.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cache
from pathlib import Path
from string import Template
from typing import Any

import yaml

from tenantry.fleet.fleet import Fleet, platform_account
from tenantry.fleet.placement import addons_on
from tenantry.grants.grants import SHORTEST_INTERVAL
from tenantry.grants.rules import duration_paths
from tenantry.kube.objects import Manifest
from tenantry.messages.text import listed
from tenantry.model.durations import LONGEST_DURATION
from tenantry.plan.objects.baseline import NO_TOKEN
from tenantry.plan.objects.scope import ENVIRONMENT_LABEL, MANAGED_BY, ROLE_LABEL

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
    namespace = _named("Namespace", platform)
    if cluster == fleet.environments[environment].management:
        homes, acting = homes_of_addons(fleet, cluster), homes_of_addons(fleet, cluster, acting=True)
        return (
            namespace,
            *(_named("Namespace", home) for home in homes if home != platform),
            *({**_named("ServiceAccount", account, home), **NO_TOKEN} for home in acting),
            *(_binding(account, home) for home in acting),
            cluster_marker(platform, cluster),
            *management_policies(homes, shared_identity=fleet.document.platform.sharedIdentity),
        )
    assert declared.kubeconfig is not None  # a rule of the fleet
    remote_for = (name for name in declared.environments if cluster != fleet.environments[name].management)
    accounts = dict.fromkeys(platform_account(fleet, name, cluster) for name in remote_for)
    bindings = (_binding(account, declared.kubeconfig.resolved.namespace) for account in accounts)
    return (namespace, *bindings, cluster_marker(platform, cluster), *remote_policies())


def homes_of_addons(fleet: Fleet, hub: str, *, acting: bool = False) -> tuple[str, ...]:
    """The namespaces of add-ons' Flux objects on a management cluster, the platform's first.

    acting: only those in which Flux acts as the platform's account.
    """
    platform = fleet.document.platform
    own = (
        platform.addons[addon].namespace
        for name, environment in fleet.environments.items()
        if hub == environment.management and name in fleet.clusters[hub].environments
        for addon in addons_on(fleet, hub)
        if not acting or platform.addons[addon].account is None
    )
    return tuple(dict.fromkeys((platform.namespace, *sorted({namespace for namespace in own if namespace}))))


def _named(kind: str, name: str, namespace: str = "") -> Manifest:
    inside = {"namespace": namespace} if namespace else {}
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": name, **inside, "labels": MANAGED_BY}}


def cluster_marker(platform: str, cluster: str) -> Manifest:
    """The cluster's marker, so that no run mistakes it for another cluster."""
    return {**_named("ConfigMap", MARKER, platform), "data": {"cluster": cluster}}


def _binding(account: str, namespace: str) -> Manifest:
    """Add-ons install anything (CRDs, webhooks, roles), and baselines grant roles: both need all permissions."""
    return {
        "apiVersion": f"{_RBAC}/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": f"{account}-{namespace}", "labels": MANAGED_BY},
        "roleRef": {"apiGroup": _RBAC, "kind": "ClusterRole", "name": "cluster-admin"},
        "subjects": [{"apiGroup": _RBAC, "kind": "User", "name": f"system:serviceaccount:{namespace}:{account}"}],
    }


# --- the policies -----------------------------------------------------------------------------------------------------


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
        "shortest": SHORTEST_INTERVAL,
        "longest": longest,
        "long_enough": _durations(_INTERVALS, f">= duration('{SHORTEST_INTERVAL}')"),
        "short_enough": _durations(duration_paths(), f"<= duration('{longest}')"),
    }
    chosen = (policy for policy in _declared()["policies"] if policy["clusters"] in clusters)
    made = (_with_binding(policy, texts, shared_identity=shared_identity) for policy in chosen)
    return tuple(manifest for both in made for manifest in both)


def _durations(paths: Sequence[str], bound: str) -> str:
    of_spec = (f"object.spec.?{path.replace('.', '.?')}.orValue('{SHORTEST_INTERVAL}')" for path in paths)
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
