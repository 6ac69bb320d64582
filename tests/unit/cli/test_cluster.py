"""`tenantry cluster` against an API server in memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from tenantry.cli import cluster as cluster_module
from tests.unit.cli.test_cli import Capture, tenantry
from tests.unit.memory import Memory
from tests.unit.texts import FRAME

NAMESPACE = "/api/v1/namespaces/tenantry-system"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("tenants.yaml").write_text(FRAME)


@pytest.fixture
def remote(monkeypatch: pytest.MonkeyPatch) -> Memory:
    memory = Memory()
    monkeypatch.setattr(cluster_module, "connect", lambda *_: memory.client())
    return memory


WHERE = "cluster https://hub.example.com, context 'hub'\n"


def told(first: str, second: str) -> str:
    return f"Namespace tenantry-system: {first}\nClusterRoleBinding tenantry-platform-kamaji: {second}\n"


def test_bootstrap_with_a_kubeconfig_applies_and_says_where_and_what(capsys: Capture, remote: Memory) -> None:
    command = ("cluster", "bootstrap", "edge", "--kubeconfig", "admin")
    assert tenantry(capsys, *command) == (0, told("created", "created"), WHERE)
    assert tenantry(capsys, *command) == (0, told("unchanged", "unchanged"), WHERE)
    del remote.objects[NAMESPACE]["metadata"]["labels"]
    assert tenantry(capsys, *command) == (0, told("changed", "unchanged"), WHERE)


def test_bootstrap_as_a_dry_run_says_what_would_be_done(capsys: Capture, remote: Memory) -> None:
    command = ("cluster", "bootstrap", "edge", "--kubeconfig", "admin", "--context", "hub", "--dry-run")
    assert tenantry(capsys, *command) == (0, told("would be created", "would be created"), WHERE)
    assert {} == remote.objects


@pytest.mark.parametrize("option", [["--dry-run"], ["--context", "edge"]])
def test_options_of_applying_need_a_kubeconfig(capsys: Capture, option: list[str]) -> None:
    code, out, err = tenantry(capsys, "cluster", "bootstrap", "edge", *option)
    assert (2, "") == (code, out)
    assert "--context and --dry-run need --kubeconfig: without it nothing is applied" in err


def test_a_kubeconfig_that_is_not_there_is_refused_with_what_helps_here(capsys: Capture) -> None:
    expected = (
        "error: kubeconfig nowhere can not be read: No such file or directory\n"
        "  fix: name an administrator's kubeconfig and context for this cluster with --kubeconfig and --context\n"
    )
    assert tenantry(capsys, "cluster", "bootstrap", "edge", "--kubeconfig", "nowhere") == (2, "", expected)
