"""Accounts that add-ons have of their own, with few rights."""

from __future__ import annotations

from tenantry.plan.bootstrap import bootstrap
from tests.unit.texts import fleet, planned, problems

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
      account: {role: edit, rules: [{apiGroups: [""], resources: [nodes], verbs: [get]}]}
      helm: {source: charts, chart: dns, version: 1.x, targetNamespace: dns}
    logs: {clusters: {all: true}, helm: {source: charts, chart: logs, version: 1.x}}
tenants:
  rocky:
    clusters: {all: true}
    sources: {c: {helm: {url: https://c.example.com}}}
    apps: {web: {helm: {source: c, chart: web, version: 1.x}}}
"""
_RBAC = "rbac.authorization.k8s.io"


def test_on_a_management_cluster_pulumi_creates_the_account_and_its_rights_before_the_release() -> None:
    plan = planned(FLEET, "dev")
    by_name = {(each.id.kind, each.id.name): each for each in plan.objects}
    account = by_name["ServiceAccount", "addon.dev.dns"]
    binding = by_name["RoleBinding", "tenantry-addon.dev.dns.edit"]
    user = {"apiGroup": _RBAC, "kind": "User", "name": "system:serviceaccount:tenantry-system:addon.dev.dns"}
    assert account.id.namespace == "tenantry-system"
    assert (binding.id.namespace, binding.manifest["subjects"]) == ("dns", [user])
    assert binding.manifest["roleRef"]["name"] == "edit"
    wide = by_name["ClusterRole", "tenantry-addon.dev.dns"], by_name["ClusterRoleBinding", "tenantry-addon.dev.dns"]
    assert wide[0].manifest["rules"] == [{"apiGroups": [""], "resources": ["nodes"], "verbs": ["get"]}]
    assert (wide[1].manifest["subjects"], wide[1].manifest["roleRef"]["name"]) == ([user], wide[0].id.name)
    release = by_name["HelmRelease", "dns"]
    assert {account.id, binding.id, *(each.id for each in wide)} <= {*release.depends_on}
    spec = release.manifest["spec"]
    # Secrets of releases in the platform's namespace would be the way to its rights.
    assert (spec["serviceAccountName"], spec["storageNamespace"], spec["targetNamespace"]) == (
        "addon.dev.dns",
        "dns",
        "dns",
    )
    assert by_name["HelmRelease", "logs"].manifest["spec"]["serviceAccountName"] == "tenantry-platform"


def test_on_a_remote_cluster_the_release_of_its_namespaces_installs_the_rights() -> None:
    by_name = {(each.id.kind, each.id.name): each for each in planned(FLEET, "prod").objects}
    account, release = by_name["ServiceAccount", "addon.prod.dns"], by_name["HelmRelease", "edge-dns"]
    installs = by_name["HelmRelease", "edge-dns-namespaces"]
    assert account.id.namespace == "kamaji"
    assert {account.id, installs.id} <= {*release.depends_on}
    assert release.manifest["spec"]["serviceAccountName"] == "addon.prod.dns"
    assert installs.manifest["spec"]["serviceAccountName"] == "tenantry-platform-prod"
    inside = {each["kind"]: each for each in installs.manifest["spec"]["values"]["objects"]}
    assert inside.keys() == {"Namespace", "RoleBinding", "ClusterRole", "ClusterRoleBinding"}
    users = {each["subjects"][0]["name"] for kind, each in inside.items() if kind.endswith("Binding")}
    assert users == {"system:serviceaccount:kamaji:addon.prod.dns"}


def test_a_release_stays_in_the_namespaces_of_the_add_on() -> None:
    assert "write 'targetNamespace: dns'" in problems(FLEET.replace("targetNamespace: dns", "targetNamespace: other"))
    assert "write 'targetNamespace: dns'" in problems(FLEET.replace(", targetNamespace: dns", ""))


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
    assert (releases["logs"]["storageNamespace"], releases["dns"]["storageNamespace"]) == ("flux-system", "dns")
    assert "helm-controller" not in {each.id.name for each in objects}
    made = bootstrap(fleet(EXISTING), "prod", "hub")
    there = {(each["kind"], each["metadata"].get("namespace")) for each in made if each["kind"] != "ConfigMap"}
    assert ("Namespace", "flux-system") in {(each["kind"], each["metadata"]["name"]) for each in made}
    assert ("ServiceAccount", "tenantry-system") in there
    assert ("ServiceAccount", "flux-system") not in there
