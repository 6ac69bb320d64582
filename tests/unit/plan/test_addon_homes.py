"""Add-ons with a namespace of their own."""

from __future__ import annotations

from typing import Any

from tenantry.load import plan_all
from tenantry.plan.bootstrap import bootstrap, homes_of_addons
from tenantry.plan.plan import Plan
from tests.unit.texts import fleet

FLEET = """\
apiVersion: tenantry/v1
environments: {dev: {management: hub}}
clusters:
  hub: {environments: [dev]}
  edge: {environments: [dev], kubeconfig: {capi: {cluster: edge, namespace: kubeconfigs}}}
platform:
  chart: {helm: {url: "https://charts.example.com", version: 1.0.0}}
  alerts: {chat: {provider: {type: slack, channel: fleet}, credentials: chat}}
  credentials: {chat: {keys: [address]}}
  addons:
    certs:
      clusters: {all: true}
      namespace: cert-manager
      source: {helm: {url: "https://charts.example.com"}}
      helm: {chart: certs, version: 1.0.0}
    dns:
      clusters: {all: true}
      dependsOn: [certs]
      source: {helm: {url: "https://charts.example.com"}}
      helm: {chart: dns, version: 1.0.0}
defaults: {clusters: {all: true}}
tenants:
  rocky:
    sources: {charts: {helm: {url: "https://charts.example.com"}}}
    apps: {web: {dependsOn: [platform/certs], helm: {source: charts, chart: web, version: 1.0.0}}}
"""


def plan(text: str = FLEET) -> Plan:
    return plan_all(fleet(text))["dev"]


def there(planned: Plan, namespace: str) -> set[tuple[str, str]]:
    return {(each.id.kind, each.id.name) for each in planned.objects if each.id.namespace == namespace}


def spec(planned: Plan, namespace: str, name: str) -> dict[str, Any]:
    (found,) = (
        each
        for each in planned.objects
        if (each.id.kind, each.id.namespace, each.id.name) == ("HelmRelease", namespace, name)
    )
    return dict(found.manifest["spec"])


def test_its_objects_lie_there_with_its_source_and_its_alert() -> None:
    found = there(plan(), "cert-manager")
    kinds = {kind for kind, _ in found}
    assert kinds == {"HelmRelease", "HelmRepository", "HelmChart", "Secret", "Provider", "Alert"}
    assert ("HelmRelease", "certs") not in there(plan(), "tenantry-system")


def test_helm_stores_its_release_there_on_every_cluster() -> None:
    for namespace, name in (("cert-manager", "certs"), ("kubeconfigs", "edge-certs")):
        release = spec(plan(), namespace, name)
        assert (release["storageNamespace"], release["targetNamespace"]) == ("cert-manager", "cert-manager")


def test_others_wait_for_it_across_namespaces() -> None:
    after = [{"name": "certs", "namespace": "cert-manager"}]
    assert spec(plan(), "tenantry-system", "dns")["dependsOn"] == after
    assert spec(plan(), "rocky", "web")["dependsOn"] == after


def test_bootstrap_makes_the_namespace_and_the_account_and_lets_tenants_wait() -> None:
    loaded = fleet(FLEET)
    assert homes_of_addons(loaded, "hub") == ("tenantry-system", "cert-manager")
    made = bootstrap(loaded, "dev", "hub")
    names = {(each["kind"], each["metadata"]["name"], each["metadata"].get("namespace")) for each in made}
    assert {
        ("Namespace", "cert-manager", None),
        ("ServiceAccount", "tenantry-platform", "cert-manager"),
        ("ClusterRoleBinding", "tenantry-platform-cert-manager", None),
    } <= names
    assert "each.namespace in ['tenantry-system', 'cert-manager']" in str(made)
    assert "cert-manager" not in str(bootstrap(loaded, "dev", "edge"))
