"""Rights of a tenant on whole clusters."""

from __future__ import annotations

from tests.unit.texts import named, one, planned, problems, rocky

SIMPLE = "web: {kustomize: {source: manifests}}"
RULE = '{apiGroups: [""], resources: [persistentvolumes], verbs: [get, create]}'
RIGHTS = f"clusters: {{all: true}}\nclusterRoles: {{pv-access: {{rules: [{RULE}]}}, nodes: {{role: node-reader}}}}"


def test_the_tenants_user_gets_the_role_on_the_management_cluster_before_its_apps() -> None:
    plan = planned(rocky(SIMPLE, RIGHTS))
    names = [each for each in named(plan) if each.startswith("ClusterRole")]
    assert names == [
        "ClusterRoleBinding tenantry.rocky.nodes",
        "ClusterRole tenantry.rocky.pv-access",
        "ClusterRoleBinding tenantry.rocky.pv-access",
    ]
    role = one(plan, "ClusterRole", "tenantry.rocky.pv-access")
    assert role.manifest["rules"] == [
        {"apiGroups": [""], "resources": ["persistentvolumes"], "verbs": ["get", "create"]}
    ]
    binding = one(plan, "ClusterRoleBinding", "tenantry.rocky.pv-access")
    assert binding.manifest["roleRef"]["name"] == "tenantry.rocky.pv-access"
    assert [each["name"] for each in binding.manifest["subjects"]] == ["system:serviceaccount:rocky:rocky"]
    assert one(plan, "ClusterRoleBinding", "tenantry.rocky.nodes").manifest["roleRef"]["name"] == "node-reader"
    assert {role.id, binding.id} <= set(one(plan, "Kustomization", "web").depends_on)


def test_on_a_remote_cluster_they_are_part_of_the_baseline() -> None:
    release = one(planned(rocky(SIMPLE, RIGHTS)), "HelmRelease", "edge-rocky-baseline")
    objects = release.manifest["spec"]["values"]["objects"]
    (binding,) = (
        each
        for each in objects
        if each["kind"] == "ClusterRoleBinding" and each["metadata"]["name"].endswith("pv-access")
    )
    assert [each["name"] for each in binding["subjects"]] == ["system:serviceaccount:kamaji:rocky"]
    assert "namespace" not in binding["metadata"]


def test_more_needs_the_word_of_its_own() -> None:
    text = rocky(SIMPLE, "clusters: {names: [hub]}\nclusterRoles: {all: {role: cluster-admin}}")
    assert "error[cluster-rights]: role 'cluster-admin' on the whole cluster" in problems(text)
    assert "Found 1 error" in problems(text)
    allowed = planned(text.replace("clusterRoles:", "clusterAdmin: true\n    clusterRoles:"))
    assert "ClusterRoleBinding tenantry.rocky.all" in named(allowed)
