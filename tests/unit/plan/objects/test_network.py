"""Network policies: the fleet's own, those of `network.policies`, and what is refused of them."""

from __future__ import annotations

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
