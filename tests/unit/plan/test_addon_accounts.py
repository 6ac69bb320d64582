"""Accounts that exist, as which Flux applies add-ons."""

from __future__ import annotations

from tenantry.plan.bootstrap import bootstrap
from tests.unit.texts import fleet, planned

FLEET = """\
apiVersion: tenantry/v1
environments:
  dev: {management: hub, namespace: "{env}-{tenant}"}
  prod: {management: hub, namespace: "{env}-{tenant}"}
clusters:
  hub: {environments: [dev, prod]}
  edge: {environments: [prod], kubeconfig: {kamaji: {controlPlane: edge, namespace: kamaji}}}
platform:
  chart: {helm: {url: "https://charts.example.com", version: 0.1.0}}
  sources: {charts: {helm: {url: https://charts.example.com}}}
  addons:
    dns:
      clusters: {all: true}
      namespaces: {dns: {}}
      helm: {source: charts, chart: dns, version: 1.x, targetNamespace: dns}
    logs: {clusters: {all: true}, helm: {source: charts, chart: logs, version: 1.x}}
tenants:
  rocky:
    clusters: {all: true}
    sources: {c: {helm: {url: https://c.example.com}}}
    apps: {web: {helm: {source: c, chart: web, version: 1.x}}}
"""

EXISTING = FLEET.replace(
    "logs: {clusters: {all: true},",
    "logs: {clusters: {all: true}, namespace: flux-system, account: {existing: helm-controller},",
)


def test_an_existing_account_is_named_and_nothing_else() -> None:
    plans = [planned(EXISTING, each) for each in ("dev", "prod")]
    objects = [each for plan in plans for each in plan.objects]
    releases = {each.id.name: each.manifest["spec"] for each in objects if each.id.kind == "HelmRelease"}
    assert releases["logs"]["serviceAccountName"] == releases["edge-logs"]["serviceAccountName"] == "helm-controller"
    # Another account would move the release.
    assert releases["logs"]["storageNamespace"] == "flux-system"
    assert "helm-controller" not in {each.id.name for each in objects}
    made = bootstrap(fleet(EXISTING), "prod", "hub")
    there = {(each["kind"], each["metadata"].get("namespace")) for each in made if each["kind"] != "ConfigMap"}
    assert ("Namespace", "flux-system") in {(each["kind"], each["metadata"]["name"]) for each in made}
    assert ("ServiceAccount", "tenantry-system") in there
    assert ("ServiceAccount", "flux-system") not in there
