"""Documentation shows what the commands print, as far as they need no cluster."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tenantry.cli.app import run

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = [each.relative_to(ROOT).as_posix() for each in sorted(ROOT.glob("examples/*/README.md"))]
_BLOCK = re.compile(r"^ *```console\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)


def outputs(page: str) -> Iterator[tuple[str, str]]:
    """Every command that a page shows, with the output below it."""
    for block in _BLOCK.findall((ROOT / page).read_text(encoding="utf-8")):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            yield command, output


def printed(command: str, capsys: pytest.CaptureFixture[str]) -> str:
    """What a command of ours prints in the current directory, and to stdout and stderr alike."""
    _, *arguments = shlex.split(command)
    run(arguments)
    captured = capsys.readouterr()
    return captured.out + captured.err


def test_getting_started_shows_what_its_commands_print(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(ROOT / "tenants.yaml", tmp_path)
    broken = (ROOT / "examples" / "minimal" / "tenants.yaml").read_text(encoding="utf-8")
    broken = broken.replace("clusters: {all: true}", "clusters: {names: [edgy]}")
    broken = broken.replace("db: {kustomize: {source: manifests, path:", "db: {kustomize: {source: manifest, pth:")
    Path("broken.yaml").write_text(broken, encoding="utf-8")
    shown = [(command, output) for command, output in outputs("docs/getting-started.md") if output]
    ours = [each for each in shown if re.match(r"\.venv/bin/tenantry .*(validate|render)", each[0])]
    assert 3 == len(ours)
    assert [(command, printed(command, capsys)) for command, _ in ours] == ours


@pytest.mark.parametrize("page", EXAMPLES)
def test_an_examples_readme_shows_what_validate_prints(
    page: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir((ROOT / page).parent)
    shown = [output for command, output in outputs(page) if command == "tenantry validate"]
    assert [printed("tenantry validate", capsys) for _ in shown] == shown


def test_the_page_on_pull_requests_shows_what_diff_prints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    before = (ROOT / "tenants.yaml").read_text(encoding="utf-8")
    _commit(before)
    after = before.replace("    role: edit\n", "    role: cluster-admin\n    clusterAdmin: true\n")
    after = after.replace("clusters: {names: [hub-dev, hub-prod]}", "clusters: {names: [hub-prod]}")
    after = after.replace("version: 1.x", "version: 2.x")
    queue = (
        "      queue:\n        clusters: {names: [edge-1]}\n        kustomize: {source: manifests, path: ./queue}\n\n"
    )
    Path("tenants.yaml").write_text(after.replace("  # Deploys new versions", f"{queue}  # Deploys new versions"))
    [(command, shown)] = [
        each for each in outputs("docs/pull-requests.md") if each[0].startswith("tenantry diff") and each[1]
    ]
    assert _without_commits(printed(command, capsys)) == _without_commits(shown)


def test_the_page_on_self_service_shows_what_its_frame_grants(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    page = "docs/self-service.md"
    main, own = re.findall(r"```yaml\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL)[:2]
    Path("tenants.d").mkdir()
    Path("tenants.d/rocky.yaml").write_text(own, encoding="utf-8")
    Path("tenants.yaml").write_text(main + CLUSTERS, encoding="utf-8")
    [(command, shown)] = [each for each in outputs(page) if each[0].endswith("--grants")]
    assert printed(command, capsys) == shown


CLUSTERS = """\
apiVersion: tenantry/v1
environments: {dev: {management: hub}}
clusters:
  hub: {environments: [dev]}
  edge-1: {environments: [dev], labels: {tier: edge}, kubeconfig: {capi: {cluster: edge-1, namespace: capi}}}
platform: {chart: {helm: {url: "https://charts.example.com", version: 0.1.0}}}
"""


def _commit(text: str) -> None:
    """A repository with one commit that is also what `origin/main` names."""
    Path("tenants.yaml").write_text(text, encoding="utf-8")
    identity = ["-c", "user.name=Test", "-c", "user.email=test@example.com", "-c", "commit.gpgsign=false"]
    for arguments in (
        ["init", "--quiet"],
        ["add", "tenants.yaml"],
        [*identity, "commit", "--quiet", "--message", "Base"],
        ["update-ref", "refs/remotes/origin/main", "HEAD"],
    ):
        subprocess.run(["git", *arguments], check=True)


def _without_commits(text: str) -> str:
    return re.sub(r"\b[0-9a-f]{7}\b", "COMMIT", text)
