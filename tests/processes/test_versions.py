"""Asking sources for their versions: with git and the sandbox's own server, and a stand-in for helm."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from tenantry.manifests.model import NotFetched
from tenantry.manifests.versions import Question, ask_all

from tenantry.sandbox import registry, repositories
from tenantry.sandbox.layout import Layout
from tenantry.sandbox.server import listen

HELM = """\
#!/bin/sh
echo "$*" >> "{log}"
case "$*" in
  "repo add -- asked https://charts.example.com") ;;
  "repo add"*) echo "Error: looks like \\"x\\" is not a valid chart repository or cannot be reached: no such host" >&2; exit 1 ;;
  "search repo --versions --devel --output=json") cat "{answer}" ;;
esac
"""


@pytest.fixture
def programs(tmp_path: Path) -> dict[str, tuple[str, ...]]:
    helm = tmp_path / "helm"
    helm.write_text(HELM.format(log=tmp_path / "calls", answer=tmp_path / "answer"))
    helm.chmod(0o755)
    (tmp_path / "answer").write_text(
        '[{"name": "asked/web", "version": "1.0.0", "x": 1}, {"name": "asked/web", "version": "1.1.0"},'
        ' {"name": "asked/db", "version": "2.0.0"}]'
    )
    return {"git": ("git",), "helm": (str(helm),)}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    layout = Layout(tmp_path / "sandbox")
    for path in ("git/rocky/manifests", "oci/rocky/bundle"):
        (tmp_path / path).mkdir(parents=True)
        (tmp_path / path / "web.yaml").write_text("kind: ConfigMap\n")
    repositories.publish(tmp_path / "git", layout.git)
    made = repositories.repository(layout.git, "rocky/manifests").path
    for tag in ("v1.0.0", "v1.1.0"):
        subprocess.run(["git", f"--git-dir={made}", "tag", tag, "main"], check=True)
    registry.publish([], tmp_path / "oci", layout.registry)
    with listen(layout, [0])[0] as listening:
        thread = threading.Thread(target=listening.serve_forever, args=(0.01,))
        thread.start()
        yield f"127.0.0.1:{listening.server_address[1]}"
        listening.shutdown()
        thread.join()


def test_each_source_is_asked_once(programs: dict[str, tuple[str, ...]], server: str, tmp_path: Path) -> None:
    repository = "https://charts.example.com"
    web, db, none = (Question("chart", repository, chart) for chart in ("web", "db", "none"))
    gone = Question("chart", "https://gone.example.com", "web")
    git = Question("git", f"http://{server}/git/rocky/manifests.git")
    oci = Question("oci", f"oci://{server}/oci/rocky/bundle", insecure=True)
    missing = Question("oci", f"oci://{server}/charts/none", insecure=True)
    told: list[tuple[int, int]] = []
    found = ask_all([web, db, none, gone, git, oci, missing], programs, lambda *each: told.append(each))
    assert (found[web], found[db]) == ({"1.0.0", "1.1.0"}, {"2.0.0"})
    assert (found[git], found[oci]) == ({"v1.0.0", "v1.1.0"}, {"latest"})
    failed = {each: answer.message for each, answer in found.items() if isinstance(answer, NotFetched)}
    assert failed.keys() == {none, gone, missing}
    assert failed[none] == "it has no chart 'none'"
    assert failed[gone] == "helm: no such host"
    assert told[-1] == (7, 7)
    assert len((tmp_path / "calls").read_text().splitlines()) == 3


@pytest.mark.parametrize(
    ("question", "said"),
    [
        (Question("chart", "--post-renderer=x", "web"), "is not a URL"),
        (Question("git", "ext::sh -c x"), "is not a URL"),
        (Question("git", "--upload-pack=x"), "is not a URL"),
        (Question("oci", "oci://-x"), "is not a URL"),
        (Question("chart", "https://charts.example.com", "web"), "in a form that is not known"),
    ],
)
def test_what_is_no_address_or_no_answer_is_told(
    question: Question, said: str, programs: dict[str, tuple[str, ...]], tmp_path: Path
) -> None:
    (tmp_path / "answer").write_text('{"name": ' + "[" * 9000)
    answer = ask_all([question], programs)[question]
    assert isinstance(answer, NotFetched)
    assert said in answer.message
    without = ask_all([Question("chart", "https://charts.example.com", "web")], {})
    assert "install Helm" in [each.fix for each in without.values() if isinstance(each, NotFetched)]
