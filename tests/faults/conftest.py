"""The fleets that tests of several files share, each in a sandbox of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from tests.e2e.clusters import Cluster
from tests.e2e.project import ADMINISTRATOR, Project, begun, make_fleet, sandboxed
from tests.faults.api import Api
from tests.faults.arena import EDGE, HUB, make_arena
from tests.faults.commits import CHARTS, MANIFESTS
from tests.faults.compare import settled
from tests.faults.crash import POINTS, SEED
from tests.faults.parts import INTERVAL, frequent_fleet, small_fleet


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--points", type=int, default=POINTS, help=f"how many runs of each sort to kill (default: {POINTS})"
    )
    parser.addoption("--steps", type=int, default=100, help="how many edits the random walk makes (default: 100)")
    parser.addoption(
        "--seed", type=int, default=SEED, help=f"decides at which points of them, and where to walk (default: {SEED})"
    )


def pytest_report_header(config: pytest.Config) -> str:
    return f"crashes: {config.getoption('--points')} points, seed {config.getoption('--seed')}"


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    root = tmp_path_factory.mktemp("faults") / "project"
    made = make_arena(root, [each.name for each in MANIFESTS], [each.name for each in CHARTS])
    with sandboxed(made):
        yield made


@pytest.fixture(scope="session")
def fleet(project: Project) -> Project:
    """The project with its sandbox running, the environment up and everything ready."""
    project.start("dev")
    project.deploy("dev")
    return project


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    """The fleet `small` with its sandbox running, before the first `up`; each file finds the state that it asks for."""
    project = small_fleet(tmp_path_factory.mktemp("small") / "project")
    with begun(project, "dev"):
        yield project


@pytest.fixture(scope="session")
def frequent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    """A fleet with credentials and short intervals, up and ready."""
    project = frequent_fleet(tmp_path_factory.mktemp("frequent") / "project")
    with begun(project, "dev"):
        for key in ("username", "password"):
            project.pulumi("config", "set", "--secret", "--path", f"tenantry:credentials.rocky.git.{key}", "any").ok()
        project.deploy("dev")
        yield project


@pytest.fixture(scope="session")
def calm(frequent: Project) -> Project:
    """The same with long intervals, up and ready: what Flux looks at every few seconds takes much of the processor."""
    frequent.edit(f"  {INTERVAL}\n", "")
    frequent.up().ok()
    settled(frequent, "dev")
    return frequent


@pytest.fixture(scope="session")
def wide(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    """The fleet `walk` with its sandbox running, before the first `up`. Some edits make namespaces that no plan has."""
    with begun(make_fleet(tmp_path_factory.mktemp("walk") / "project", "walk", ADMINISTRATOR), "dev") as project:
        yield project


@pytest.fixture(scope="session")
def origin(wide: Project) -> str:
    """Its file before any test."""
    return wide.fleet.read_text()


@pytest.fixture
def hub(made: Project) -> Iterator[Cluster]:
    """The management cluster of the fleet `small`."""
    with closing(Cluster(made.kubeconfig("hub"))) as cluster:
        yield cluster


@pytest.fixture(scope="session")
def apis(fleet: Project) -> dict[str, Api]:
    """The clusters' API servers by name."""
    return {place.cluster: Api(fleet.kubeconfig(place.cluster)) for place in (HUB, EDGE)}
