import base64
from pathlib import Path

import pytest
import yaml

from tenantry_sandbox.api import Access
from tenantry_sandbox.certificates import Authority


@pytest.fixture
def access(tmp_path: Path) -> Access:
    authority = Authority(tmp_path)
    pair = authority.client("admin", "kubernetes-admin", "system:masters")
    return Access("edge-1", 6443, authority.pair.certificate, "kubernetes-admin", pair)


def test_the_context_has_the_clusters_name_and_is_the_current_one(access: Access) -> None:
    document = yaml.safe_load(access.kubeconfig())

    assert document["current-context"] == "edge-1"
    assert document["contexts"] == [{"name": "edge-1", "context": {"cluster": "edge-1", "user": "kubernetes-admin"}}]


def test_everything_stands_inline_since_flux_reads_no_files(access: Access) -> None:
    document = yaml.safe_load(access.kubeconfig())

    cluster, user = document["clusters"][0]["cluster"], document["users"][0]["user"]
    assert cluster == {
        "server": "https://127.0.0.1:6443",
        "certificate-authority-data": base64.b64encode(access.authority.read_bytes()).decode(),
        "disable-compression": True,
    }
    assert user == {
        "client-certificate-data": base64.b64encode(access.pair.certificate.read_bytes()).decode(),
        "client-key-data": base64.b64encode(access.pair.key.read_bytes()).decode(),
    }


def test_another_user_of_the_cluster_has_other_credentials(access: Access) -> None:
    document = yaml.safe_load(access.kubeconfig_of("helm-controller", {"token": "t"}))

    assert document["users"] == [{"name": "helm-controller", "user": {"token": "t"}}]
    assert document["clusters"] == yaml.safe_load(access.kubeconfig())["clusters"]
