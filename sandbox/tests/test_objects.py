import base64
from pathlib import Path

import yaml
from tenantry.sandbox import api, flux
from tenantry.sandbox.api import Access
from tenantry.sandbox.pki import Authority
from tenantry.sandbox.spec import RemoteSpec


def test_a_remotes_kubeconfig_lies_in_its_namespace_under_its_key(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    access = Access("edge-1", 6443, authority.pair.certificate, "admin", authority.client("admin", "admin"))
    remote = RemoteSpec("edge-1", "kamaji-edge", "edge-1-admin-kubeconfig", "admin.conf", ())

    namespace, secret = api.kubeconfig_objects(remote, access)

    assert (namespace["kind"], namespace["metadata"]["name"]) == ("Namespace", "kamaji-edge")
    assert (secret["metadata"]["name"], secret["metadata"]["namespace"]) == ("edge-1-admin-kubeconfig", "kamaji-edge")
    assert secret["metadata"]["labels"]["reconcile.fluxcd.io/watch"] == "Enabled"
    assert base64.b64decode(secret["data"]["admin.conf"]).decode() == access.kubeconfig()
    assert yaml.safe_load(access.kubeconfig())["clusters"][0]["cluster"]["server"] == "https://127.0.0.1:6443"


def test_only_the_controllers_that_apply_are_administrators() -> None:
    bindings = {each["metadata"]["name"]: each for each in flux.manifests() if each["kind"] == "ClusterRoleBinding"}

    administrators = bindings["cluster-reconciler-flux-system"]
    assert administrators["roleRef"]["name"] == "cluster-admin"
    assert [each["name"] for each in administrators["subjects"]] == ["kustomize-controller", "helm-controller"]


def test_flux_objects_come_with_the_roles_that_people_have() -> None:
    roles = {each["metadata"]["name"]: each for each in flux.manifests() if each["kind"] == "ClusterRole"}

    def aggregated(name: str) -> list[str]:
        labels = roles[name]["metadata"]["labels"]
        return [label.removeprefix(flux.AGGREGATE) for label in labels if label.startswith(flux.AGGREGATE)]

    assert aggregated("flux-edit-flux-system") == ["admin", "edit"]
    assert aggregated("flux-view-flux-system") == ["admin", "edit", "view"]
    assert "escalate" not in str(roles)


def test_a_controller_is_known_as_its_service_account() -> None:
    assert flux.user("helm-controller") == "system:serviceaccount:flux-system:helm-controller"
    assert "system:masters" not in flux.groups()
