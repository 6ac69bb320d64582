"""The workflow `review`, run from its file: what a pull request gets, which depends on its author and on the change."""

from __future__ import annotations

from pathlib import Path

import pytest

from tenantry.cli.lines import MARKER
from tests.forge import Forge
from tests.pipeline import Pipeline
from tests.project.pipelines.repository import FLEET, commit, git, install, pipeline, programs, publish, pull_request

INSTALLED = {"setup": "true"}


@pytest.fixture
def root(tmp_path: Path, binaries: Path) -> Path:
    made = tmp_path / "fleet"
    made.mkdir()
    (made / "tenants.yaml").write_text(FLEET)
    install(made, binaries)
    publish(made, "tenants.yaml")
    return made


@pytest.fixture
def review(root: Path, server: Forge) -> Pipeline:
    """The pipeline of a pull request of one of the repository's own branches."""
    return pipeline(root, server, pull_request())


def test_a_good_change_gets_one_comment_a_page_and_its_environments(
    root: Path, review: Pipeline, server: Forge
) -> None:
    commit(root, "tenants.yaml", "pods: 10", "pods: 20")
    assert review.call("review", INSTALLED)
    assert review.steps("review") == [("install", 0), ("validate", 0), ("diff", 0), ("comment", 0)]
    (body,) = server.bodies()
    assert body.startswith(f"{MARKER}\n")
    assert body.removeprefix(f"{MARKER}\n") in review.summary
    (page,) = review.used["actions/upload-artifact"]
    assert "<html" in page["text"]


def test_an_invalid_file_fails_at_validate_with_its_lines(root: Path, review: Pipeline, server: Forge) -> None:
    commit(root, "tenants.yaml", "source: m,", "source: n,")
    assert not review.call("review", INSTALLED)
    assert review.steps("review") == [("install", 0), ("validate", 2)]
    assert "::error file=tenants.yaml,line=13,col=38,title=unknown-source::" in review.ran[-1].text
    assert (server.comments, review.used.get("actions/upload-artifact")) == ([], None)


def test_a_refused_change_fails_with_exit_code_4_and_is_shown(root: Path, review: Pipeline, server: Forge) -> None:
    commit(root, "tenants.yaml", FLEET.partition("tenants:\n")[2], "  {}\n")
    assert not review.call("review", INSTALLED)
    assert review.steps("review") == [("install", 0), ("validate", 0), ("diff", 4), ("comment", 0)]
    assert len(server.bodies()) == 1
    assert "would be refused" in review.ran[-2].text


def test_a_removal_that_is_allowed_passes(root: Path, review: Pipeline) -> None:
    more = FLEET.partition("tenants:\n")[2].replace("rocky", "tina")
    (root / "tenants.yaml").write_text(FLEET.replace("protected: true", "maxDeletions: 0") + more)
    git(root, "commit", "--quiet", "--all", "--message", "tina")
    git(root, "update-ref", "refs/remotes/origin/main", "HEAD")
    commit(root, "tenants.yaml", more, "")
    assert not review.call("review", INSTALLED)
    names = "tenant/tina namespace/hub-prod/tina\napp/hub-prod/tina/web"
    assert review.call("review", {**INSTALLED, "allow-deletion": names})


def test_a_fork_gets_no_comment(root: Path, server: Forge) -> None:
    commit(root, "tenants.yaml", "pods: 10", "pods: 20")
    forked = pipeline(root, server, pull_request("mallory/fleet"))
    assert forked.call("review", {**INSTALLED, "preview": True})
    assert forked.steps("review") == [("install", 0), ("validate", 0), ("diff", 0)]
    assert (server.calls, {each.job for each in forked.ran}) == ([], {"review"})
    assert "rocky" in forked.summary


def test_only_what_the_change_touches_is_previewed_with_the_secrets_of_its_environment(
    root: Path, server: Forge, binaries: Path
) -> None:
    (root / ".venv" / "bin").unlink()
    show = 'cat "$KUBECONFIG"; stat -c %a "$KUBECONFIG"'
    body = f'case "$1" in preflight) {show};; preview) env;; *) exec {binaries}/tenantry "$@";; esac'
    calls = programs(root, tenantry=body)
    overridden = "{pods: 10}\n    overrides: [{when: {environments: [prod]}, quota: {pods: 20}}]"
    commit(root, "tenants.yaml", "{pods: 10}", overridden)
    review = pipeline(root, server, pull_request())
    review.secrets = {"KUBECONFIG": "kind: Config", "PULUMI_CONFIG_PASSPHRASE": "hush"}
    assert review.call("review", {**INSTALLED, "preview": True})
    assert calls.read_text().splitlines()[-2:] == [
        "tenantry preflight --environment prod",
        "tenantry preview --environment prod -- --diff --non-interactive",
    ]
    assert {each.job for each in review.ran} == {"review", "preview (prod)"}
    texts = {(each.job, each.step): each.text for each in review.ran}
    assert texts["preview (prod)", "preflight"] == "kind: Config\n600\n"
    assert "PULUMI_CONFIG_PASSPHRASE=hush" in texts["preview (prod)", "preview"]
    assert "CONTENT=" not in texts["preview (prod)", "preview"]
