"""The workflow `deploy` of a new fleet, run from its file: which environments, in which order, and where it stops."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.forge import Forge
from tests.pipeline import OF_A_FLEET, Pipeline
from tests.project.pipelines.repository import FLEET, commit, git, pipeline, programs, publish, push

WORKFLOW = OF_A_FLEET / "deploy.yml"
INSTALLED = {"SETUP": "true"}
BOTH = ("test", "prod")


@pytest.fixture
def calls(tmp_path: Path, binaries: Path) -> Path:
    """What was asked of the clusters of the repository, whose programs answer as if all went well unless they are told to fail."""
    root = tmp_path / "fleet"
    root.mkdir()
    (root / "tenants.yaml").write_text(FLEET)
    live = f'case $1 in preflight|up|status) ! grep -qsx "$1 $3" {tmp_path}/fails;; *) exec {binaries}/tenantry "$@";; esac'
    made = programs(root, tenantry=live, pulumi="")
    publish(root, "tenants.yaml")
    return made


@pytest.fixture
def deploy(tmp_path: Path, calls: Path, server: Forge) -> Pipeline:
    assert calls.exists()
    made = pipeline(tmp_path / "fleet", server, push())
    made.variables = {"TENANTRY_DEPLOY": "true"}
    return made


def asked(calls: Path) -> list[str]:
    """The program, its command and the environment of each call to a cluster."""
    words = (line.split() for line in calls.read_text().splitlines())
    live = (each for each in words if each[1] in ("preflight", "up", "status"))
    return [f"{each[1]} {each[3]}" for each in live]


def all_of(*environments: str) -> list[str]:
    return [f"{command} {each}" for each in environments for command in ("preflight", "up", "status")]


def test_without_an_earlier_success_every_environment_is_deployed_in_order(deploy: Pipeline, calls: Path) -> None:
    assert deploy.react(WORKFLOW, INSTALLED)
    assert asked(calls) == all_of(*BOTH)
    up = next(line for line in calls.read_text().splitlines() if line.startswith("tenantry up"))
    options = "--yes --skip-preview --no-preflight --no-wait -- --non-interactive"
    assert up == f"tenantry up --environment test {options}"


def test_only_what_differs_from_the_last_success_is_deployed(deploy: Pipeline, calls: Path, server: Forge) -> None:
    root = deploy.root
    server.succeeded(git(root, "rev-parse", "HEAD"))
    commit(
        root,
        "tenants.yaml",
        "{pods: 10}",
        "{pods: 10}\n    overrides: [{when: {environments: [prod]}, quota: {pods: 20}}]",
    )
    assert deploy.react(WORKFLOW, INSTALLED)
    assert asked(calls) == all_of("prod")


def test_the_last_success_is_one_of_this_repository_and_in_its_history(
    deploy: Pipeline, calls: Path, server: Forge
) -> None:
    first = git(deploy.root, "rev-parse", "HEAD")
    second = commit(
        deploy.root,
        "tenants.yaml",
        "{pods: 10}",
        "{pods: 10}\n    overrides: [{when: {environments: [prod]}, quota: {pods: 20}}]",
    )
    server.succeeded(first)
    server.succeeded("0" * 40)  # removed by a forced push
    server.succeeded(second, "push", "mallory/fleet")
    assert deploy.react(WORKFLOW, INSTALLED)
    assert asked(calls) == all_of("prod")
    assert set(server.calls) == {"GET /repos/ops/fleet/actions/workflows/deploy.yml/runs"}


def test_nothing_is_deployed_if_nothing_differs_unless_all_is_asked_for(
    deploy: Pipeline, calls: Path, server: Forge
) -> None:
    server.succeeded(git(deploy.root, "rev-parse", "HEAD"))
    assert deploy.react(WORKFLOW, INSTALLED)
    assert asked(calls) == []
    deploy.event, server.calls[:] = push(by_hand=True), []
    assert deploy.react(WORKFLOW, INSTALLED, {"all": True})
    assert (asked(calls), server.calls) == (all_of(*BOTH), [])


@pytest.mark.parametrize("step", ["preflight", "up", "status"])
def test_a_failure_ends_the_job_of_its_environment_alone(deploy: Pipeline, calls: Path, step: str) -> None:
    (deploy.root.parent / "fails").write_text(f"{step} test\n")
    assert not deploy.react(WORKFLOW, INSTALLED)
    expected = all_of("test")
    assert asked(calls) == [*expected[: expected.index(f"{step} test") + 1], *all_of("prod")]


def test_an_invalid_file_is_not_deployed(deploy: Pipeline, calls: Path) -> None:
    commit(deploy.root, "tenants.yaml", "source: m,", "source: n,")
    assert not deploy.react(WORKFLOW, INSTALLED)
    assert (deploy.steps("plan"), asked(calls)) == ([("install", 0), ("validate", 2)], [])


def test_nothing_is_deployed_before_the_variable_is_set(deploy: Pipeline, calls: Path) -> None:
    deploy.variables = {}
    assert deploy.react(WORKFLOW, INSTALLED)
    assert (deploy.ran, asked(calls)) == ([], [])
