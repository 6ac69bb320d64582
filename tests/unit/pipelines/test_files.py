"""Rules for the files of our pipelines, which actionlint does not know."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.pipeline import REPOSITORY, load

OF_A_FLEET = REPOSITORY / "templates" / "pulumi" / ".github" / "workflows" / "fleet.yml"
"""The only workflow of a new fleet that is not the same as one of ours."""
WORKFLOWS = [*sorted((REPOSITORY / ".github" / "workflows").glob("*.yml")), OF_A_FLEET]
ACTION = REPOSITORY / "action.yml"
TEMPLATES = sorted((REPOSITORY / "templates").glob("*/template.yml"))
BY_TAG = {"pulumi/actions@v6", "github/codeql-action/upload-sarif@v3"}
"""Actions that are not pinned by commit: which commit each of their releases is could not be verified."""
WRITES = {"review.yml review": {"pull-requests"}, "fleet.yml review": {"pull-requests"}}
"""The jobs that may write, and what."""


def jobs(file: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    yield from load(file)["jobs"].items()


def steps() -> Iterator[tuple[str, dict[str, Any]]]:
    """All steps, with the name of their file."""
    for file in WORKFLOWS:
        for _, job in jobs(file):
            yield from ((file.name, step) for step in job.get("steps", []))
    yield from ((ACTION.name, step) for step in load(ACTION)["runs"]["steps"])


def test_no_value_becomes_part_of_a_script() -> None:
    assert [(file, step["run"]) for file, step in steps() if "${{" in step.get("run", "")] == []


def test_actions_of_others_are_pinned_by_commit() -> None:
    used = {step["uses"] for _, step in steps() if "uses" in step} - BY_TAG - {"./"}
    assert used
    assert {each for each in used if not re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", each)} == set()
    texts = "".join(file.read_text() for file in (*WORKFLOWS, ACTION))
    assert {each for each in used if not re.search(rf"{each} # v\d+\.\d+\.\d+\n", texts)} == set()


def test_a_checkout_leaves_no_token_for_later_steps() -> None:
    checkouts = [step["with"] for _, step in steps() if step.get("uses", "").startswith("actions/checkout@")]
    assert {each["persist-credentials"] for each in checkouts} == {False}


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.stem)
def test_each_job_has_only_the_permissions_that_it_needs(file: Path) -> None:
    assert load(file)["permissions"] == {}
    for name, job in jobs(file):
        writes = {key for key, level in job["permissions"].items() if level == "write"}
        assert writes == WRITES.get(f"{file.name} {name}", set())


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.stem)
def test_no_job_runs_for_hours_or_with_the_rights_of_a_fork(file: Path) -> None:
    assert "pull_request_target" not in load(file)["on"]
    assert [name for name, job in jobs(file) if "steps" in job and "timeout-minutes" not in job] == []


def test_secrets_are_variables_of_jobs_with_an_environment_only() -> None:
    for file in WORKFLOWS:
        holding = {name for name, job in jobs(file) if "secrets." in yaml.safe_dump(job)}
        assert holding == {name for name, job in jobs(file) if "environment" in job}


def test_deployments_run_one_after_the_other() -> None:
    workflow = load(REPOSITORY / ".github" / "workflows" / "deploy.yml")
    deploy = workflow["jobs"]["deploy"]
    assert (deploy["strategy"]["max-parallel"], deploy["strategy"]["fail-fast"]) == (1, True)
    groups = [each["concurrency"] for each in (workflow, deploy)]
    assert [each["cancel-in-progress"] for each in groups] == [False, False]
    assert "matrix.environment" in groups[1]["group"]


def test_the_fleets_own_workflow_hands_on_what_the_others_declare() -> None:
    for _, job in jobs(REPOSITORY / ".github" / "workflows" / "fleet.yml"):
        called = load(REPOSITORY / job["uses"])
        assert set(job["with"]) <= set(called["on"]["workflow_call"]["inputs"])
        for inner in called["jobs"].values():
            assert inner["permissions"].items() <= job["permissions"].items()


def test_the_workflow_of_the_documentation_calls_what_there_is() -> None:
    page = (REPOSITORY / "docs" / "pull-requests.md").read_text()
    blocks = re.findall(r"```yaml\n(.*?)```", page.partition("## GitHub\n")[2], re.DOTALL)
    workflow = yaml.safe_load(blocks[0])
    for name, job in workflow["jobs"].items():
        called = load(REPOSITORY / job["uses"])
        assert set(job.get("with", {})) <= set(called["on"]["workflow_call"]["inputs"])
        assert job["permissions"] == dict(jobs(REPOSITORY / ".github/workflows/fleet.yml"))[name]["permissions"]
    for include in yaml.safe_load(next(block for block in blocks if "component:" in block))["include"]:
        name = include["component"].rpartition("/")[2].partition("@")[0]
        spec = (REPOSITORY / "templates" / name / "template.yml").read_text().split("\n---\n")[0]
        assert set(include["inputs"]) <= set(yaml.safe_load(spec)["spec"]["inputs"])


@pytest.mark.parametrize("file", TEMPLATES, ids=lambda file: file.parent.name)
def test_a_component_uses_exactly_its_inputs_and_none_of_them_in_a_script(file: Path) -> None:
    spec, text = file.read_text().split("\n---\n")
    inputs = yaml.safe_load(spec)["spec"]["inputs"]
    assert set(re.findall(r"\$\[\[ inputs\.([\w-]+) \]\]", text)) == set(inputs)
    assert all(each["description"] for each in inputs.values())
    for job in yaml.safe_load(text).values():
        assert "$[[" not in "\n".join(job["script"])


def test_the_hooks_are_those_of_the_documentation() -> None:
    hooks = yaml.safe_load((REPOSITORY / ".pre-commit-hooks.yaml").read_text())
    page = (REPOSITORY / "docs" / "pull-requests.md").read_text()
    assert all(f"id: {hook['id']}" in page for hook in hooks)
    for hook in hooks:
        assert re.search(hook["files"], "fleets/tenants.yaml")
        assert re.search(hook["files"], "tenants.d/rocky.yaml")
        assert not re.search(hook["files"], "charts/values.yaml")
