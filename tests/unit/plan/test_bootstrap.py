"""What a cluster needs once."""

from __future__ import annotations

from tenantry.plan.bootstrap import bootstrap, management_policies, remote_policies
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


def marker(platform: str, name: str) -> dict[str, object]:
    metadata = {"name": "tenantry", "namespace": platform, "labels": MINE}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"cluster": name}}


def test_a_remote_needs_the_platform_s_namespace_and_rights_for_the_user_of_the_account_beside_its_kubeconfig() -> None:
    expected = (
        namespace("tenantry-system"),
        binding("tenantry-platform-kamaji", "system:serviceaccount:kamaji:tenantry-platform"),
        marker("tenantry-system", "edge"),
        *remote_policies(),
    )
    assert expected == bootstrap(fleet(FRAME), "dev", "edge")


def test_the_management_cluster_needs_the_account_itself() -> None:
    account = {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": {"name": "tenantry-platform", "namespace": "tenantry-system", "labels": MINE},
        "automountServiceAccountToken": False,
    }
    expected = (
        namespace("tenantry-system"),
        account,
        binding("tenantry-platform-tenantry-system", "system:serviceaccount:tenantry-system:tenantry-platform"),
        marker("tenantry-system", "hub"),
    )
    policies = management_policies(["tenantry-system"], shared_identity=False)
    assert (*expected, *policies) == bootstrap(fleet(FRAME), "dev", "hub")


def test_names_that_the_fleet_chose_are_used() -> None:
    text = FRAME.replace("platform: {", "platform: {namespace: ops, ").replace(
        "kubeconfig: {kam", "platformServiceAccount: boss, kubeconfig: {kam"
    )
    expected = (namespace("ops"), binding("boss-kamaji", "system:serviceaccount:kamaji:boss"))
    assert expected == bootstrap(fleet(text), "dev", "edge")[:2]


def test_a_remote_in_several_environments_of_one_management_cluster_binds_the_accounts_of_all() -> None:
    text = FRAME.replace(
        "dev: {management: hub}", 'dev: {management: hub}\n  r1: {extends: dev, namespace: "{env}-{tenant}"}'
    )
    loaded = fleet(text.replace("edge: {environments: [dev]", "edge: {environments: [dev, r1]"))
    expected = (
        namespace("tenantry-system"),
        binding("tenantry-platform-kamaji", "system:serviceaccount:kamaji:tenantry-platform"),
        binding("tenantry-platform-r1-kamaji", "system:serviceaccount:kamaji:tenantry-platform-r1"),
        marker("tenantry-system", "edge"),
        *remote_policies(),
    )
    assert expected == bootstrap(loaded, "dev", "edge") == bootstrap(loaded, "r1", "edge")
