"""What the sandbox serves besides Git and charts, its kubectl, and that its alerts go out: Flux's own objects, and no fleet."""

from __future__ import annotations

import base64
import io
import shutil
import tarfile
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import httpx2
import pytest

from tests.e2e.clusters import Cluster, eventually
from tests.e2e.project import Project
from tests.e2e.receiver import Post, Receiver, receiving

pytestmark = pytest.mark.e2e

NAMESPACE = "content"
SOURCES = "source.toolkit.fluxcd.io/v1"
ALERTS = "notification.toolkit.fluxcd.io/v1beta3"
OBJECT = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\n"


@pytest.fixture(scope="module")
def served(sandbox: Project) -> Iterator[Project]:
    """The sandbox, serving an artifact and a bucket more than usual."""
    folders = [sandbox.content / "oci" / "sole" / "bundle", sandbox.content / "buckets" / "apps" / "web"]
    for folder in folders:
        folder.mkdir(parents=True)
        (folder / "web.yaml").write_text(OBJECT)
    publish(sandbox)
    yield sandbox
    for folder in folders:
        shutil.rmtree(folder.parent)
    publish(sandbox)


def publish(project: Project) -> None:
    project.tenantry("sandbox", "up", "--environment", "dev", "--content", str(project.content)).ok()


@pytest.fixture(scope="module")
def receiver() -> Iterator[Receiver]:
    with receiving() as receiver:
        yield receiver


@pytest.fixture(scope="module")
def hub(served: Project, receiver: Receiver) -> Iterator[Cluster]:
    """The management cluster, with a namespace whose sources' events are posted to the receiver."""
    with closing(Cluster(served.kubeconfig("hub-dev"))) as hub:
        hub.apply("namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
        hub.apply("providers", manifest(ALERTS, "Provider", "chat", type="generic", address=f"{receiver.url}/chat"))
        sources = [{"kind": "OCIRepository", "name": "*"}]
        hub.apply("alerts", manifest(ALERTS, "Alert", "chat", providerRef={"name": "chat"}, eventSources=sources))
        yield hub
        hub.remove_namespaces(NAMESPACE)


def manifest(api_version: str, kind: str, name: str, **spec: Any) -> dict[str, Any]:
    metadata = {"name": name, "namespace": NAMESPACE}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": spec}


def members(hub: Cluster, kind: str, plural: str, name: str) -> list[str]:
    """The files in what Flux fetched, once it has."""
    url = eventually(lambda: _artifact(hub, kind, plural, name), f"an artifact of {kind} {name}")
    with tarfile.open(fileobj=io.BytesIO(httpx2.get(url, trust_env=False).content)) as archive:
        return [member.name for member in archive if member.isfile()]


def _artifact(hub: Cluster, kind: str, plural: str, name: str) -> str | None:
    url: str | None = _status(hub, kind, plural, name).get("artifact", {}).get("url")
    return url if _ready(hub, kind, plural, name).get("status") == "True" else None


def _ready(hub: Cluster, kind: str, plural: str, name: str) -> dict[str, str]:
    conditions = _status(hub, kind, plural, name).get("conditions", [])
    return next((each for each in conditions if each["type"] == "Ready"), {})


def _status(hub: Cluster, kind: str, plural: str, name: str) -> dict[str, Any]:
    group, _, version = SOURCES.partition("/")
    found = hub.get(group, version, kind, plural, name, NAMESPACE) or {}
    status: dict[str, Any] = found.get("status", {})
    return status


def test_an_artifact_of_the_registry_is_fetched_and_the_alert_is_posted(hub: Cluster, receiver: Receiver) -> None:
    url = "oci://sandbox.test/oci/sole/bundle"
    hub.apply("ocirepositories", manifest(SOURCES, "OCIRepository", "bundle", url=url, insecure=True, interval="1h"))
    assert members(hub, "OCIRepository", "ocirepositories", "bundle") == ["web.yaml"]
    post = eventually(lambda: _first(receiver.posts("/chat")), "the event to be posted")
    assert post.body["involvedObject"]["name"] == "bundle"
    assert (post.body["reason"], post.body["severity"]) == ("NewArtifact", "info")


def _first(posts: list[Post]) -> Post | None:
    return posts[0] if posts else None


def test_a_chart_of_the_registry_is_fetched(hub: Cluster) -> None:
    url = "oci://sandbox.test/charts"
    hub.apply("helmrepositories", manifest(SOURCES, "HelmRepository", "charts", url=url, type="oci", insecure=True))
    source = {"kind": "HelmRepository", "name": "charts"}
    chart = manifest(SOURCES, "HelmChart", "web", chart="movy-web", version="1.x", sourceRef=source, interval="1h")
    hub.apply("helmcharts", chart)
    assert "movy-web/Chart.yaml" in members(hub, "HelmChart", "helmcharts", "web")


def test_a_bucket_is_fetched_with_its_credentials(hub: Cluster) -> None:
    data = {key: base64.b64encode(b"sandbox").decode() for key in ("accesskey", "secretkey")}
    metadata = {"name": "keys", "namespace": NAMESPACE}
    hub.apply("secrets", {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": data})
    hub.apply("buckets", bucket("signed", secretRef={"name": "keys"}))
    assert members(hub, "Bucket", "buckets", "signed") == ["web/web.yaml"]


def test_a_bucket_is_refused_without_credentials(hub: Cluster) -> None:
    hub.apply("buckets", bucket("unsigned"))
    condition = eventually(lambda: _refused(hub, "unsigned"), "the bucket to be refused")
    assert condition["message"] == "failed to confirm existence of 'apps' bucket: Access Denied."


def bucket(name: str, **spec: Any) -> dict[str, Any]:
    endpoint = "sandbox.test"
    return manifest(SOURCES, "Bucket", name, bucketName="apps", endpoint=endpoint, insecure=True, interval="1h", **spec)


def _refused(hub: Cluster, name: str) -> dict[str, str] | None:
    condition = _ready(hub, "Bucket", "buckets", name)
    return condition if condition.get("status") == "False" else None


def test_kubectl_talks_to_the_management_cluster_or_to_the_one_that_is_named(sandbox: Project) -> None:
    def namespaces(*options: str) -> list[str]:
        command = ("kubectl", "get", "namespaces", "--output", "name")
        return sandbox.tenantry("sandbox", "run", *options, "--", *command).ok().out.split()

    assert "namespace/flux-system" in namespaces()
    assert "namespace/flux-system" not in namespaces("--cluster", "edge-1")


def test_an_unknown_cluster_is_refused_with_the_names_there_are(sandbox: Project) -> None:
    refused = sandbox.tenantry("sandbox", "run", "--cluster", "edge-9", "--", "kubectl", "get", "namespaces")

    assert refused.code == 2
    assert "error: the sandbox has no cluster 'edge-9'\n  fix: use one of: hub-dev, edge-1\n" in refused.text
