"""The check that `tenantry init` writes judges a change of that fleet, without a file of this repository."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.forge import Forge
from tests.pipeline import Pipeline
from tests.project.pipelines.repository import commit, git, install, pipeline, pull_request
from tests.unit.cli.test_cli import Capture, tenantry

INSTALL = (
    "python3 -m venv .venv && .venv/bin/pip install --require-hashes --no-deps -r tenantry.lock -r requirements.lock"
)


@pytest.fixture
def check(tmp_path: Path, binaries: Path, server: Forge, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> Pipeline:
    """A pull request for a new fleet, whose programs are installed already."""
    root = tmp_path / "fleet"
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    assert tenantry(capsys, "init", str(root))[0] == 0
    install(root, binaries)
    git(root, "init", "--quiet", "--initial-branch", "main", ".")
    git(root, "add", ".")
    git(root, "commit", "--quiet", "--message", "The fleet")
    git(root, "update-ref", "refs/remotes/origin/main", "HEAD")
    return pipeline(root, server, pull_request())


def judged(check: Pipeline) -> tuple[bool, str]:
    """Whether the job succeeds, and its summary."""
    text = (check.root / ".github" / "workflows" / "check.yml").read_text()
    assert text.count(INSTALL) == 1
    workflow = check.root.with_name("check.yml")
    workflow.write_text(text.replace(INSTALL, "echo installed"))
    return check.react(workflow, {}), check.summary


def test_a_change_is_described_in_the_summary_of_the_job(check: Pipeline) -> None:
    commit(check.root, "tenants.yaml", "pods: 40", "pods: 50")
    passed, summary = judged(check)
    assert passed, check.record()
    assert "quota" in summary


def test_without_a_change_of_the_fleet_it_passes(check: Pipeline) -> None:
    assert judged(check)[0], check.record()


def test_an_invalid_file_fails_with_its_line(check: Pipeline) -> None:
    commit(check.root, "tenants.yaml", "source: manifests", "source: other")
    assert not judged(check)[0]
    assert "::error file=tenants.yaml,line=" in check.record()


def test_a_refused_removal_fails_unless_it_is_allowed(check: Pipeline) -> None:
    text = (check.root / "tenants.yaml").read_text()
    old = text[text.index("  prod:\n") : text.index("    variables:", text.index("  prod:\n"))]
    commit(check.root, "tenants.yaml", old, old + "    maxDeletions: 0\n")
    git(check.root, "update-ref", "refs/remotes/origin/main", "HEAD")
    commit(check.root, "tenants.yaml", "      web:\n", "      site:\n")
    passed, summary = judged(check)
    assert (passed, check.ran[-1].code, "web" in summary) == (False, 4, True)
    check.variables = {"TENANTRY_ALLOW_DELETION": "app/hub-prod/rocky/web app/hub-dev/rocky/web"}
    assert judged(check)[0], check.record()
