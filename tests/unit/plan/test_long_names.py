"""Names that are too long for Flux or Helm are shortened."""

from __future__ import annotations

import hashlib

from tenantry.kube.names import shortened
from tests.unit.texts import planned, problems

CLUSTER = "a-very-long-name-of-a-cluster-in-the-north"
TENANT = "a-team-with-a-rather-long-name-that-goes-on-and-on"
ADDON = "dns-for-everybody-who-wants-it"
CHART = "a-chart-with-a-name-that-is-longer-than-a-release-may-be"
TEXT = f"""\
apiVersion: tenantry/v1
environments: {{prod: {{management: hub}}}}
clusters:
  hub: {{environments: [prod]}}
  {CLUSTER}: {{environments: [prod], kubeconfig: {{capi: {{cluster: a, namespace: capi}}}}}}
  edge: {{environments: [prod], kubeconfig: {{capi: {{cluster: b, namespace: capi}}}}}}
platform:
  chart: {{helm: {{url: "https://charts.example.com", version: 0.1.0}}}}
  addons:
    {ADDON}:
      clusters: {{names: [{CLUSTER}, edge]}}
      source: {{helm: {{url: "https://charts.example.com/dns"}}}}
      helm: {{chart: dns, version: 1.0.0}}
      namespaces: {{dns-system: {{}}}}
defaults: {{dependsOn: [platform/{ADDON}]}}
tenants:
  {TENANT}:
    clusters: {{names: [{CLUSTER}, edge]}}
    sources:
      git: {{git: {{url: "https://git.example.com/x", ref: {{branch: main}}}}}}
      charts: {{helm: {{url: "https://charts.example.com/x"}}}}
    alerts: {{chat: {{provider: {{type: slack, channel: x, address: "https://chat.example.com"}}}}}}
    apps:
      db: {{kustomize: {{source: git, path: ./db}}}}
      database-of-the-team: {{kustomize: {{source: git, path: ./of}}, dependsOn: [db]}}
      {CHART}: {{helm: {{source: charts, chart: x, version: 1.0.0}}}}
      after: {{helm: {{source: charts, chart: x, version: 1.0.0}}, dependsOn: [{CHART}]}}
"""


def short(name: str, limit: int) -> str:
    """Written out once more, because a changed name would install everything anew on people's clusters."""
    return f"{name[: limit - 9].rstrip('-')}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def test_a_name_is_cut_only_where_it_is_too_long_and_ends_with_a_hash_of_all_of_it() -> None:
    assert shortened("a" * 63, 63) == "a" * 63
    assert shortened("a" * 64, 63) == f"{'a' * 54}-ffe054fe"
    assert shortened("a" * 53 + "-" + "b" * 20, 63) == short("a" * 53 + "-" + "b" * 20, 63)
    assert not shortened("a" * 53 + "-" + "b" * 20, 63).startswith("a" * 53 + "--")


def test_all_that_refers_to_an_object_with_a_short_name_has_that_name() -> None:
    plan = planned(TEXT, "prod")
    there = {(each.id.kind, each.id.name): each.manifest["spec"] for each in plan.objects if "spec" in each.manifest}
    prefix = f"{CLUSTER}-{TENANT}"
    after, chart = short(f"{prefix}-after", 63), short(f"{prefix}-{CHART}", 63)
    assert there["HelmRelease", chart]["releaseName"] == short(CHART, 53)
    baseline, addon = short(f"{prefix}-baseline", 63), short(f"{CLUSTER}-{ADDON}", 63)
    assert there["HelmRelease", after]["dependsOn"] == [{"name": baseline}, {"name": chart}]
    assert there["HelmRelease", baseline]["releaseName"] == short(f"{TENANT}-baseline", 53)
    assert there["HelmRelease", baseline]["dependsOn"] == [{"name": addon}]
    assert there["HelmRelease", addon]["dependsOn"] == [{"name": short(f"{CLUSTER}-{ADDON}-namespaces", 63)}]
    database = short(f"{prefix}-database-of-the-team", 63)
    assert there["Kustomization", database]["dependsOn"] == [{"name": short(f"{prefix}-db", 63)}]
    # What is short enough keeps its name.
    assert ("HelmRelease", f"edge-{ADDON}") in there
    assert ("Kustomization", f"edge-{TENANT}-db") in there
    assert {len(name) <= 63 for kind, name in there if kind in ("Kustomization", "HelmRelease")} == {True}


def test_a_short_name_that_meets_another_name_is_refused() -> None:
    met = short(f"{CLUSTER}-{TENANT}-db", 63)
    addon = met.removeprefix(f"{CLUSTER}-")
    text = TEXT.replace(
        "  addons:\n",
        f"  addons:\n    {addon}: {{clusters: {{names: [{CLUSTER}]}}, source: {{git: {{url: 'https://git.example.com/x',"
        " ref: {branch: main}}}, kustomize: {path: .}}\n",
    )
    assert f"error[duplicate-name]: Kustomization capi/{met} would be created twice" in problems(text)
