"""The network policies of a namespace of a tenant: the one of `network.base`, and those of `network.policies`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tenantry.kube.names import join
from tenantry.kube.objects import Manifest
from tenantry.model.network import METADATA, Network
from tenantry.plan.objects.scope import APP_LABEL, ENVIRONMENT_LABEL, TENANT_LABEL, Scope, in_namespace

_NO_TENANT = {"key": TENANT_LABEL, "operator": "DoesNotExist"}
_OF_ADDONS = {"key": APP_LABEL, "operator": "Exists"}
_NAME_SERVERS = [
    {"namespaceSelector": {"matchExpressions": [_NO_TENANT]}},
    # NodeLocal DNSCache, which runs in the network of the node.
    {"ipBlock": {"cidr": "169.254.20.10/32"}},
]
_DNS = [{"protocol": protocol, "port": 53} for protocol in ("UDP", "TCP")]
_API_SERVERS = [
    *({"ipBlock": {"cidr": private}} for private in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")),
    {"ipBlock": {"cidr": "fc00::/7", "except": [each for each in METADATA if ":" in each]}},
]
"""Private addresses. No selector selects the API server, as it is no pod, and a plan does not know its address."""
_API_PORT = [{"protocol": "TCP", "port": 6443}]


def network_policies(scope: Scope, network: Network) -> Iterator[Manifest]:
    specs = {"isolated": _strict(scope) if network.base == "strict" else _isolated(scope)}
    if network.base == "open":
        specs = {}
    specs |= {name: policy.spec for name, policy in sorted((network.policies or {}).items()) if policy}
    for name, spec in specs.items():
        yield in_namespace(scope, "networking.k8s.io/v1", "NetworkPolicy", join("tenantry", name), {"spec": spec})


def _isolated(scope: Scope) -> dict[str, Any]:
    """Allow ingress from the tenant's pods and from namespaces without a tenant (ingress, monitoring), and from nowhere else."""
    own, *others = _own(scope)
    peers = [own, {"namespaceSelector": {"matchExpressions": [_NO_TENANT]}}, *others]
    return {"podSelector": {}, "policyTypes": ["Ingress"], "ingress": [{"from": peers}]}


def _strict(scope: Scope) -> dict[str, Any]:
    """Allow the tenant's pods among themselves, ingress from namespaces that add-ons own, and egress to DNS and the API server."""
    own = _own(scope)
    return {
        "podSelector": {},
        "policyTypes": ["Ingress", "Egress"],
        "ingress": [{"from": [*own, {"namespaceSelector": {"matchExpressions": [_OF_ADDONS, _NO_TENANT]}}]}],
        "egress": [
            {"to": own},
            {"to": _NAME_SERVERS, "ports": _DNS},
            {"to": _API_SERVERS, "ports": _API_PORT},
        ],
    }


def _own(scope: Scope) -> list[Manifest]:
    """The pods of the namespace, and those of the tenant's others."""
    peers: list[Manifest] = [{"podSelector": {}}]
    if scope.namespaces:
        # Another environment on the same cluster has tenants with the same names.
        own = {TENANT_LABEL: scope.tenant, ENVIRONMENT_LABEL: scope.environment}
        peers.append({"namespaceSelector": {"matchLabels": own}})
    return peers
