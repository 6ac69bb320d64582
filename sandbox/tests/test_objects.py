import base64
from pathlib import Path

import yaml

from tenantry.model import SecretKey
from tenantry_sandbox.api import Access
from tenantry_sandbox.certificates import Authority
from tenantry_sandbox.programs import documents
from tenantry_sandbox.spec import RemoteSpec
from tenantry_sandbox.up import kubeconfig_objects

SECRET = SecretKey(namespace="kamaji-edge", name="edge-1-admin-kubeconfig", key="admin.conf")
AGGREGATE = "rbac.authorization.k8s.io/aggregate-to-"


def test_a_remotes_kubeconfig_lies_in_its_namespace_under_its_key(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    access = Access("edge-1", 6443, authority.pair.certificate, "admin", authority.client("admin", "admin"))
    remote = RemoteSpec("edge-1", SECRET, ())

    namespace, secret = kubeconfig_objects(remote, access)

    assert (namespace["kind"], namespace["metadata"]["name"]) == ("Namespace", "kamaji-edge")
    assert (secret["metadata"]["name"], secret["metadata"]["namespace"]) == ("edge-1-admin-kubeconfig", "kamaji-edge")
    assert secret["metadata"]["labels"]["reconcile.fluxcd.io/watch"] == "Enabled"
    assert base64.b64decode(secret["data"]["admin.conf"]).decode() == access.kubeconfig()
    assert yaml.safe_load(access.kubeconfig())["clusters"][0]["cluster"]["server"] == "https://127.0.0.1:6443"


def test_only_the_controllers_that_apply_are_administrators() -> None:
    bindings = {
        each["metadata"]["name"]: each for each in documents("flux.yaml") if each["kind"] == "ClusterRoleBinding"
    }

    administrators = bindings["cluster-reconciler-flux-system"]
    assert administrators["roleRef"]["name"] == "cluster-admin"
    assert [each["name"] for each in administrators["subjects"]] == ["kustomize-controller", "helm-controller"]


def test_flux_objects_come_with_the_roles_that_people_have() -> None:
    roles = {each["metadata"]["name"]: each for each in documents("flux.yaml") if each["kind"] == "ClusterRole"}

    def aggregated(name: str) -> list[str]:
        labels = roles[name]["metadata"]["labels"]
        return [label.removeprefix(AGGREGATE) for label in labels if label.startswith(AGGREGATE)]

    assert aggregated("flux-edit-flux-system") == ["admin", "edit"]
    assert aggregated("flux-view-flux-system") == ["admin", "edit", "view"]
    assert "escalate" not in str(roles)


def test_every_node_is_one_of_kwok_s() -> None:
    assert [each["metadata"]["annotations"] for each in documents("nodes.yaml")] == [{"kwok.x-k8s.io/node": "fake"}] * 2
