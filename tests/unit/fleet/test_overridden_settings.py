"""A tenant's settings that differ by environment, labels of clusters and cluster: which win, and what is refused."""

from __future__ import annotations

from typing import Any

from tenantry.fleet.settings import setting_origin, tenant_settings
from tenantry.load import plan_all
from tests.table import table
from tests.unit.texts import explained, fleet, planned, problems

QUOTA = ("quota", "pods")
FLEET = """\
apiVersion: tenantry/v1
environments:
  dev: {management: hub, namespace: "{env}-{tenant}"}
  r1: {extends: dev}
  prod: {management: hub-prod}
clusters:
  hub: {environments: [dev, r1], labels: {tier: hub}}
  edge: {environments: [dev, r1], labels: {tier: edge}, kubeconfig: {kamaji: {controlPlane: edge, namespace: kamaji}}}
  hub-prod: {environments: [prod]}
platform: {chart: {helm: {url: "https://charts.example.com", version: 0.1.0}}}
defaults:
  clusters: {all: true}
  quota: {pods: 1}
%s
tenants:
  rocky:
    sources: {m: {git: {url: https://git.example.com/rocky, ref: {branch: main}}}}
    apps: {web: {kustomize: {source: m}}}
    namespaces: {jobs: {quota: {cpu: 1}}}
%s
"""


def text_of(defaults: str = "", tenant: str = "") -> str:
    return FLEET % (defaults and f"  overrides: {defaults}", tenant and f"    overrides: {tenant}")


def quota(text: str, environment: str, cluster: str) -> dict[str, str]:
    return tenant_settings(fleet(text), "rocky", environment, cluster).quota


def quotas(text: str, environment: str) -> dict[str, dict[str, Any]]:
    """The quotas of each cluster and namespace, as they are planned."""
    found: dict[str, dict[str, Any]] = {}
    for each in planned(text, environment).objects:
        inner = each.manifest.get("spec", {}).get("values", {}).get("objects", ())
        for manifest in (each.manifest, *inner):
            if manifest["kind"] == "ResourceQuota":
                found[f"{each.owner.cluster}/{manifest['metadata']['namespace']}"] = manifest["spec"]["hard"]
    return found


def test_a_quota_in_prod_only() -> None:
    text = text_of("[{when: {environments: [prod]}, quota: {pods: 200}}]")
    assert quotas(text, "prod") == {
        "hub-prod/rocky": {"pods": "200"},
        "hub-prod/rocky-jobs": {"pods": "200", "cpu": "1"},
    }
    assert quotas(text, "dev")["edge/dev-rocky"] == {"pods": "1"}


ALL = (
    "[{when: {environments: [dev]}, quota: {pods: 2}}, {when: {environments: [r1]}, quota: {pods: 3}}, %s,"
    " {when: {clusters: {names: [edge]}}, quota: {pods: 6}}]"
)


@table(
    ("text", "expected"),
    [
        (text_of(), "1"),
        (text_of(tenant="[{when: {environments: [dev]}, quota: {pods: 2}}]"), "2"),
        (
            text_of(
                tenant="[{when: {environments: [r1]}, quota: {pods: 3}}, {when: {environments: [dev]}, quota: {pods: 2}}]"
            ),
            "2",
        ),
        (
            text_of(
                tenant="[{when: {clusters: {labels: {tier: edge}}}, quota: {pods: 4}},"
                " {when: {clusters: {labels: {tier: edge}}}, quota: {pods: 5}}]"
            ),
            "5",
        ),
        (text_of(tenant=ALL % "{when: {clusters: {labels: {tier: edge}}}, quota: {pods: 4}}"), "6"),
        (
            text_of(
                tenant="[{when: {environments: [prod]}, quota: {pods: 9}},"
                " {when: {clusters: {labels: {tier: hub}}}, quota: {pods: 4}}]"
            ),
            "1",
        ),
        (
            text_of(
                "[{when: {environments: [dev]}, quota: {pods: 7}}]", "[{when: {environments: [dev]}, quota: {pods: 2}}]"
            ),
            "2",
        ),
        (
            text_of(
                "[{when: {environments: [r1]}, quota: {pods: 7}}]", "[{when: {environments: [dev]}, quota: {pods: 2}}]"
            ),
            "2",
        ),
        (
            text_of(
                "[{when: {clusters: {names: [edge]}}, quota: {pods: 7}}]",
                "[{when: {clusters: {labels: {tier: edge}}}, quota: {pods: 2}}]",
            ),
            "2",
        ),
    ],
)
def test_the_last_override_wins_and_those_of_the_tenant_follow_those_of_defaults(text: str, expected: str) -> None:
    assert quota(text, "r1", "edge") == {"pods": expected}


def test_an_override_of_the_defaults_wins_over_what_the_tenant_sets_without_one() -> None:
    text = text_of("[{when: {environments: [dev]}, quota: {pods: 7}}]").replace(
        "    namespaces:", "    quota: {pods: 50}\n    namespaces:"
    )
    assert (quota(text, "dev", "hub"), quota(text, "prod", "hub-prod")) == ({"pods": "7"}, {"pods": "50"})


def test_null_removes_what_less_specific_levels_say() -> None:
    assert quotas(text_of(tenant="[{when: {clusters: {labels: {tier: edge}}}, quota: null}]"), "dev").keys() == {
        "hub/dev-rocky",
        "hub/dev-rocky-jobs",
        "edge/dev-rocky-jobs",
    }


def test_roles_owners_networks_and_pod_security_differ_as_planned() -> None:
    settings = "role: edit, network: open, podSecurity: restricted, owners: [{group: g}]"
    override = f"[{{when: {{clusters: {{labels: {{tier: hub}}}}}}, {settings}}}]"
    named = {(each.id.kind, each.id.name) for each in planned(text_of(tenant=override)).objects}
    assert {("RoleBinding", "tenantry-reconciler-edit")} <= named
    assert ("NetworkPolicy", "tenantry-isolated") not in named
    edge = tenant_settings(fleet(text_of(tenant=override)), "rocky", "dev", "edge")
    assert (edge.role, edge.podSecurity.enforce, edge.owners) == ("admin", "baseline", [])


def test_the_interval_of_an_override_is_that_of_the_tenants_apps_there() -> None:
    text = text_of(tenant="[{when: {clusters: {names: [edge]}}, interval: 33m}]")
    intervals = {
        each.owner.cluster: each.manifest["spec"]["interval"]
        for each in planned(text).objects
        if each.id.kind == "Kustomization"
    }
    assert intervals == {"hub": "10m", "edge": "33m"}
    (placed,) = explained(fleet(text), "rocky/web", "edge").placed
    (interval,) = (each for each in placed.values if each.path == ("kustomize", "interval"))
    assert interval.origin
    assert (interval.value, interval.origin.level) == ("33m", "cluster edge")


def test_explain_shows_the_settings_of_the_environment_and_what_differs_on_some_clusters() -> None:
    text = text_of(
        "[{when: {environments: [dev]}, quota: {pods: 2}}]",
        "[{when: {clusters: {labels: {tier: edge}}}, quota: {pods: 4}}]",
    )
    found = explained(fleet(text), "rocky")
    values = {
        each.cluster: [
            (value.value, value.origin.level) for value in each.values if value.path == QUOTA and value.origin
        ]
        for each in found.placed
    }
    assert values == {"hub": [("2", "environment dev")], "edge": [("4", "tier=edge")]}
    assert QUOTA not in {value.path for value in found.shared}
    (alone,) = explained(fleet(text), "rocky", "edge").placed
    assert [value.value for value in alone.values if value.path == QUOTA] == ["4"]


def test_a_service_account_of_others_in_an_override_is_refused_at_its_place() -> None:
    text = text_of(
        tenant="[{when: {clusters: {names: [edge]}}, owners: [{serviceAccount: {name: x, namespace: kube-system}}]}]"
    )
    told = problems(text)
    assert "error[foreign-account]" in told
    assert "at tenants.rocky.overrides[0].owners[0].serviceAccount\n" in told
    assert told.endswith("Found 1 error\n")
    assert setting_origin(
        fleet(text_of(tenant="[{when: {clusters: {names: [edge]}}, role: edit}]")), "rocky", "dev", "edge", "role"
    )[2:] == ("overrides", 0, "role")


@table(
    ("override", "code", "at"),
    [
        ("[{quota: {pods: 1}}]", "missing-key", "[0]"),
        ("[{when: {}, quota: {pods: 1}}]", "when-nothing", "[0].when"),
        ("[{when: {clusters: {names: [nope]}}, quota: {pods: 1}}]", "unknown-cluster", "[0].when.clusters.names[0]"),
        ("[{when: {clusters: {labels: {}}}, quota: {pods: 1}}]", "empty", "[0].when.clusters.labels"),
        ("[{when: {environments: [dev]}, clusters: {all: true}}]", "unknown-key", "[0].clusters"),
        ("[{when: {environments: [dev]}, grants: {}}]", "unknown-key", "[0].grants"),
        ("[{when: {environments: [dev]}, environments: [dev]}]", "unknown-key", "[0].environments"),
        ("[{when: {clusters: {names: [edge]}}, role: cluster-admin}]", "cluster-admin", "[0].role"),
        (
            "[{when: {clusters: {labels: {tier: edge}}}, retryInterval: 1ms}]",
            "short-interval",
            "[0].retryInterval",
        ),
        (
            "[{when: {environments: [dev]}, annotations: {pulumi.com/x: y}}]",
            "owned-annotation",
            '[0].annotations["pulumi.com/x"]',
        ),
        ("[{when: {environments: [dev]}, dependsOn: [platform/nope]}]", "unknown-addon", "[0].dependsOn[0]"),
        ("[{when: {environments: [dve]}, role: edit}]", "unknown-environment", "[0].when.environments[0]"),
    ],
)
def test_a_mistake_in_an_override_is_one_problem_at_its_place(override: str, code: str, at: str) -> None:
    told = problems(text_of(tenant=override))
    assert f"error[{code}" in told
    assert f"at tenants.rocky.overrides{at}\n" in told
    assert told.endswith("Found 1 error\n")


def test_every_environment_is_planned_with_overrides_at_every_level() -> None:
    every = ALL % "{when: {clusters: {labels: {tier: edge}}}, quota: {pods: 4}}"
    assert set(plan_all(fleet(text_of(every, every)))) == {"dev", "r1", "prod"}
