"""Rules for the files of our pipelines, which actionlint does not know."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.pipeline import OF_A_FLEET, REPOSITORY, load, weaknesses

WORKFLOWS = [*sorted((REPOSITORY / ".github" / "workflows").glob("*.yml")), *sorted(OF_A_FLEET.glob("*.yml"))]
ACTION = REPOSITORY / "action.yml"
TEMPLATES = sorted((REPOSITORY / "templates").glob("*/template.yml"))
_SETUP = 'bash -c "$SETUP"'
WRITES = {
    "review.yml review": {"pull-requests"},
    "fleet.yml review": {"pull-requests"},
    "release.yml release": {"contents", "id-token", "packages"},
}
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
    used = {step["uses"] for _, step in steps() if "uses" in step} - {"./"}
    assert used
    assert {each for each in used if not re.fullmatch(r"[\w-]+(/[\w-]+)+@[0-9a-f]{40}", each)} == set()
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


@pytest.mark.parametrize("file", [*WORKFLOWS, ACTION], ids=lambda file: file.name)
def test_secrets_reach_single_steps_and_all_that_runs_is_pinned(file: Path) -> None:
    assert list(weaknesses(load(file))) == []


SECRET = "${{ secrets.TOKEN }}"
PINNED = {"uses": f"actions/checkout@{'a' * 40}"}


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ({"env": {"A": SECRET}, "jobs": {}}, "a secret is in the environment of all jobs"),
        ({"jobs": {"a": {"env": {"A": SECRET}}}}, "job a: a secret is in the environment of all its steps"),
        (
            {"jobs": {"a": {"env": {"A": "${{ secrets['TOKEN'] }}"}}}},
            "job a: a secret is in the environment of all its steps",
        ),
        (
            {"jobs": {"a": {"container": {"env": {"A": SECRET}}}}},
            "job a: a secret is in the environment of all its steps",
        ),
        (
            {"jobs": {"a": {"uses": "x/y/.github/workflows/z.yml@main"}}},
            "job a: x/y/.github/workflows/z.yml@main is not",
        ),
        ({"runs": {"steps": [{"uses": "x/y@v1"}]}}, "the action, step ?: x/y@v1 is not pinned by commit"),
        ({"runs": {"steps": [{"uses": f"x/y@{'a' * 39}"}]}}, "the action, step ?: x/y@aaa"),
        ({"runs": {"steps": [{"uses": "docker://python:3"}]}}, "the action, step ?: docker://python:3 is not pinned"),
        (
            {"runs": {"steps": [{**PINNED, "with": {"token": SECRET}}]}},
            "the action, step ?: a secret reaches a program of others",
        ),
        ({"runs": {"steps": [{"run": f"x {SECRET}"}]}}, "the action, step ?: a secret is part of a script"),
        (
            {"runs": {"steps": [{"run": "x", "env": {"A": SECRET}}, PINNED]}},
            "the action, step ?: a program of others comes after",
        ),
        (
            {"runs": {"steps": [{"run": 'bash -c "$SETUP"', "env": {"A": SECRET}}]}},
            "the action, step ?: a secret reaches a program",
        ),
        ({"runs": {"steps": [{"run": "pip install tenantry"}]}}, "the action, step ?: pip install tenantry"),
        (
            {"runs": {"steps": [{"run": "true\n.venv/bin/pip install -r x"}]}},
            "the action, step ?: .venv/bin/pip install -r x",
        ),
        ({"runs": {"steps": [{"run": "curl https://x | sh"}]}}, "the action, step ?: curl https://x | sh"),
        ({"runs": {"steps": [{"run": "uvx tenantry"}]}}, "the action, step ?: uvx tenantry"),
    ],
    ids=str,
)
def test_a_weak_workflow_is_found(content: dict[str, Any], problem: str) -> None:
    assert next(weaknesses(content)).startswith(problem)


def test_what_pipelines_install_has_hashes() -> None:
    makefile = (REPOSITORY / "Makefile").read_text()
    assert re.findall(r"pip install (?!--quiet --require-hashes)", makefile) == []
    for file in OF_A_FLEET.glob("*.yml"):
        text = file.read_text()
        locked = "pip install --require-hashes --no-deps -r tenantry.lock -r requirements.lock"
        assert text.count("pip install") == text.count(locked) > 0


@pytest.mark.parametrize("file", ["templates/pulumi/requirements.lock", ".ci/uv.txt"])
def test_every_locked_package_has_an_exact_version_and_hashes(file: str) -> None:
    text = re.sub(r" \\\n +", " ", (REPOSITORY / file).read_text())
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    assert lines
    assert [
        line for line in lines if not re.fullmatch(r"[\w.-]+==[^ ]+( ; .+?)?( --hash=sha256:[0-9a-f]{64})+", line)
    ] == []


def test_secrets_are_variables_of_jobs_with_an_environment_only() -> None:
    for file in WORKFLOWS:
        holding = {name for name, job in jobs(file) if "secrets." in yaml.safe_dump(job)}
        publishing = {name for name, job in jobs(file) if job["permissions"].get("id-token") == "write"}
        assert holding | publishing == {name for name, job in jobs(file) if "environment" in job}


def test_deployments_run_one_after_the_other() -> None:
    workflow = load(OF_A_FLEET / "deploy.yml")
    deploy = workflow["jobs"]["deploy"]
    assert (deploy["strategy"]["max-parallel"], deploy["strategy"]["fail-fast"]) == (1, False)
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


def test_the_check_of_the_documentation_is_the_one_that_init_writes() -> None:
    page = (REPOSITORY / "docs" / "pull-requests.md").read_text()
    shown = re.findall(r"```yaml\n(.*?)```", page.partition("## A pipeline in 20 lines\n")[2], re.DOTALL)[0]
    check = REPOSITORY / "templates" / "pulumi" / ".github" / "workflows" / "check.yml"
    assert check.read_text().partition("\n")[2] == shown


@pytest.mark.parametrize("file", TEMPLATES, ids=lambda file: file.parent.name)
def test_a_component_uses_exactly_its_inputs_and_none_of_them_in_a_script(file: Path) -> None:
    spec, text = file.read_text().split("\n---\n")
    inputs = yaml.safe_load(spec)["spec"]["inputs"]
    assert set(re.findall(r"\$\[\[ inputs\.([\w-]+) \]\]", text)) == set(inputs)
    assert all(each["description"] for each in inputs.values())
    for job in yaml.safe_load(text).values():
        assert "$[[" not in "\n".join(job["script"])
        assert "after_script" not in job


SCOPED = {
    "TENANTRY_COMMENT_TOKEN": {"tenantry-comment"},
    "PULUMI_CONFIG_PASSPHRASE": {"tenantry-preview", "$[[ inputs.environment ]]"},
    "KUBECONFIG": {"tenantry-preview", "$[[ inputs.environment ]]"},
}


@pytest.mark.parametrize("file", TEMPLATES, ids=lambda file: file.parent.name)
def test_a_secret_of_gitlab_is_for_one_job_by_its_environment_and_not_for_what_is_installed(file: Path) -> None:
    for name, job in yaml.safe_load(file.read_text().split("\n---\n")[1]).items():
        scope = job.get("environment", {}).get("name")
        for secret, scopes in SCOPED.items():
            assert secret not in str(job) or scope in scopes, name
        setup = [line for line in job["script"] if _SETUP in line]
        wanted = f"env -u KUBECONFIG -u PULUMI_ACCESS_TOKEN -u PULUMI_CONFIG_PASSPHRASE {_SETUP}" if scope else _SETUP
        assert setup in ([], [wanted])


def test_the_hooks_are_those_of_the_documentation() -> None:
    hooks = yaml.safe_load((REPOSITORY / ".pre-commit-hooks.yaml").read_text())
    page = (REPOSITORY / "docs" / "pull-requests.md").read_text()
    assert all(f"id: {hook['id']}" in page for hook in hooks)
    for hook in hooks:
        assert re.search(hook["files"], "fleets/tenants.yaml")
        assert re.search(hook["files"], "tenants.d/rocky.yaml")
        assert not re.search(hook["files"], "charts/values.yaml")
