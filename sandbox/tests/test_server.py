import io
import json
import subprocess
import tarfile
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from werkzeug import Request, Response
from werkzeug.serving import make_server

from tenantry_sandbox.content import commit, publish
from tenantry_sandbox.layout import Layout
from tenantry_sandbox.server import Content, Handler
from tenantry_sandbox.spec import SandboxSpec

DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    for path in ("git/rocky/manifests", "oci/rocky/bundle"):
        (tmp_path / "content" / path).mkdir(parents=True)
        (tmp_path / "content" / path / "web.yaml").write_text("kind: Deployment\n")
    publish(tmp_path / "root", SandboxSpec("dev", "hub", (), (), tmp_path / "content", ()))
    layout = Layout(tmp_path / "root")
    (layout.root / "secret").write_text("not to be served")
    return layout


@pytest.fixture
def url(layout: Layout) -> Iterator[str]:
    with served(Content(layout)) as address:
        yield address


@contextmanager
def served(application: Callable[..., Any], host: str = "127.0.0.1") -> Iterator[str]:
    server = make_server(host, 0, application, threaded=True, request_handler=Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://{host}:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


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

    commit(layout.root, "rocky/manifests", {"web.yaml": "kind: Job\n"}, "change")
    git("pull", "--quiet", cwd=tmp_path / "clone")

    assert (tmp_path / "clone" / "web.yaml").read_text() == "kind: Job\n"


def test_a_push_is_refused(url: str, tmp_path: Path) -> None:
    git("clone", "--quiet", f"{url}/git/rocky/manifests.git", "clone", cwd=tmp_path)
    git("commit", "--quiet", "--allow-empty", "--message", "mine", cwd=tmp_path / "clone")

    pushed = git("push", "origin", "main", cwd=tmp_path / "clone")

    assert pushed.returncode != 0
    assert "403" in pushed.stderr


def test_charts_are_served(url: str) -> None:
    assert get(f"{url}/charts/index.yaml").startswith(b"apiVersion: v1\n")


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


def test_a_shallow_clone_has_the_newest_content(url: str, layout: Layout, tmp_path: Path) -> None:
    commit(layout.root, "rocky/manifests", {"new.yaml": "kind: Job\n"}, "change")

    cloned = git("clone", "--quiet", "--depth", "1", f"{url}/git/rocky/manifests.git", "clone", cwd=tmp_path)

    assert cloned.returncode == 0, cloned.stderr
    assert {path.name for path in (tmp_path / "clone").iterdir()} == {".git", "new.yaml", "web.yaml"}
    assert git("rev-list", "--count", "HEAD", cwd=tmp_path / "clone").stdout == "1\n"


class TestAsAProxy:
    """As source-controller uses it."""

    @pytest.fixture
    def through(self, url: str) -> urllib.request.OpenerDirector:
        return urllib.request.build_opener(urllib.request.ProxyHandler({"http": url}))

    @pytest.mark.parametrize("host", ["sandbox.test", "sandbox.test:80"])
    def test_it_answers_for_its_own_host_whatever_its_port(
        self, through: urllib.request.OpenerDirector, host: str
    ) -> None:
        with through.open(f"http://{host}/charts/index.yaml", timeout=5) as answer:
            assert answer.read().startswith(b"apiVersion: v1\n")

    def test_a_repository_can_be_cloned_from_it(self, url: str, tmp_path: Path) -> None:
        proxy = ["-c", f"http.proxy={url}"]
        cloned = git(*proxy, "clone", "--quiet", "http://sandbox.test/git/rocky/manifests.git", "clone", cwd=tmp_path)
        assert cloned.returncode == 0, cloned.stderr

    def test_what_is_for_another_host_goes_on_to_it(self, through: urllib.request.OpenerDirector) -> None:
        @Request.application
        def other(request: Request) -> Response:
            if request.path == "/missing":
                return Response("no", 404)
            return Response(f"{request.method} {request.full_path} {request.headers['X-Own']} {request.get_data()!r}")

        # A host that the server does not take for its own.
        with served(other, "127.0.0.2") as address:
            own = urllib.request.Request(f"{address}/a?b=c", b"data", {"X-Own": "kept"})
            with through.open(own, timeout=5) as answer:
                assert answer.read() == b"POST /a?b=c kept b'data'"
            with pytest.raises(urllib.error.HTTPError) as refusal:
                through.open(f"{address}/missing", timeout=5)
            with refusal.value:
                assert refusal.value.code == 404
        with pytest.raises(urllib.error.HTTPError) as nobody:
            through.open(own, timeout=5)
        with nobody.value:
            assert nobody.value.code == 502


def test_of_a_repository_that_is_missing_nothing_is_said_which_flux_would_quote(url: str) -> None:
    with pytest.raises(urllib.error.HTTPError) as refusal:
        get(f"{url}/git/rocky/gone.git/info/refs?service=git-upload-pack")

    with refusal.value:
        assert (refusal.value.code, refusal.value.read()) == (404, b"")


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
