"""Network policies: the fleet's own, and what others of a strict tenant may not allow."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from typing import Any

from tests.table import table
from tests.unit.texts import named, one, planned, problems, rocky

ON_HUB = "clusters: {names: [hub]}"
SIMPLE = "web: {kustomize: {source: manifests}}"


def policies(rest: str, defaults: str = "") -> list[str]:
    plan = planned(rocky(SIMPLE, f"{ON_HUB}\n{rest}") + defaults)
    return [name for name in named(plan) if name.startswith("NetworkPolicy")]


def spec(rest: str, name: str, defaults: str = "") -> dict[str, Any]:
    plan = planned(rocky(SIMPLE, f"{ON_HUB}\n{rest}") + defaults)
    found: dict[str, Any] = one(plan, "NetworkPolicy", name).manifest["spec"]
    return found


def test_an_open_network_has_no_policy() -> None:
    assert policies("network: open") == []


def test_null_takes_the_word_of_the_defaults_away_and_leaves_the_tenant_isolated() -> None:
    assert policies("network: null", "defaults: {network: open}\n") == ["NetworkPolicy rocky/tenantry-isolated"]


def test_a_namespace_may_have_a_network_of_its_own() -> None:
    assert policies("namespaces: {jobs: {network: open}}") == ["NetworkPolicy rocky/tenantry-isolated"]


# --- what a strict tenant reaches -----------------------------------------------------------------------------------------

STRICT = "network: strict\nnamespaces: {jobs: {network: open}}"
OWN = {"toolkit.fluxcd.io/tenant": "rocky", "tenantry/environment": "dev"}
OTHER = {**OWN, "toolkit.fluxcd.io/tenant": "movy"}
OF_ADDON = {"tenantry/app": "ingress", "tenantry/environment": "dev"}


def passes(
    policy: dict[str, Any], direction: str, peer: dict[str, str] | str, port: int, protocol: str = "TCP"
) -> bool:
    """Whether the policy lets traffic through. Args: peer: the labels of another namespace, or an address."""
    key, side = {"Ingress": ("ingress", "from"), "Egress": ("egress", "to")}[direction]
    assert direction in policy["policyTypes"]
    return any(
        (not rule.get(side) or any(_is(each, peer) for each in rule[side]))
        and (not rule.get("ports") or {"protocol": protocol, "port": port} in rule["ports"])
        for rule in policy[key]
    )


def _is(peer: dict[str, Any], other: dict[str, str] | str) -> bool:
    if isinstance(other, str):
        block = peer.get("ipBlock", {"cidr": "255.255.255.255/32"})
        inside = [ipaddress.ip_network(each) for each in (block["cidr"], *block.get("except", ()))]
        return [ipaddress.ip_address(other) in each for each in inside] == [True, *[False] * (len(inside) - 1)]
    selector = peer.get("namespaceSelector")
    if selector is None:
        return False  # pods of the policy's own namespace, or addresses
    there = {"Exists": True, "DoesNotExist": False}
    return all(other.get(name) == value for name, value in selector.get("matchLabels", {}).items()) and all(
        (each["key"] in other) is there[each["operator"]] for each in selector.get("matchExpressions", ())
    )


@table(
    ("direction", "peer", "port", "is_allowed"),
    [
        ("Ingress", OWN, 8080, True),
        ("Ingress", OTHER, 8080, False),
        ("Ingress", {**OWN, "tenantry/environment": "prod"}, 8080, False),
        ("Ingress", OF_ADDON, 8080, True),
        # A tenant's own namespace is none of an add-on, whatever its labels are.
        ("Ingress", {**OTHER, **OF_ADDON}, 8080, False),
        ("Ingress", {"kubernetes.io/metadata.name": "default"}, 8080, False),
        ("Ingress", "203.0.113.9", 8080, False),
        ("Egress", OWN, 5432, True),
        ("Egress", OTHER, 53, False),
        ("Egress", OF_ADDON, 4317, False),
        ("Egress", {"kubernetes.io/metadata.name": "kube-system"}, 53, True),
        ("Egress", {"kubernetes.io/metadata.name": "kube-system"}, 443, False),
        ("Egress", "10.96.0.1", 6443, True),
        ("Egress", "fd00::1", 6443, True),
        ("Egress", "10.96.0.1", 443, False),
        ("Egress", "203.0.113.9", 443, False),
        ("Egress", "203.0.113.9", 53, False),
        ("Egress", "169.254.20.10", 53, True),
        *(
            ("Egress", address, port, False)
            for address in (
                *(
                    "169.254.169.254",
                    "169.254.170.2",
                    "169.254.170.23",
                    "100.100.100.200",
                    "192.0.0.192",
                    "168.63.129.16",
                ),
                *("fe80::a9fe:a9fe", "fd00:ec2::254", "fd20:ce::254"),
            )
            for port in (53, 80, 6443)
        ),
    ],
)
def test_a_strict_tenant_reaches_and_is_reached_by_what_is_named(
    direction: str, peer: dict[str, str] | str, port: int, *, is_allowed: bool
) -> None:
    policy = spec(STRICT, "tenantry-isolated")
    assert passes(policy, direction, peer, port) is is_allowed
    assert passes(spec("network: isolated", "tenantry-isolated"), "Ingress", {"any": "namespace"}, 1)


def test_a_strict_tenant_with_one_namespace_reaches_its_own_pods() -> None:
    policy = spec("network: strict", "tenantry-isolated")
    assert (policy["ingress"][0]["from"][0], policy["egress"][0]["to"]) == ({"podSelector": {}}, [{"podSelector": {}}])
    assert not passes(policy, "Egress", OWN, 5432)


V4 = ("169.254.0.0/16", "100.100.100.200/32", "192.0.0.192/32", "168.63.129.16/32")
V6 = ("fe80::/10", "fd00:ec2::254/128", "fd20:ce::254/128")
EVERY = (V4[0], V6[0], *V4[1:], *V6[1:])


@table(
    ("egress", "addresses"),
    [
        ("[{}]", EVERY),
        ("[{ports: [{port: 443}]}]", EVERY),
        ("[{to: [{ipBlock: {cidr: 0.0.0.0/0}}]}]", V4),
        ("[{to: [{ipBlock: {cidr: 0.0.0.0/0, except: [10.0.0.0/8, 169.254.169.254/32]}}]}]", V4),
        ("[{to: [{ipBlock: {cidr: 0.0.0.0/0, except: [169.254.0.0/16, 168.63.0.0/16]}}]}]", V4[1:3]),
        ("[{to: [{ipBlock: {cidr: 169.254.170.23/32}}]}]", V4[:1]),
        ("[{to: [{ipBlock: {cidr: 100.64.0.0/10}}]}]", V4[1:2]),
        ("[{to: [{ipBlock: {cidr: '::/0'}}]}]", V6),
        ("[{to: [{ipBlock: {cidr: 'fd00::/8'}}]}]", V6[1:]),
    ],
)
def test_no_policy_of_a_strict_tenant_leads_to_a_clouds_metadata(egress: str, addresses: Sequence[str]) -> None:
    policy = (
        "objects: {out: {apiVersion: networking.k8s.io/v1, kind: NetworkPolicy,"
        f" spec: {{podSelector: {{}}, policyTypes: [Egress], egress: {egress}}}}}}}"
    )
    found = problems(rocky(SIMPLE, f"{ON_HUB}\nnetwork: strict\n{policy}"))
    assert (
        f"policy 'out' leads to metadata services of clouds ({', '.join(addresses)}), which 'strict' forbids" in found
    )
    assert planned(rocky(SIMPLE, f"{ON_HUB}\nnetwork: isolated\n{policy}"))
    every, cidr = (V6, "::/0") if ":" in addresses[0] else (V4, "0.0.0.0/0")
    left_out = ", ".join(f"'{each}'" for each in every)
    mended = f"[{{to: [{{ipBlock: {{cidr: '{cidr}', except: [{left_out}]}}}}]}}]"
    assert mended[2:-2].replace("'", '"') in found
    assert planned(rocky(SIMPLE, f"{ON_HUB}\nnetwork: strict\n{policy.replace(egress, mended)}"))


def test_a_policy_of_a_strict_tenant_may_name_the_name_server_of_the_node() -> None:
    rule = "{to: [{ipBlock: {cidr: 169.254.20.10/32}}], ports: [{port: 5353}]}"
    policy = f"kind: NetworkPolicy, spec: {{podSelector: {{}}, policyTypes: [Egress], egress: [{rule}]}}"
    assert planned(
        rocky(SIMPLE, f"{ON_HUB}\nnetwork: strict\nobjects: {{dns: {{apiVersion: networking.k8s.io/v1, {policy}}}}}")
    )
