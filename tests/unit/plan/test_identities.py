"""Clusters that Flux reaches by workload identity, or with a kubeconfig that another stack exports: what the plan makes of them."""

from __future__ import annotations

import pytest

from tenantry.kube.objects import STACK_OUTPUT, Owner, SecretValues
from tenantry.plan.bootstrap import bootstrap
from tenantry.sandbox.layout import SandboxError
from tenantry.sandbox.spec import spec_of
from tests.table import table
from tests.unit.texts import FRAME, fleet, named, one, planned, problems, rocky

SIMPLE = "web: {kustomize: {source: manifests}}"
RELEASED = "web: {helm: {source: charts, chart: web, version: 1.0.0}}"
SECRET = "kamaji: {controlPlane: edge, namespace: kamaji}"
MADE = (
    "configMap: {namespace: clusters, name: edge, provider: generic, address: 'https://edge.example.com',"
    " audiences: [a, b], serviceAccountName: tokens}"
)
EXPORTED = (
    "secret: {namespace: clusters, name: edge, key: value, from: {stack: acme/clusters/edge, output: kubeconfig}}"
)
THERE = "configMap: {namespace: clusters, name: edge}"
ADDON = (
    ", addons: {certs: {clusters: {names: [edge]}, source: {helm: {url: https://charts.example.com}},"
    " helm: {chart: certs, version: 1.0.0}}}}\n"
)
MAP, KUBECONFIG = "ConfigMap clusters/edge", "Secret clusters/edge"


def by(kubeconfig: str, apps: str = SIMPLE) -> str:
    text = rocky(apps, "clusters: {names: [edge]}").replace(SECRET, kubeconfig)
    return text.replace("version: 0.1.0}}}\n", f"version: 0.1.0}}}}{ADDON}")


def test_the_plan_makes_the_config_map_under_flux_s_keys() -> None:
    made = one(planned(by(MADE)), "ConfigMap", "edge")
    assert {
        "provider": "generic",
        "address": "https://edge.example.com",
        "audiences": "a\nb",
        "serviceAccountName": "tokens",
    } == made.manifest["data"]
    assert {
        "app.kubernetes.io/managed-by": "tenantry",
        "tenantry/environment": "dev",
        "tenantry/cluster": "edge",
        "reconcile.fluxcd.io/watch": "Enabled",
    } == made.manifest["metadata"]["labels"]
    assert (Owner(cluster="edge"), ()) == (made.owner, made.depends_on)


def test_the_plan_makes_no_config_map_that_others_make() -> None:
    assert [name for name in named(planned(by(THERE))) if name.startswith("ConfigMap")] == []


def test_the_plan_makes_the_secret_and_knows_where_its_value_is_but_not_the_value() -> None:
    made = one(planned(by(EXPORTED)), "Secret", "edge")
    assert made.secret == SecretValues((STACK_OUTPUT, "acme/clusters/edge", "kubeconfig"), ("value",))
    assert not {"data", "stringData"} & made.manifest.keys()
    assert made.manifest["metadata"]["labels"]["reconcile.fluxcd.io/watch"] == "Enabled"
    assert (Owner(cluster="edge"), ()) == (made.owner, made.depends_on)
    spec = one(planned(by(EXPORTED)), "Kustomization", "edge-rocky-web").manifest["spec"]
    assert {"secretRef": {"name": "edge", "key": "value"}} == spec["kubeConfig"]


def test_a_cluster_that_is_gone_needs_no_kubeconfig_of_a_stack_that_may_be_gone_too() -> None:
    for state, secrets in (("active", 1), ("paused", 1), ("offboarding", 1), ("decommissioned", 0)):
        text = by(EXPORTED).replace("edge: {environments: [dev],", f"edge: {{environments: [dev], state: {state},")
        assert named(planned(text)).count(KUBECONFIG) == secrets, state


@table("kubeconfig", [MADE, THERE])
@table(
    ("kind", "name"),
    [
        ("Kustomization", "edge-rocky-web"),
        ("HelmRelease", "edge-rocky-baseline"),
        ("HelmRelease", "edge-certs"),
    ],
)
def test_everything_on_the_cluster_is_reached_through_it(kubeconfig: str, kind: str, name: str) -> None:
    spec = one(planned(by(kubeconfig)), kind, name).manifest["spec"]
    assert {"configMapRef": {"name": "edge"}} == spec["kubeConfig"]


@table(("kubeconfig", "way_in"), [(MADE, MAP), (EXPORTED, KUBECONFIG)])
@table(
    ("apps", "kind", "name"),
    [
        (SIMPLE, "Kustomization", "edge-rocky-web"),
        (RELEASED, "HelmRelease", "edge-rocky-web"),
        (SIMPLE, "HelmRelease", "edge-rocky-baseline"),
        (SIMPLE, "HelmRelease", "edge-certs"),
    ],
)
def test_everything_on_the_cluster_goes_before_it(
    apps: str, kind: str, name: str, kubeconfig: str, way_in: str
) -> None:
    assert way_in in map(str, one(planned(by(kubeconfig, apps)), kind, name).depends_on)


def test_it_precedes_what_depends_on_it() -> None:
    names = named(planned(by(MADE)))
    assert names.index(MAP) < min(names.index(name) for name in names if "edge-" in name and name[0] in "HK")


def test_a_release_does_not_wait_for_it_in_flux_s_own_order() -> None:
    spec = one(planned(by(MADE, RELEASED)), "HelmRelease", "edge-rocky-web").manifest["spec"]
    assert [{"name": "edge-rocky-baseline"}] == spec["dependsOn"]


def test_nothing_but_the_reference_differs_from_a_cluster_with_a_kubeconfig_in_the_same_namespace() -> None:
    secret = named(planned(by("secret: {namespace: clusters, name: edge, key: value}")))
    assert secret == named(planned(by(THERE)))
    assert sorted([*secret, MAP]) == sorted(named(planned(by(MADE))))


def test_the_cluster_needs_rights_for_the_user_of_the_account_beside_it() -> None:
    _, binding, *_ = bootstrap(fleet(by(MADE)), "dev", "edge")
    assert ["system:serviceaccount:clusters:tenantry-platform"] == [each["name"] for each in binding["subjects"]]


@table("name", ["tokens", "clusters"])
def test_a_tenant_can_not_be_called_like_the_account_that_gets_the_token_nor_like_its_namespace(name: str) -> None:
    text = by(MADE).replace("  rocky:\n", f"  {name}:\n")
    assert f"error[reserved-namespace]: namespace '{name}'" in problems(text)


def test_a_secret_and_a_config_map_of_one_name_are_two_things() -> None:
    twin = "  twin: {environments: [dev], kubeconfig: {secret: {namespace: clusters, name: edge, key: value}}}\n"
    assert planned(by(MADE).replace("platform:", f"{twin}platform:"))


def test_a_config_map_that_two_clusters_share_is_refused() -> None:
    twin = f"  twin: {{environments: [dev], kubeconfig: {{{THERE}}}}}\n"
    expected = "clusters 'edge' and 'twin' name the same workload identity ConfigMap 'clusters/edge'"
    assert expected in problems(by(MADE).replace("platform:", f"{twin}platform:"))


def test_an_address_with_a_password_is_refused_without_repeating_it() -> None:
    told = problems(by(MADE.replace("https://edge", "https://admin:hunter2@edge")))
    assert "error[secret-in-file]: this looks like a URL with a password" in told
    assert "hunter2" not in told


def test_the_sandbox_refuses_the_cluster() -> None:
    for kubeconfig, message in (
        (THERE, "cluster 'edge' is reached with workload identity, which the sandbox does not have"),
        (
            EXPORTED,
            "the kubeconfig of cluster 'edge' comes from stack 'acme/clusters/edge', which the sandbox does not have",
        ),
    ):
        text = FRAME.replace(SECRET, kubeconfig)
        with pytest.raises(SandboxError) as refused:
            spec_of(fleet(text), planned(text))
        assert refused.value.message == message
