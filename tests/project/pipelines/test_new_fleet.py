"""The workflows that `tenantry init` writes review a change of that fleet, without a file of this repository."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.forge import Forge
from tests.pipeline import load
from tests.project.pipelines.repository import commit, git, install, pipeline, pull_request
from tests.unit.cli.test_cli import Capture, tenantry


def test_a_pull_request_is_reviewed(
    tmp_path: Path, binaries: Path, server: Forge, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "fleet"
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    assert tenantry(capsys, "init", str(root))[0] == 0
    install(root, binaries)
    git(root, "init", "--quiet", "--initial-branch", "main", ".")
    git(root, "add", ".")
    git(root, "commit", "--quiet", "--message", "The fleet")
    git(root, "update-ref", "refs/remotes/origin/main", "HEAD")
    commit(root, "tenants.yaml", "pods: 40", "pods: 50")
    review = pipeline(root, server, pull_request())
    called = load(root / ".github" / "workflows" / "fleet.yml")["jobs"]["review"]
    assert called["uses"] == "./.github/workflows/review.yml"
    assert review.call("review", {"setup": "true"}), review.record()
    assert review.steps("review") == [("install", 0), ("validate", 0), ("diff", 0), ("comment", 0)]
    assert "quota" in server.bodies()[0]
