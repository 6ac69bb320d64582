"""`kill -9` of Pulumi at many points of `up` and of `destroy`: by the documented way back the next run ends well.

Each test takes the fleet from nothing to nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from tests.e2e.clusters import eventually
from tests.e2e.project import Project
from tests.faults.compare import identities, remains, settled
from tests.faults.crash import (
    CANCEL,
    DESTROY,
    POINTS,
    SEED,
    UP,
    Crash,
    crashed,
    crashes,
    forget,
    recover,
    restore,
    state_file,
    steps_of,
)

pytestmark = [pytest.mark.e2e, pytest.mark.faults]
KILLED: list[bool] = []
"""Of each run, whether it was killed before it ended."""
CACHE = "      cache: {kustomize: {source: manifests, path: ./db, targetNamespace: rocky-cache}}\n"
ZIGGY = """
  ziggy:
    adopt: true
    sources:
      manifests: {git: {url: "http://{host}/git/movy/manifests.git", ref: {branch: main}}}
    apps:
      jobs: {kustomize: {source: manifests, path: ./jobs}}
"""


@pytest.fixture(scope="module")
def project(made: Project) -> Project:
    return made


@pytest.fixture(scope="module")
def steps(project: Project) -> dict[str, int]:
    """How many steps each sort of run makes that is not killed."""
    first = steps_of(project)
    text = edit(project)
    edited = steps_of(project)
    project.fleet.write_text(text)
    return {"first up": first, "edited up": edited, "destroy": first}


def edit(project: Project) -> str:
    """Have the fleet gain a tenant, a namespace and an app, lose an app, and change what stays; returns what it was."""
    text = project.fleet.read_text()
    project.edit("      jobs: {kustomize: {source: manifests, path: ./jobs}}\n", "")
    project.edit("owners: [{group: team-movy}]", "owners: [{group: team-movy, role: edit}]")
    project.edit("COLOR: green", "COLOR: blue")
    project.edit("      db: {kustomize", f"{CACHE}      db: {{kustomize")
    project.edit("  rocky:\n", "  rocky:\n    namespaces: {cache: {quota: {pods: 5}}}\n")
    project.fleet.write_text(project.fleet.read_text().rstrip() + "\n" + ZIGGY)
    return text


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "crash" in metafunc.fixturenames:
        points = metafunc.config.getoption("--points", default=POINTS)
        seed = metafunc.config.getoption("--seed", default=SEED)
        drawn = crashes(points, seed)
        metafunc.parametrize("crash", drawn, ids=map(str, drawn))


@pytest.fixture
def fleet(project: Project) -> Iterator[Project]:
    """Nothing on the clusters, and the file as it is in the repository, whatever the test before has left."""
    text = project.fleet.read_text()
    if remains(project, "dev"):
        recover(project, UP)
        recover(project, DESTROY)
    forget(project)
    yield project
    project.fleet.write_text(text)


@pytest.fixture
def whole(project: Project) -> Iterator[Project]:
    """The fleet, up and as planned, whatever the test before has left."""
    text = project.fleet.read_text()
    recover(project, UP)
    settled(project, "dev")
    yield project
    project.fleet.write_text(text)


def test_what_was_killed_is_finished_by_the_next_run(fleet: Project, steps: dict[str, int], crash: Crash) -> None:
    run = "first up"
    if crash.edited:
        fleet.pulumi(*UP).ok()
        run, _ = "edited up", edit(fleet)
    before = identities(fleet, "dev")
    with crashed(fleet, UP, crash, steps[run]) as ended:
        there = {**before, **identities(fleet, "dev")}
        recover(fleet, UP)
        settled(fleet, "dev")
    KILLED.append(ended.killed)
    after = identities(fleet, "dev")
    assert {key: after[key] for key in there if key in after} == {key: there[key] for key in there if key in after}
    assert fleet.preview() == {}, "what is planned is what the state holds"

    with crashed(fleet, DESTROY, crash, steps["destroy"]) as ended:
        recover(fleet, DESTROY)
        eventually(lambda: not remains(fleet, "dev"), "nothing to be left")
    KILLED.append(ended.killed)


def test_most_runs_were_killed_before_their_end() -> None:
    assert sum(KILLED) >= len(KILLED) / 2


def test_what_a_killed_run_made_of_a_tenant_that_is_taken_back_is_deleted_by_the_next_run(
    fleet: Project, steps: dict[str, int]
) -> None:
    crash = Crash(0, 0.6, whole=True, checkpoints=False, edited=False)
    less = fleet.fleet.read_text().partition("\n  movy:\n")[0] + "\n"
    with crashed(fleet, UP, crash, steps["first up"]) as ended:
        assert ended.killed
        assert [id for _, id in identities(fleet, "dev") if id.name == "movy"], "the run was killed too early"
        fleet.fleet.write_text(less)
        fleet.pulumi(*CANCEL).ok()
        told = fleet.pulumi("preview", "--stack", "dev").ok().text
        assert "left by an interrupted run, not in the file, and deleted by this run" in told, told
        assert "ServiceAccount clusters/movy" in told, told
        fleet.pulumi(*UP).ok()
    settled(fleet, "dev")
    told = fleet.tenantry("status", "--environment", "dev").ok().text
    assert "on its management cluster" not in told, told
    # Flux may have made the namespace on the remote cluster too, before the run was killed.
    left = re.search("holds? data and (?:is|are) no longer in the file: (.*)", told)
    assert left, told
    assert "'movy' on hub" in left[1], told


def test_an_empty_note_beside_the_state_keeps_it_from_being_read_and_can_go(whole: Project) -> None:
    note = state_file(whole).with_suffix(".json.attrs")
    note.write_text("")
    refused = whole.pulumi(*UP)
    assert refused.code != 0
    assert "failed to load checkpoint: EOF" in refused.text
    note.unlink()
    whole.pulumi(*UP, "--expect-no-changes").ok()


def test_a_state_that_was_cut_off_is_put_back_from_what_came_before(whole: Project) -> None:
    edit(whole)
    whole.pulumi(*UP).ok()
    settled(whole, "dev")
    file, before = state_file(whole), identities(whole, "dev")
    content = file.read_bytes()
    for left in (len(content) // 2, 0):
        file.write_bytes(content[:left])
        refused = whole.pulumi(*UP)
        assert refused.code != 0
        assert "failed to load checkpoint" in refused.text
    restore(whole)
    whole.pulumi(*UP).ok()
    settled(whole, "dev")
    assert identities(whole, "dev") == before
