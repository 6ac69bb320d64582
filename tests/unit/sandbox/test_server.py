import subprocess
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox import repositories
from sandbox.layout import Layout
from sandbox.server import listen

DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    source = tmp_path / "source" / "rocky" / "manifests"
    source.mkdir(parents=True)
    (source / "web.yaml").write_text("kind: Deployment\n")
    layout = Layout(tmp_path / "root")
    repositories.publish(tmp_path / "source", layout.git)
    layout.charts.mkdir()
    (layout.charts / "index.yaml").write_text("apiVersion: v1\n")
    (layout.root / "secret").write_text("not to be served")
    return layout


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


def get(url: str) -> bytes:
    with DIRECT.open(url, timeout=5) as answer:
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
    ],
)
def test_nothing_else_is_found(url: str, path: str) -> None:
    with pytest.raises(urllib.error.HTTPError) as refusal:
        get(url + path)

    with refusal.value:
        assert refusal.value.code == 404
