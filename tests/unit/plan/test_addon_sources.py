"""Sources of the platform, which add-ons share by name."""

from __future__ import annotations

from tenantry.kube.objects import KubeObject
from tenantry.load import plan_all
from tests.unit.texts import fleet, planned, problems

FLEET = """\
apiVersion: tenantry/v1
environments:
  dev: {management: hub, namespace: "{env}-{tenant}"}
  prod: {management: hub, namespace: "{env}-{tenant}"}
clusters:
  hub: {environments: [dev, prod]}
  edge: {environments: [prod], kubeconfig: {kamaji: {controlPlane: edge, namespace: kamaji}}}
  far: {environments: [prod], kubeconfig: {kamaji: {controlPlane: far, namespace: kamaji}}}
platform:
  credentials: {registry: {keys: [username, password]}}
  sources:
    charts:
      helm: {url: https://charts.example.com}
      credentials: registry
  overrides:
    - {when: {environments: [dev]}, sources: {charts: {helm: {url: https://dev.example.com}}}}
    - {when: {clusters: {names: [far]}}, sources: {charts: {helm: {url: https://far.example.com}}}}
  addons:
    certs: {clusters: {all: true}, helm: {source: charts, chart: certs, version: 1.x}}
    logs: {clusters: {all: true}, environments: [prod], helm: {source: charts, chart: logs, version: 1.x}}
    redis: {clusters: {all: true}, environments: [dev], helm: {source: charts, chart: certs, version: 1.x}}
"""


def of_kind(environment: str, kind: str, text: str = FLEET) -> dict[str, KubeObject]:
    return {each.id.name: each for each in planned(text, environment).objects if each.id.kind == kind}


def test_a_management_cluster_has_one_source_for_all_add_ons_of_an_environment() -> None:
    dev, prod = of_kind("dev", "HelmRepository"), of_kind("prod", "HelmRepository")
    assert {name: each.manifest["spec"]["url"] for name, each in dev.items()} == {
        "dev-charts": "https://dev.example.com"
    }
    assert {name for name, each in prod.items() if each.owner.cluster} == {"prod-charts"}
    assert prod["prod-charts"].manifest["spec"]["secretRef"]["name"].endswith("registry")
    # Two stacks never have one object.
    assert set(plan_all(fleet(FLEET))) == {"dev", "prod"}


def test_add_ons_share_a_chart_of_the_source() -> None:
    charts = [name for name, each in of_kind("dev", "HelmChart").items() if each.owner.cluster]
    assert [name.rpartition("-")[0] for name in charts] == ["dev-charts-certs"]


def test_remote_clusters_share_each_content_of_the_source() -> None:
    shared = [each for each in of_kind("prod", "HelmRepository").values() if not each.owner.cluster]
    assert sorted(each.manifest["spec"]["url"] for each in shared) == [
        "https://charts.example.com",
        "https://far.example.com",
    ]


def test_a_source_of_an_add_on_and_one_of_the_platform_with_the_same_content_are_one_object_for_remote_clusters() -> (
    None
):
    own = (
        "    own: {clusters: {names: [edge]}, source: {helm: {url: https://charts.example.com}, credentials: registry},"
    )
    text = f"{FLEET}{own} helm: {{chart: own, version: 1.x}}}}\n"
    assert of_kind("prod", "HelmRepository", text).keys() == of_kind("prod", "HelmRepository").keys()


def test_an_add_on_names_a_source_in_an_override_and_is_planned_only_where_it_has_one() -> None:
    text = FLEET.replace("helm: {source: charts, chart: logs, version: 1.x}", "helm: {chart: logs, version: 1.x}")
    named = "logs: {overrides: [{when: {environments: [prod]}, helm: {source: charts}}], "
    assert "key 'source' is missing" not in str(planned(text.replace("logs: {", named), "prod"))
    told = problems(text)
    assert "add-on 'logs' has no source" in str(told)


def test_what_is_wrong_in_a_shared_source_is_told_once_and_at_the_source() -> None:
    text = FLEET.replace("https://charts.example.com", "oci://charts.example.com")
    told = problems(text)
    assert "platform.sources.charts" in str(told)
