"""The network policy of a namespace of a tenant, and what other policies there may not allow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Any, TypeAlias

from tenantry.kube.objects import Manifest
from tenantry.messages.data import mapping_at, mappings_in
from tenantry.model.tenancy import Network
from tenantry.plan.objects.scope import APP_LABEL, ENVIRONMENT_LABEL, TENANT_LABEL, Scope, in_namespace

LINK_LOCAL = ("169.254.0.0/16", "fe80::/10")
METADATA = (
    *LINK_LOCAL,
    "100.100.100.200/32",
    "192.0.0.192/32",
    "168.63.129.16/32",
    "fd00:ec2::254/128",
    "fd20:ce::254/128",
)
"""Where clouds give credentials of the node or of pods to whoever asks. No policy of a strict tenant leads there.

Link-local as a whole, because clouds and their agents choose more addresses there. The others are those of Alibaba, Oracle, Azure,
AWS and Google.
"""
_DNS_OF_NODES = "169.254.20.10/32"
_NO_TENANT = {"key": TENANT_LABEL, "operator": "DoesNotExist"}
_OF_ADDONS = {"key": APP_LABEL, "operator": "Exists"}
_NAME_SERVERS = [
    {"namespaceSelector": {"matchExpressions": [_NO_TENANT]}},
    # NodeLocal DNSCache, which runs in the network of the node.
    {"ipBlock": {"cidr": _DNS_OF_NODES}},
]
_DNS = [{"protocol": protocol, "port": 53} for protocol in ("UDP", "TCP")]
_API_SERVERS = [
    *({"ipBlock": {"cidr": private}} for private in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")),
    {"ipBlock": {"cidr": "fc00::/7", "except": [service for service in METADATA if service.startswith("fd")]}},
]
"""Private addresses. No selector selects the API server, as it is no pod, and a plan does not know its address."""
_API_PORT = [{"protocol": "TCP", "port": 6443}]


def network_policies(scope: Scope, network: Network) -> Iterator[Manifest]:
    """The policy of a namespace; none if its network is open."""
    if network != "open":
        spec = _strict(scope) if network == "strict" else _isolated(scope)
        yield in_namespace(scope, "networking.k8s.io/v1", "NetworkPolicy", "tenantry-isolated", {"spec": spec})


def metadata_services(policy: Manifest) -> list[str]:
    """The addresses of METADATA to which a policy allows connections, all or some of each."""
    rules = [*mappings_in(mapping_at(policy, "spec").get("egress"))]
    return [service for service in METADATA if any(_reaches(rule, service) for rule in rules)]


def _reaches(rule: Mapping[str, Any], address: str) -> bool:
    """Whether a rule allows connections to some of the addresses. One without `to` allows all."""
    blocks = [mapping_at(peer, "ipBlock") for peer in mappings_in(rule.get("to"))]
    return not rule.get("to") or any(_overlaps(block, address) for block in blocks if block)


def _overlaps(block: Mapping[str, Any], address: str) -> bool:
    whole, part = _network(block.get("cidr")), ip_network(address)
    if whole is None or not whole.overlaps(part):
        return False
    both = min(whole, part, key=lambda network: network.num_addresses)
    left_out = (_network(network) for network in block.get("except") or ())
    return str(both) != _DNS_OF_NODES and not any(excepted and _holds(excepted, both) for excepted in left_out)


_Network: TypeAlias = IPv4Network | IPv6Network


def _network(text: Any) -> _Network | None:
    try:
        return ip_network(str(text), strict=False)
    except ValueError:
        return None


def _holds(whole: _Network, part: _Network) -> bool:
    return whole.version == part.version and part.subnet_of(whole)  # type: ignore[arg-type]


def _isolated(scope: Scope) -> dict[str, Any]:
    """Allow ingress from the tenant's pods and from namespaces without a tenant (ingress, monitoring), and from nowhere else."""
    own, *extras = _own(scope)
    peers = [own, {"namespaceSelector": {"matchExpressions": [_NO_TENANT]}}, *extras]
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
