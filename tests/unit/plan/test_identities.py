"""Clusters that Flux reaches by workload identity: what the plan makes of them."""

from __future__ import annotations

from tenantry.plan.bootstrap import bootstrap
from tests.table import table
from tests.unit.texts import fleet, named, one, planned, rocky

SIMPLE = "web: {kustomize: {source: manifests}}"
RELEASED = "web: {helm: {source: charts, chart: web, version: 1.0.0}}"
SECRET = "kamaji: {controlPlane: edge, namespace: kamaji}"
THERE = "configMap: {namespace: clusters, name: edge}"
ADDON = (
    ", addons: {certs: {clusters: {names: [edge]}, source: {helm: {url: https://charts.example.com}},"
    " helm: {chart: certs, version: 1.0.0}}}}\n"
)


def by(kubeconfig: str, apps: str = SIMPLE) -> str:
    text = rocky(apps, "clusters: {names: [edge]}").replace(SECRET, kubeconfig)
    return text.replace("version: 0.1.0}}}\n", f"version: 0.1.0}}}}{ADDON}")


def test_the_plan_makes_no_config_map_that_others_make() -> None:
    assert [name for name in named(planned(by(THERE))) if name.startswith("ConfigMap")] == []


@table(
    ("kind", "name"),
    [
        ("Kustomization", "edge-rocky-web"),
        ("HelmRelease", "edge-rocky-baseline"),
        ("HelmRelease", "edge-certs"),
    ],
)
def test_everything_on_the_cluster_is_reached_through_it(kind: str, name: str) -> None:
    spec = one(planned(by(THERE)), kind, name).manifest["spec"]
    assert {"configMapRef": {"name": "edge"}} == spec["kubeConfig"]


def test_a_release_waits_for_its_baseline_in_flux_s_own_order() -> None:
    spec = one(planned(by(THERE, RELEASED)), "HelmRelease", "edge-rocky-web").manifest["spec"]
    assert [{"name": "edge-rocky-baseline"}] == spec["dependsOn"]


def test_nothing_but_the_reference_differs_from_a_cluster_with_a_kubeconfig_in_the_same_namespace() -> None:
    secret = named(planned(by("secret: {namespace: clusters, name: edge, key: value}")))
    assert secret == named(planned(by(THERE)))


def test_the_cluster_needs_rights_for_the_user_of_the_account_beside_it() -> None:
    _, binding, *_ = bootstrap(fleet(by(THERE)), "dev", "edge")
    assert ["system:serviceaccount:clusters:tenantry-platform"] == [each["name"] for each in binding["subjects"]]


def test_a_secret_and_a_config_map_of_one_name_are_two_things() -> None:
    twin = "  twin: {environments: [dev], kubeconfig: {secret: {namespace: clusters, name: edge, key: value}}}\n"
    assert planned(by(THERE).replace("platform:", f"{twin}platform:"))
