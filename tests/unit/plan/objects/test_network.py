"""Network policies: the fleet's own, those of `network.policies`, and what is refused of them."""

from __future__ import annotations

import ipaddress
from typing import Any

from tenantry.model.network import Network
from tests.table import table
from tests.unit.texts import named, one, planned, problems, rocky, told

ON_HUB = "clusters: {names: [hub]}"
SIMPLE = "web: {kustomize: {source: manifests}}"
POLICIES = """\
network:
  base: open
  policies:
    web:
      podSelector: {matchLabels: {app: web}}
      policyTypes: [Ingress]
      ingress:
        - from: [{namespaceSelector: {matchExpressions: [{key: team, operator: In, values: [movy]}]}, podSelector: {}}]
          ports: [{port: http}, {port: 8000, endPort: 8010, protocol: UDP}]
    out:
      policyTypes: [Egress]
      egress: [{to: [{ipBlock: {cidr: 10.0.0.0/8, except: [10.1.0.0/16]}}]}, {ports: [{port: 53, protocol: UDP}]}]
"""


def policies(rest: str, defaults: str = "") -> list[str]:
    plan = planned(rocky(SIMPLE, f"{ON_HUB}\n{rest}") + defaults)
    return [name for name in named(plan) if name.startswith("NetworkPolicy")]


def spec(rest: str, name: str, defaults: str = "") -> dict[str, Any]:
    plan = planned(rocky(SIMPLE, f"{ON_HUB}\n{rest}") + defaults)
    found: dict[str, Any] = one(plan, "NetworkPolicy", name).manifest["spec"]
    return found


def test_a_policy_stands_as_it_is_written_with_the_defaults_of_kubernetes_written_out() -> None:
    assert policies(POLICIES) == ["NetworkPolicy rocky/tenantry-out", "NetworkPolicy rocky/tenantry-web"]
    team = {"key": "team", "operator": "In", "values": ["movy"]}
    assert spec(POLICIES, "tenantry-web") == {
        "podSelector": {"matchLabels": {"app": "web"}},
        "policyTypes": ["Ingress"],
        "ingress": [
            {
                "from": [{"podSelector": {}, "namespaceSelector": {"matchExpressions": [team]}}],
                "ports": [{"protocol": "TCP", "port": "http"}, {"protocol": "UDP", "port": 8000, "endPort": 8010}],
            }
        ],
    }
    assert spec(POLICIES, "tenantry-out") == {
        "podSelector": {},
        "policyTypes": ["Egress"],
        "egress": [
            {"to": [{"ipBlock": {"cidr": "10.0.0.0/8", "except": ["10.1.0.0/16"]}}]},
            {"ports": [{"protocol": "UDP", "port": 53}]},
        ],
    }


def test_policies_stand_beside_the_isolation_unless_the_base_is_open() -> None:
    none = "network: {policies: {none: {policyTypes: [Egress], egress: []}}}"
    assert policies(none) == ["NetworkPolicy rocky/tenantry-isolated", "NetworkPolicy rocky/tenantry-none"]
    assert spec(none, "tenantry-none") == {"podSelector": {}, "policyTypes": ["Egress"], "egress": []}


def test_a_tenant_adds_to_the_policies_of_the_defaults_and_drops_them() -> None:
    defaults = "defaults: {network: {base: open, policies: {a: {policyTypes: [Egress]}, b: {policyTypes: [Egress]}}}}\n"
    own = "network: {policies: {a: null, c: {policyTypes: [Ingress]}}}"
    assert policies(own, defaults) == ["NetworkPolicy rocky/tenantry-b", "NetworkPolicy rocky/tenantry-c"]


def test_null_takes_the_defaults_away_and_leaves_the_tenant_isolated() -> None:
    defaults = "defaults: {network: {base: open, policies: {a: {policyTypes: [Egress]}}}}\n"
    assert policies("network: {base: null, policies: null}", defaults) == ["NetworkPolicy rocky/tenantry-isolated"]


def test_one_word_replaces_a_mapping() -> None:
    defaults = "defaults: {network: {base: open, policies: {a: {policyTypes: [Egress]}}}}\n"
    assert policies("network: isolated", defaults) == ["NetworkPolicy rocky/tenantry-isolated"]


def test_a_namespace_may_have_a_network_of_its_own() -> None:
    assert policies("namespaces: {jobs: {network: open}}") == ["NetworkPolicy rocky/tenantry-isolated"]


def test_policies_that_do_not_go_together_when_merged_are_refused_where_they_stand() -> None:
    defaults = "defaults: {network: {policies: {a: {policyTypes: [Egress], egress: []}}}}\n"
    text = rocky(SIMPLE, f"{ON_HUB}\nnetwork: {{policies: {{a: {{policyTypes: [Ingress]}}}}}}") + defaults
    assert problems(text) == told(
        "tenants.yaml:14:29: error[no-effect]: 'egress' has no effect, because 'policyTypes' lacks Egress",
        "  at tenants.rocky.network.policies.a",
        "  fix: add Egress to 'policyTypes', or remove 'egress'",
        "Found 1 error",
    )


@table(
    ("policy", "message"),
    [
        ("{}", "error[missing-key]: key 'policyTypes' is missing"),
        ("{policyTypes: []}", "error[empty]: at least one entry is needed"),
        ("{policyTypes: [ingress]}", "error[bad-value]: 'ingress' is not allowed here"),
        ("{policyTypes: [Egress], ingress: []}", "error[no-effect]: 'ingress' has no effect"),
        ("{policyTypes: [Egress], egress: [{from: []}]}", "key 'from' is not known here\n"),
        ("{policyTypes: [Ingress], ingress: [{form: []}]}", "fix: write 'from'\n"),
        (
            "{policyTypes: [Ingress], ingress: [{from: [{}]}]}",
            "error[choose-one]: a peer needs either 'ipBlock:', or one or both of",
        ),
        (
            "{policyTypes: [Ingress], ingress: [{from: [{podSelector: {}, ipBlock: {cidr: 10.0.0.0/8}}]}]}",
            "error[choose-one]: a peer needs either 'ipBlock:', or one or both of",
        ),
        (
            "{policyTypes: [Ingress], ingress: [{from: [{ipBlock: {cidr: ten}}]}]}",
            "[bad-range]: 'ten' is not a valid range of",
        ),
        (
            "{policyTypes: [Ingress], ingress: [{from: [{ipBlock: {cidr: 10.0.0.1}}]}]}",
            "'10.0.0.1' lacks its length after a '/'",
        ),
        ("{policyTypes: [Ingress], ingress: [{ports: [{port: 0}]}]}", "[bad-port]: 0 is not a valid port"),
        (
            "{policyTypes: [Ingress], ingress: [{ports: [{port: '80_'}]}]}",
            "[bad-port]: '80_' is not a valid name of a port",
        ),
        ("{policyTypes: [Ingress], ingress: [{ports: [{port: []}]}]}", "[bad-port]: this is not a valid port"),
        ("{policyTypes: [Ingress], ingress: [{ports: [{port: 9, endPort: 8}]}]}", "[bad-port]: 'endPort' needs a"),
        (
            "{policyTypes: [Ingress], podSelector: {matchExpressions: [{key: a, operator: In}]}}",
            "error[bad-selector]: operator In needs values",
        ),
        (
            "{policyTypes: [Ingress], podSelector: {matchExpressions: [{key: a, operator: Exists, values: [b]}]}}",
            "error[bad-selector]: operator Exists takes no values",
        ),
    ],
)
def test_a_policy_that_kubernetes_would_refuse_or_ignore_is_refused(policy: str, message: str) -> None:
    found = problems(rocky(SIMPLE, f"{ON_HUB}\nnetwork: {{policies: {{a: {policy}}}}}"))
    assert message in found
    assert found.endswith("Found 1 error\n")


def test_the_name_of_the_fleet_s_own_policy_is_taken() -> None:
    found = problems(rocky(SIMPLE, f"{ON_HUB}\nnetwork: {{policies: {{isolated: {{policyTypes: [Egress]}}}}}}"))
    assert (
        "error[bad-name]: 'isolated' is the name of a policy that Tenantry makes\n  at tenants.rocky.network.policies"
        in found
    )


def test_one_word_is_a_base_without_policies() -> None:
    assert Network.model_validate("open") == Network(base="open")


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
            for address in ("169.254.169.254", "fd00:ec2::254")
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


@table(
    ("egress", "address"),
    [
        ("[{}]", "169.254.169.254/32"),
        ("[{ports: [{port: 443}]}]", "169.254.169.254/32"),
        ("[{to: [{ipBlock: {cidr: 0.0.0.0/0}}]}]", "169.254.169.254/32"),
        ("[{to: [{ipBlock: {cidr: 0.0.0.0/0, except: [10.0.0.0/8]}}]}]", "169.254.169.254/32"),
        ("[{to: [{ipBlock: {cidr: '::/0'}}]}]", "fd00:ec2::254/128"),
    ],
)
def test_no_policy_of_a_strict_tenant_leads_to_a_clouds_metadata(egress: str, address: str) -> None:
    policy = f"policies: {{out: {{policyTypes: [Egress], egress: {egress}}}}}"
    found = problems(rocky(SIMPLE, f"{ON_HUB}\nnetwork: {{base: strict, {policy}}}"))
    assert f"policy 'out' leads to a cloud's metadata service ({address}), which 'strict' forbids" in found
    assert planned(rocky(SIMPLE, f"{ON_HUB}\nnetwork: {{base: isolated, {policy}}}"))
    cidr = "::/0" if ":" in address else "0.0.0.0/0"
    mended = f"[{{to: [{{ipBlock: {{cidr: '{cidr}', except: ['{address}']}}}}]}}]"
    assert mended[2:-2].replace("'", '"') in found
    assert planned(rocky(SIMPLE, f"{ON_HUB}\nnetwork: {{base: strict, {policy.replace(egress, mended)}}}"))
