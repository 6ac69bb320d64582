"""Health checks that no object can match are refused where they are written, with the account of their tenant in mind."""

from __future__ import annotations

from tests.unit.texts import one, planned, problems, rocky, told

CHECKS = """\
plural: {kustomize: {source: manifests, healthChecks: [{apiVersion: apps/v1, kind: deployments.apps, name: a, namespace: rocky}]}}
any: {kustomize: {source: manifests, healthChecks: [{apiVersion: v1, kind: Pod, name: "*", namespace: rocky}]}}
nowhere: {kustomize: {source: manifests, healthChecks: [{kind: Deployment, name: a}]}}
elsewhere: {kustomize: {source: manifests, healthChecks: [{kind: Deployment, name: a, namespace: "{where}"}]}}
role: {kustomize: {source: manifests, healthChecks: [{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, name: a}]}}
"""


def test_each_is_refused_in_its_line() -> None:
    assert problems(rocky(CHECKS, "clusters: {all: true}\nvariables: {where: blue}")) == told(
        "tenants.yaml:16:90: error[unknown-kind]: 'deployments.apps' is no kind, and matches no object",
        "  at tenants.rocky.apps.plural.kustomize.healthChecks[0].kind",
        "  fix: write 'Deployment'",
        "tenants.yaml:17:93: error[bad-check]: '*' is no name of an object: a health check has no patterns",
        "  at tenants.rocky.apps.any.kustomize.healthChecks[0].name",
        "  fix: name one object, or write 'wait: true' instead, which waits for all that is applied",
        "tenants.yaml:18:63: error[bad-check]: Deployment 'a' of this health check has no namespace, and Flux takes none from"
        " 'targetNamespace'",
        "  at tenants.rocky.apps.nowhere.kustomize.healthChecks[0]",
        "  fix: add 'namespace: rocky'",
        "tenants.yaml:19:104: error[foreign-namespace]: the account of tenant 'rocky' may not read namespace 'blue'",
        "  at tenants.rocky.apps.elsewhere.kustomize.healthChecks[0].namespace",
        "  on cluster 'hub' it may read 'rocky'",
        "  on cluster 'edge' it may read 'rocky'",
        "  fix: write 'namespace: rocky'",
        "tenants.yaml:20:109: error[foreign-namespace]: the account of tenant 'rocky' may not read a ClusterRole, which is in no"
        " namespace",
        "  at tenants.rocky.apps.role.kustomize.healthChecks[0].kind",
        "  fix: remove the health check",
        "Found 5 errors",
    )


def test_a_tenant_with_rights_on_clusters_and_the_platform_may_look_anywhere() -> None:
    rules = "[{apiGroups: [apps], resources: [deployments], verbs: [get, list, watch]}]"
    rights = f"clusters: {{all: true}}\nclusterRoles: {{r: {{rules: {rules}}}}}"
    app = "web: {kustomize: {source: manifests, healthChecks: [{kind: Deployment, name: a, namespace: blue}]}}"
    assert one(planned(rocky(app, f"{rights}\nclusterAdmin: true")), "Kustomization", "web")
