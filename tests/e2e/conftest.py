"""One project with its sandbox for all files that share it; each file finds the state that it asks for."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.e2e.clusters import cluster_of
from tests.e2e.project import ADMINISTRATOR, Project, make_project, sandboxed


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    made = make_project(tmp_path_factory.mktemp("fleet") / "project")
    with sandboxed(made):
        yield made


@pytest.fixture(scope="session")
def original(project: Project) -> str:
    """The project's file before any test."""
    return project.fleet.read_text()


@pytest.fixture(scope="module")
def sandbox(project: Project, original: str) -> Project:
    """The project with its sandbox running. Where another group has ended it, it begins anew with the original file."""
    if not project.is_up:
        project.fleet.write_text(original)
        project.start("dev")
    return project


@pytest.fixture(scope="module")
def fleet(sandbox: Project, original: str) -> Project:
    """The project with the environment up as its original file says, and everything ready."""
    if sandbox.fleet.read_text() != original or not sandbox.has_resources("dev"):
        sandbox.fleet.write_text(original)
        sandbox.deploy("dev")
    return sandbox


hub = cluster_of("sandbox", "hub-dev")
edge = cluster_of("sandbox", "edge-1")


@pytest.fixture(scope="session")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    """A project whose sandbox runs, for tests of what is there before the first `tenantry up`. Its user is an administrator, who
    prepares clusters and takes over what is there. Each file leaves it empty.
    """
    made = make_project(tmp_path_factory.mktemp("bare") / "project", ADMINISTRATOR)
    with sandboxed(made):
        made.start("dev")
        yield made


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """A failed test shows what Flux said last, and what has ended: the reason is there more often than in the assertion."""
    report = yield
    if report.when == "call" and report.failed:
        arguments: dict[str, object] = getattr(item, "funcargs", {})
        for project in {each for each in arguments.values() if isinstance(each, Project)}:
            for environment in project.running():
                report.sections.append(("status", project.tenantry("status", "--environment", environment).text))
            if project.is_up:
                report.sections.append(("processes", project.tenantry("sandbox", "status").text))
    return report
