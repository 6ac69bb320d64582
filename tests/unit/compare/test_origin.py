"""Where a run comes from: a clone, the variables of build servers, and what is never kept."""

from __future__ import annotations

import getpass
import subprocess
from pathlib import Path

import pytest

from tenantry.compare.origin import Origin, origin_of
from tests.table import table

HASH = "0123456789abcdef0123456789abcdef01234567"
GITHUB = {
    "GITHUB_ACTIONS": "true",
    "GITHUB_SHA": HASH,
    "GITHUB_TRIGGERING_ACTOR": "jo",
    "GITHUB_SERVER_URL": "https://github.example",
    "GITHUB_REPOSITORY": "ops/fleet",
    "GITHUB_RUN_ID": "17",
}


@table(
    "variables, origin",
    [
        (GITHUB, Origin(HASH, "jo", "https://github.example/ops/fleet/actions/runs/17")),
        (
            {"GITLAB_CI": "true", "CI_COMMIT_SHA": HASH, "GITLAB_USER_LOGIN": "jo", "CI_JOB_URL": "https://gitlab/j/1"},
            Origin(HASH, "jo", "https://gitlab/j/1"),
        ),
        (
            {
                "TF_BUILD": "True",
                "BUILD_SOURCEVERSION": HASH,
                "BUILD_REQUESTEDFOR": "Jo Doe",
                "SYSTEM_COLLECTIONURI": "https://dev.azure.example/ops/",
                "SYSTEM_TEAMPROJECTID": "p",
                "BUILD_BUILDID": "7",
            },
            Origin(HASH, "Jo Doe", "https://dev.azure.example/ops/p/_build/results?buildId=7"),
        ),
        (
            {"JENKINS_URL": "https://ci", "GIT_COMMIT": HASH, "BUILD_URL": "https://ci/job/1/"},
            Origin(HASH, "", "https://ci/job/1/"),
        ),
        (
            {"BUILDKITE": "true", "BUILDKITE_BUILD_CREATOR": "jo", "BUILDKITE_BUILD_URL": "https://b/1"},
            Origin("", "jo", "https://b/1"),
        ),
        ({"CIRCLECI": "true", "CIRCLE_SHA1": HASH, "CIRCLE_USERNAME": "jo"}, Origin(HASH, "jo")),
        ({"PULUMI_CI_SYSTEM": "ours", "PULUMI_CI_BUILD_URL": "https://x/1"}, Origin(pipeline="https://x/1")),
        # The user's own variables come first, and one that is not known to be a build server's is not read.
        (
            {**GITHUB, "TENANTRY_ACTOR": "ann"},
            Origin(HASH, "ann", "https://github.example/ops/fleet/actions/runs/17"),
        ),
        ({"GITHUB_ACTOR": "jo", "CI_COMMIT_SHA": HASH, "TENANTRY_PIPELINE": "nightly"}, Origin(pipeline="nightly")),
        # Half an address is none.
        ({"GITHUB_ACTIONS": "true", "GITHUB_RUN_ID": "17"}, Origin()),
        # No secret, no second line, nothing that is not a commit.
        ({"TENANTRY_PIPELINE": "https://jo:word@ci/1", "TENANTRY_COMMIT": "main"}, Origin(pipeline="https://ci/1")),
        ({"TENANTRY_ACTOR": f"ghp_{'a1B2' * 9}"}, Origin()),
        ({"TENANTRY_ACTOR": "jo\nann"}, Origin(actor="jo\\nann")),
        ({"TENANTRY_ACTOR": "j" * 500}, Origin(actor="j" * 300)),
    ],
)
def test_build_servers_tell_the_origin(tmp_path: Path, variables: dict[str, str], origin: Origin) -> None:
    assert origin_of(tmp_path, variables) == origin


def test_without_a_build_server_it_is_the_user_of_the_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(getpass, "getuser", lambda: "jo")
    assert origin_of(tmp_path, {"USER": "ann"}) == Origin(actor="jo")


def _git(directory: Path, *arguments: str) -> str:
    named = ("-c", "user.name=t", "-c", "user.email=t@example.com")
    return subprocess.run(
        ["git", *named, *arguments], cwd=directory, capture_output=True, text=True, check=True
    ).stdout.strip()


def test_git_knows_best_which_commit_is_checked_out_and_whether_files_are_as_in_it(tmp_path: Path) -> None:
    file = tmp_path / "tenants.yaml"
    file.write_text("a")
    _git(tmp_path, "init", "--quiet")
    assert origin_of(tmp_path, GITHUB).commit == HASH
    _git(tmp_path, "add", ".")
    _git(tmp_path, "commit", "--quiet", "-m", "first")
    (tmp_path / "other").write_text("nobody follows it")
    head = _git(tmp_path, "rev-parse", "HEAD")
    assert (origin_of(tmp_path, GITHUB).commit, origin_of(tmp_path, {}).edited) == (head, False)
    file.write_text("b")
    assert origin_of(tmp_path, {}).edited
