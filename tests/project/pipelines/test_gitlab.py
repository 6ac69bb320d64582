"""The components for GitLab, their scripts run as a runner does."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tenantry.cli.lines import MARKER
from tests.forge import forge
from tests.pipeline import REPOSITORY
from tests.project.pipelines.repository import FLEET, commit, install, programs, publish


def component(name: str, inputs: Mapping[str, str]) -> dict[str, Any]:
    """The jobs of a component with its inputs filled in."""
    spec, text = (REPOSITORY / "templates" / name / "template.yml").read_text().split("\n---\n")
    declared = yaml.safe_load(spec)["spec"]["inputs"]
    given = {key: inputs.get(key, each.get("default")) for key, each in declared.items()}
    filled = re.sub(r"\$\[\[ inputs\.([\w-]+) \]\]", lambda found: str(given[found[1]]), text)
    jobs: dict[str, Any] = yaml.safe_load(filled)
    return jobs


def run(job: Mapping[str, Any], root: Path, **variables: str) -> tuple[int, str]:
    """Run a job's script: all its lines in one shell that stops at the first failure."""
    own = {key: str(value) for key, value in job["variables"].items()}
    known = {**os.environ, **own, "CI_PROJECT_DIR": str(root), **variables}
    script = "set -eo pipefail\n" + "\n".join(job["script"])
    done = subprocess.run(["bash", "-c", script], cwd=root, env=known, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.fixture
def root(tmp_path: Path, binaries: Path) -> Path:
    made = tmp_path / "fleet"
    made.mkdir()
    (made / "tenants.yaml").write_text(FLEET)
    install(made, binaries)
    return made


def test_a_merge_request_gets_a_review_and_a_comment(root: Path) -> None:
    jobs = component("review", {"setup": "true"})
    job, comment = jobs["tenantry-review"], jobs["tenantry-comment"]
    base = publish(root, "tenants.yaml")
    commit(root, "tenants.yaml", FLEET.partition("tenants:\n")[2], "  {}\n")
    code, text = run(job, root, CI_MERGE_REQUEST_DIFF_BASE_SHA=base)
    assert (code, "would be refused" in text) == (4, True)
    kept = {file.name for file in (root / job["artifacts"]["paths"][0]).iterdir()}
    assert kept == {"environments", "review.md", "review.html"}
    with forge() as server:
        ids = {"CI_API_V4_URL": server.url, "CI_PROJECT_ID": "3", "CI_MERGE_REQUEST_IID": "12"}
        assert run(comment, root, TENANTRY_COMMENT_TOKEN="the-token", **ids) == (0, "comment added\n")
        assert server.bodies()[0].startswith(MARKER)


def test_an_invalid_file_fails_with_its_lines(root: Path) -> None:
    job = component("review", {"setup": "true"})["tenantry-review"]
    base = publish(root, "tenants.yaml")
    commit(root, "tenants.yaml", "source: m,", "source: n,")
    code, text = run(job, root, CI_MERGE_REQUEST_DIFF_BASE_SHA=base)
    assert (code, "tenants.yaml:13:38: error[unknown-source]" in text) == (2, True)
    assert run(component("review", {})["tenantry-comment"], root) == (0, "")


def test_preview_and_deploy_ask_pulumi_for_their_environments(root: Path) -> None:
    (root / ".venv" / "bin").unlink()
    calls = programs(root, tenantry='[ "$1" != up ]', pulumi="")
    (root / "tenantry-review").mkdir()
    (root / "tenantry-review" / "environments").write_text("test\nprod\n")
    code, _ = run(component("review", {"setup": "true"})["tenantry-preview"], root)
    previews = [
        line
        for each in ("test", "prod")
        for line in (
            f"tenantry preflight --environment {each}",
            f"tenantry preview --environment {each} -- --diff --non-interactive",
        )
    ]
    assert (code, calls.read_text().splitlines()) == (0, previews)
    calls.write_text("")
    jobs = component("deploy", {"setup": "true", "environment": "prod", "needs": "[tenantry-deploy-test]"})
    ((name, job),) = jobs.items()
    assert (name, job["needs"], job["resource_group"]) == (
        "tenantry-deploy-prod",
        ["tenantry-deploy-test"],
        "tenantry-prod",
    )
    code, _ = run(job, root)
    options = "--yes --skip-preview --timeout 900 -- --non-interactive"
    assert (code, calls.read_text().splitlines()) == (1, [f"tenantry up --environment prod {options}"])


@pytest.mark.parametrize(("name", "job"), [("review", "tenantry-preview"), ("deploy", "tenantry-deploy-prod")])
def test_what_is_installed_gets_no_secret(name: str, job: str, root: Path) -> None:
    (root / ".venv" / "bin").unlink()
    programs(root, tenantry='echo "$PULUMI_CONFIG_PASSPHRASE" >> used')
    (root / "tenantry-review").mkdir()
    (root / "tenantry-review" / "environments").write_text("prod\n")
    inputs = {"setup": "env > installed", "environment": "prod", "needs": "[]"}
    secrets = {key: "hush" for key in ("KUBECONFIG", "PULUMI_ACCESS_TOKEN", "PULUMI_CONFIG_PASSPHRASE")}
    assert run(component(name, inputs)[job], root, **secrets)[0] == 0
    assert "hush" not in (root / "installed").read_text()
    assert "hush" in (root / "used").read_text()
