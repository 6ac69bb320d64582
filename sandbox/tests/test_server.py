import io
import json
import shutil
import subprocess
import tarfile
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from tenantry.sandbox import buckets, registry, repositories
from tenantry.sandbox.layout import Layout
from tenantry.sandbox.server import listen

DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


@pytest.fixture
def layout(published: Path, tmp_path: Path) -> Layout:
    shutil.copytree(published / "root", tmp_path / "root")
    return Layout(tmp_path / "root")


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Something of every kind that is served, made once: it takes many runs of git."""
    tmp_path = tmp_path_factory.mktemp("published")
    source = tmp_path / "source" / "rocky" / "manifests"
    source.mkdir(parents=True)
    (source / "web.yaml").write_text("kind: Deployment\n")
    layout = Layout(tmp_path / "root")
    repositories.publish(tmp_path / "source", layout.git)
    layout.charts.mkdir()
    (layout.charts / "index.yaml").write_text("apiVersion: v1\n")
    bundle = tmp_path / "oci" / "rocky" / "bundle"
    bundle.mkdir(parents=True)
    (bundle / "web.yaml").write_text("kind: Service\n")
    registry.publish([], tmp_path / "oci", layout.registry)
    objects = tmp_path / "buckets" / "apps"
    objects.mkdir(parents=True)
    (objects / "web.yaml").write_text("kind: Ingress\n")
    buckets.publish_bucket(tmp_path / "buckets", layout.buckets)
    (layout.root / "secret").write_text("not to be served")
    return tmp_path


@pytest.fixture
def url(layout: Layout) -> Iterator[str]:
    with listen(layout, [0])[0] as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


def git(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    settings = ["-c", "http.proxy=", "-c", "user.name=t", "-c", "user.email=t@example.com"]
    return subprocess.run(["git", *settings, *arguments], cwd=cwd, capture_output=True, text=True, check=False)


def get(url: str, **headers: str) -> bytes:
    with DIRECT.open(urllib.request.Request(url, headers=headers), timeout=5) as answer:
        body: bytes = answer.read()
    return body


def test_a_repository_can_be_cloned_and_fetched_from(url: str, layout: Layout, tmp_path: Path) -> None:
    cloned = git("clone", "--quiet", f"{url}/git/rocky/manifests.git", "clone", cwd=tmp_path)
    assert cloned.returncode == 0, cloned.stderr
    assert (tmp_path / "clone" / "web.yaml").read_text() == "kind: Deployment\n"

    repositories.repository(layout.git, "rocky/manifests").commit({"web.yaml": "kind: Job\n"}, "change")
    git("pull", "--quiet", cwd=tmp_path / "clone")

    assert (tmp_path / "clone" / "web.yaml").read_text() == "kind: Job\n"


def test_a_push_is_refused(url: str, tmp_path: Path) -> None:
    git("clone", "--quiet", f"{url}/git/rocky/manifests.git", "clone", cwd=tmp_path)
    git("commit", "--quiet", "--allow-empty", "--message", "mine", cwd=tmp_path / "clone")

    pushed = git("push", "origin", "main", cwd=tmp_path / "clone")

    assert pushed.returncode != 0
    assert "403" in pushed.stderr


def test_charts_are_served(url: str) -> None:
    assert get(f"{url}/charts/index.yaml") == b"apiVersion: v1\n"


def test_an_artifact_can_be_pulled(url: str) -> None:
    manifest = json.loads(get(f"{url}/v2/oci/rocky/bundle/manifests/latest"))

    layer = get(f"{url}/v2/oci/rocky/bundle/blobs/{manifest['layers'][0]['digest']}")

    with tarfile.open(fileobj=io.BytesIO(layer)) as archive:
        assert archive.getnames() == ["web.yaml"]


def test_a_client_that_asks_for_the_head_alone_is_told_the_size(url: str) -> None:
    request = urllib.request.Request(f"{url}/v2/oci/rocky/bundle/manifests/latest", method="HEAD")
    with DIRECT.open(request, timeout=5) as answer:
        assert int(answer.headers["Content-Length"]) == len(get(request.full_url))
        assert answer.read() == b""


def test_an_object_of_a_bucket_is_served_to_who_signs(url: str) -> None:
    assert get(f"{url}/apps/web.yaml", Authorization="AWS4-HMAC-SHA256 x") == b"kind: Ingress\n"


def test_it_says_that_it_runs(url: str) -> None:
    assert get(f"{url}/healthz") == b"ok\n"


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/charts/missing.tgz",
        "/charts/../secret",
        "/charts/%2e%2e/secret",
        "/git/rocky/missing.git/info/refs?service=git-upload-pack",
        "/git/../manifests.git/info/refs?service=git-upload-pack",
        "/git/rocky/manifests.git/HEAD",
        "/v2/oci/rocky/missing/tags/list",
        "/v2/../secret/manifests/latest",
        "/missing/web.yaml",
        "/../secret",
    ],
)
def test_nothing_else_is_found(url: str, path: str) -> None:
    with pytest.raises(urllib.error.HTTPError) as refusal:
        get(url + path)

    with refusal.value:
        assert refusal.value.code == 404
