"""One project with its sandbox for the whole run; the tests of test_fleet.py take it from nothing to nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from tests.e2e.clusters import Cluster
from tests.e2e.project import Project, make_project, sandboxed


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    made = make_project(tmp_path_factory.mktemp("fleet") / "project")
    with sandboxed(made):
        yield made


@pytest.fixture(scope="session")
def sandbox(project: Project) -> Project:
    """The project with its sandbox running."""
    project.start("dev")
    return project


@pytest.fixture(scope="session")
def fleet(sandbox: Project) -> Project:
    """The project with the environment up and everything ready."""
    sandbox.deploy("dev")
    return sandbox


@pytest.fixture(scope="session")
def hub(fleet: Project) -> Iterator[Cluster]:
    with closing(Cluster(fleet.kubeconfig("hub-dev"))) as cluster:
        yield cluster


@pytest.fixture(scope="session")
def edge(fleet: Project) -> Iterator[Cluster]:
    with closing(Cluster(fleet.kubeconfig("edge-1"))) as cluster:
        yield cluster


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """A failed test shows what Flux said last: the reason is there more often than in the assertion."""
    report = yield
    if report.when == "call" and report.failed:
        arguments: dict[str, object] = getattr(item, "funcargs", {})
        for project in {each for each in arguments.values() if isinstance(each, Project)}:
            for environment in project.running():
                report.sections.append(("status", project.tenantry("status", "--environment", environment).text))
    return report
