"""What a cluster needs once."""

from __future__ import annotations

from tenantry.plan.bootstrap import bootstrap
from tests.unit.texts import FRAME, fleet

MINE = {"app.kubernetes.io/managed-by": "tenantry"}


def binding(name: str, user: str) -> dict[str, object]:
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": name, "labels": MINE},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}],
    }


def namespace(name: str) -> dict[str, object]:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": MINE}}


def test_a_remote_needs_the_platform_s_namespace_and_rights_for_the_user_of_the_account_beside_its_kubeconfig() -> None:
    expected = (
        namespace("tenantry-system"),
        binding("tenantry-platform-kamaji", "system:serviceaccount:kamaji:tenantry-platform"),
    )
    assert expected == bootstrap(fleet(FRAME), "dev", "edge")


def test_the_management_cluster_needs_the_account_itself() -> None:
    account = {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": {"name": "tenantry-platform", "namespace": "tenantry-system", "labels": MINE},
    }
    expected = (
        namespace("tenantry-system"),
        account,
        binding("tenantry-platform-tenantry-system", "system:serviceaccount:tenantry-system:tenantry-platform"),
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "tenantry", "namespace": "tenantry-system", "labels": MINE},
            "data": {"cluster": "hub"},
        },
    )
    assert expected == bootstrap(fleet(FRAME), "dev", "hub")[:4]


def test_the_management_cluster_keeps_tenants_own_flux_objects_inside_their_namespaces() -> None:
    *_, policy, bound = bootstrap(fleet(FRAME.replace("platform: {", "platform: {namespace: ops, ")), "dev", "hub")
    metadata = {"name": "tenantry-tenants", "labels": MINE}
    group = "admissionregistration.k8s.io/v1"
    assert bound == {
        "apiVersion": group,
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": metadata,
        "spec": {"policyName": "tenantry-tenants", "validationActions": ["Deny"]},
    }
    assert policy == {
        "apiVersion": group,
        "kind": "ValidatingAdmissionPolicy",
        "metadata": metadata,
        "spec": {
            "failurePolicy": "Fail",
            "matchConstraints": {
                "matchPolicy": "Equivalent",
                "namespaceSelector": {"matchLabels": {**MINE, "toolkit.fluxcd.io/role": "tenant"}},
                "objectSelector": {},
                "resourceRules": [
                    watched("kustomize.toolkit.fluxcd.io", "kustomizations"),
                    watched("helm.toolkit.fluxcd.io", "helmreleases"),
                ],
            },
            "validations": [
                {
                    "expression": "has(object.metadata.deletionTimestamp) || !has(object.spec.dependsOn)"
                    " || object.spec.dependsOn.all(each, !has(each.namespace) || each.namespace == object.metadata.namespace"
                    " || (each.namespace == 'ops' && !has(each.readyExpr)))",
                    "message": "a tenant's dependsOn names its own namespace, or without a readyExpr 'ops'",
                },
                {
                    "expression": "has(object.metadata.deletionTimestamp) || !has(object.spec.kubeConfig)"
                    " || !has(object.spec.kubeConfig.configMapRef)",
                    "message": "a tenant's kubeConfig is a Secret of its own:"
                    " with configMapRef Flux would lend it its own identity",
                },
            ],
        },
    }


def watched(group: str, resource: str) -> dict[str, object]:
    operations = ["CREATE", "UPDATE"]
    return {"apiGroups": [group], "apiVersions": ["*"], "operations": operations, "resources": [resource], "scope": "*"}


def test_names_that_the_fleet_chose_are_used() -> None:
    text = FRAME.replace("platform: {", "platform: {namespace: ops, ").replace(
        "kubeconfig: {kam", "platformServiceAccount: boss, kubeconfig: {kam"
    )
    expected = (namespace("ops"), binding("boss-kamaji", "system:serviceaccount:kamaji:boss"))
    assert expected == bootstrap(fleet(text), "dev", "edge")


def test_a_remote_in_several_environments_of_one_management_cluster_binds_the_accounts_of_all() -> None:
    text = FRAME.replace(
        "dev: {management: hub}", 'dev: {management: hub}\n  r1: {extends: dev, namespace: "{env}-{tenant}"}'
    )
    loaded = fleet(text.replace("edge: {environments: [dev]", "edge: {environments: [dev, r1]"))
    expected = (
        namespace("tenantry-system"),
        binding("tenantry-platform-kamaji", "system:serviceaccount:kamaji:tenantry-platform"),
        binding("tenantry-platform-r1-kamaji", "system:serviceaccount:kamaji:tenantry-platform-r1"),
    )
    assert expected == bootstrap(loaded, "dev", "edge") == bootstrap(loaded, "r1", "edge")
