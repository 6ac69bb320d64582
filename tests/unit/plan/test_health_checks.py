"""Health checks that no object can match are refused where they are written, with the account of their tenant in mind."""

from __future__ import annotations

from tests.unit.texts import one, planned, rocky


def test_a_tenant_with_rights_on_clusters_and_the_platform_may_look_anywhere() -> None:
    rules = "[{apiGroups: [apps], resources: [deployments], verbs: [get, list, watch]}]"
    rights = f"clusters: {{all: true}}\nclusterRoles: {{r: {{rules: {rules}}}}}"
    app = "web: {kustomize: {source: manifests, healthChecks: [{kind: Deployment, name: a, namespace: blue}]}}"
    assert one(planned(rocky(app, f"{rights}\nclusterAdmin: true")), "Kustomization", "web")
