"""What the objects of Kubernetes' own kinds may hold that the fleet makes for a tenant, and the release of its baseline."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tenantry.policy.fields.table import (
    BINDING,
    INTERVAL,
    KUBECONFIG,
    OWN_NAME,
    Check,
    Each,
    Filled,
    Keys,
    Table,
    anything,
    duration,
    number,
    problems,
    quantity,
    text,
    word,
)
from tenantry.policy.main_file import LONGEST_RELEASE, filled_in
from tenantry.policy.resource import TENANT, as_text, entries, mapping, texts
from tenantry.policy.tenants import APP, ENVIRONMENT

_SELECTOR: Table = {
    "matchLabels": Keys(text),
    "matchExpressions": Each(
        {"key": text, "operator": word("In", "NotIn", "Exists", "DoesNotExist"), "values": Each(text)}
    ),
}
_PEERS = Each(
    {
        "podSelector": _SELECTOR,
        "namespaceSelector": _SELECTOR,
        "ipBlock": {"cidr": text, "except": Each(text)},
    }
)
_PORTS = Each({"protocol": word("TCP", "UDP", "SCTP"), "port": quantity, "endPort": number})
_POLICY: Table = {
    "podSelector": _SELECTOR,
    "policyTypes": Each(word("Ingress", "Egress")),
    "ingress": Each({"from": _PEERS, "ports": _PORTS}),
    "egress": Each({"to": _PEERS, "ports": _PORTS}),
}
_ISOLATED = "isolated"


def network_policy(value: Any, of: Filled) -> str:
    """The spec of a NetworkPolicy: the one that isolates, or as the main file writes it; any, if that grants `network`."""
    name, frame, place = of.resource.name.removeprefix("tenantry-"), of.place.frame, of.place
    key = frame.extra(place.environment).get(of.resource.namespace, "")
    if of.resource.name == f"tenantry-{_ISOLATED}":
        is_strict = _is_strict(mapping(value), of)
        may_be_isolated = frame.network_base(key) != "strict" or frame.leaves("network")
        return "" if is_strict or (may_be_isolated and _isolates(mapping(value), of)) else "admits others"
    written = mapping(frame.network_policies(key).get(name))
    if of.resource.name.startswith("tenantry-") and written:
        wanted = filled_in(written, place.variables())
        return "" if as_text(_completed(value)) == as_text(_completed(wanted)) else "is not as the main file says"
    if not frame.leaves("network"):
        return "is a policy that the main file does not have"
    return next((f"{problem} ({path})" for path, problem in problems(_POLICY, value, of, "spec")), "")


_OUTSIDE = {"key": TENANT, "operator": "DoesNotExist"}


def _isolates(spec: Mapping[str, Any], of: Filled) -> bool:
    """Whether a policy lets in nobody but the tenant's own pods, and those in namespaces without a tenant."""
    given = as_text(spec)
    peers = [peer for rule in entries(given.get("ingress")) for peer in entries(rule.get("from"))]
    wanted = {"podSelector": {}, "policyTypes": ["Ingress"], "ingress": [{"from": peers}]}
    allowed = [*_own_peers(of), {"namespaceSelector": {"matchExpressions": [_OUTSIDE]}}]
    return bool(peers) and given == wanted and all(peer in allowed for peer in peers)


def _is_strict(spec: Mapping[str, Any], of: Filled) -> bool:
    """Whether a policy lets in nobody but the tenant's own pods and those in namespaces of add-ons, and out to its own pods, to DNS
    and to port 6443 of private addresses.
    """
    given = as_text(spec)
    addons = {"namespaceSelector": {"matchExpressions": [{"key": APP, "operator": "Exists"}, _OUTSIDE]}}
    out = _own_peers(of)[: len(entries(next(iter(entries(given.get("egress"))), {}).get("to")))]
    wanted = {
        "podSelector": {},
        "policyTypes": ["Ingress", "Egress"],
        "ingress": [{"from": [*out, addons]}],
        "egress": [{"to": out}, *_SERVERS],
    }
    return bool(out) and given == as_text(wanted)


def _own_peers(of: Filled) -> list[dict[str, Any]]:
    own = {TENANT: of.place.tenant, ENVIRONMENT: of.place.environment}
    return [{"podSelector": {}}, {"namespaceSelector": {"matchLabels": own}}]


_PRIVATE = [{"ipBlock": {"cidr": each}} for each in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")]
_SERVERS = [
    {
        "to": [{"namespaceSelector": {"matchExpressions": [_OUTSIDE]}}, {"ipBlock": {"cidr": "169.254.20.10/32"}}],
        "ports": [{"protocol": "UDP", "port": 53}, {"protocol": "TCP", "port": 53}],
    },
    {
        "to": [*_PRIVATE, {"ipBlock": {"cidr": "fc00::/7", "except": ["fd00:ec2::254/128"]}}],
        "ports": [{"protocol": "TCP", "port": 6443}],
    },
]
"""Where the pods of a strict tenant may connect to beside its own: name servers, and API servers."""


def _completed(spec: Any) -> dict[str, Any]:
    """A policy with what the fleet adds to what is written."""

    def rules(key: str) -> list[dict[str, Any]]:
        return [
            {**each, "ports": [{"protocol": "TCP", **port} for port in each["ports"]]}
            if each.get("ports")
            else {**each}
            for each in spec[key] or ()
        ]

    lists = {key: rules(key) for key in ("ingress", "egress") if spec.get(key) is not None}
    return {"podSelector": {}, **spec, **lists}


def pull_secrets(value: Any, of: Filled) -> str:
    """Those that the main file gives the account of the tenant's pods."""
    declared = of.place.frame.of_account.get("imagePullSecrets") if of.is_on_target else ()
    wanted = [{"name": text} for text in texts(declared)]
    return "" if as_text(value) == wanted else "pulls images with other Secrets than the main file names"


def _no_token(value: Any, _: Filled) -> str:
    return "" if value is False else "gives pods a token"


_SUBJECTS = Each(dict.fromkeys(("apiGroup", "kind", "name", "namespace"), BINDING))
_RESOURCES = Keys(quantity)
OBJECTS: Mapping[tuple[str, str], Table] = {
    ("", "Namespace"): {},
    ("", "ServiceAccount"): {"automountServiceAccountToken": _no_token, "imagePullSecrets": pull_secrets},
    ("", "Secret"): {
        "type": word("Opaque", "kubernetes.io/dockerconfigjson"),
        "data": anything,
        "stringData": anything,
    },
    ("", "ConfigMap"): {"data": Keys(text)},
    ("", "ResourceQuota"): {"spec": {"hard": _RESOURCES}},
    ("", "LimitRange"): {
        "spec": {
            "limits": Each(
                {
                    "type": word("Container"),
                    **dict.fromkeys(("default", "defaultRequest", "max", "min"), _RESOURCES),
                }
            )
        }
    },
    ("networking.k8s.io", "NetworkPolicy"): {"spec": network_policy},
    ("rbac.authorization.k8s.io", "Role"): {"rules": anything},  # by `tenants-bindings-keep-to-the-frame`
    ("rbac.authorization.k8s.io", "RoleBinding"): {
        "roleRef": dict.fromkeys(("apiGroup", "kind", "name"), BINDING),
        "subjects": _SUBJECTS,
    },
}
"""By group and kind, without `metadata`."""


def _own_release(value: Any, of: Filled) -> str:
    own = of.place.frame.file.fitting(f"{of.place.namespace}-baseline", LONGEST_RELEASE)
    return "" if value == own else "has the name of another release"


def _keeps_off(value: Any, of: Filled) -> str:
    """Whether it leaves alone what is there already. To take it over is a word of the main file alone."""
    adopts = of.place.frame.own.get("adopt") is True
    return "" if value is True or adopts else "takes over objects that exist already"


def _stands_still(value: Any, of: Filled) -> str:
    state = mapping(of.place.frame.file.clusters.get(of.place.cluster)).get("state")
    return "" if value is False or state in ("paused", "decommissioned") else "is suspended on a cluster that is not"


def _there(value: Any, of: Filled) -> str:
    """What a release has to say, because Helm's default would be another."""
    return _keeps_off(mapping(value).get("disableTakeOwnership"), of)


_OBJECT: Table = {"kind": OWN_NAME, "name": OWN_NAME}
_ACTION: Table = {
    "disableTakeOwnership": _keeps_off,
    "strategy": {"name": word("RetryOnFailure"), "retryInterval": INTERVAL},
}
SPEC: Table = {
    "chartRef": _OBJECT,
    "dependsOn": Each({"name": OWN_NAME, "namespace": OWN_NAME}),
    "driftDetection": {"mode": word("enabled")},
    "install": _ACTION,
    "interval": INTERVAL,
    "kubeConfig": {"configMapRef": {"name": KUBECONFIG}, "secretRef": {"key": KUBECONFIG, "name": KUBECONFIG}},
    "releaseName": _own_release,
    "serviceAccountName": OWN_NAME,
    "storageNamespace": OWN_NAME,
    "suspend": _stands_still,
    "targetNamespace": OWN_NAME,
    "timeout": duration,
    "upgrade": {**_ACTION, "chartNameChangeStrategy": word("InPlaceUpdate")},
    "values": OWN_NAME,
}
REQUIRED: dict[str, Check] = {"install": _there, "upgrade": _there}
"""What is wrong if a field is left out."""
