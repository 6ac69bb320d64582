"""A change reaches six remote clusters in three waves, with the real engine and controllers, and stops where it fails.

The tests are one story: each begins where the one before ended.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import psutil
import pytest

from tenantry.sandbox.content import commit
from tests.e2e.audit import changes_by_the_provider, deletions
from tests.e2e.clusters import KINDS, Cluster, eventually
from tests.e2e.project import Project, begun, make_fleet
from tests.faults.parts import API, without

pytestmark = pytest.mark.e2e

WAVES = (("edge-1",), ("edge-2", "edge-3"), ("edge-4", "edge-5", "edge-6"))
STOPPED = "wave 2 of 3 (early) in environment 'dev' failed on "
TRIED = "edge-2 roll/web: kustomization path not found"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    with begun(make_fleet(tmp_path_factory.mktemp("rollouts") / "project", "rollouts"), "dev") as made:
        yield made


@pytest.fixture(scope="module")
def hub(project: Project) -> Iterator[Cluster]:
    with closing(Cluster(project.kubeconfig("hub"))) as cluster:
        yield cluster


def test_a_first_installation_goes_from_wave_to_wave(project: Project) -> None:
    told = project.up().ok()
    assert "wave 1 of 3 (canary): ready after " in told.text
    assert "wave 2 of 3 (early): ready after " in told.text
    _is_in_order(changes_by_the_provider(project, "hub"), "roll-web")
    _is_in_order(changes_by_the_provider(project, "hub"), "roll-baseline")
    project.wait("dev")


def test_a_run_without_changes_waits_for_nothing(project: Project) -> None:
    told = project.up("dev", "--expect-no-changes").ok()
    assert "wave" not in told.text


def test_a_change_that_fails_in_the_second_wave_leaves_the_third_alone_and_can_be_reverted(
    project: Project, hub: Cluster
) -> None:
    last, first = _objects(hub, WAVES[2]), _path(hub, "edge-1")
    original = project.fleet.read_text()
    project.edit("./v1/", "./v2/")
    project.edit("timeout: 3m", "timeout: 15s")
    result = project.tenantry(
        "sandbox", "run", "--", "tenantry", "up", "-e", "dev", "--yes", "--skip-preview", "--no-preflight"
    )
    assert result.code == 1, result.text
    assert f"{STOPPED}2 clusters of 2, so the run ends here" in result.text
    assert TRIED in result.text
    assert "untouched: wave 3 (edge-4, edge-5, edge-6, hub)" in result.text
    assert "Traceback" not in result.text
    assert ("1 error;" in result.text, "unhandled" in result.text) == (True, False), result.text
    assert (_path(hub, "edge-1"), _path(hub, "edge-2")) == ("./v2/canary", "./v2/early")
    assert _objects(hub, WAVES[2]) == last

    project.fleet.write_text(original)
    project.up().ok()
    assert (_path(hub, "edge-1"), _objects(hub, WAVES[2])) == (first, last)
    assert _version(project, "edge-1") == "v1"


def test_a_run_that_was_killed_in_a_wave_goes_on_and_a_better_change_goes_through(
    project: Project, hub: Cluster
) -> None:
    last = _objects(hub, WAVES[2])
    project.edit("./v1/", "./v2/")
    _kill_once_it_says(project, "wave 2 of 3 (early): 2 clusters, waiting for 2")
    assert _objects(hub, WAVES[2]) == last
    project.pulumi("cancel", "--stack", "dev", "--yes").ok()

    project.edit("./v2/", "./v3/")
    begun = len(changes_by_the_provider(project, "hub"))
    project.up().ok()
    _is_in_order(changes_by_the_provider(project, "hub")[begun:], "roll-web")
    eventually(lambda: _version(project, "edge-6") == "v3", "the last wave")


def test_values_and_configs_and_a_moved_branch_go_from_wave_to_wave(project: Project) -> None:
    _branch(project)
    project.edit("ref: {branch: main}", "ref: {branch: next}")
    project.edit("color: red", "color: green")
    project.edit("COLOR: blue", "COLOR: yellow")
    begun = len(changes_by_the_provider(project, "hub"))
    told = project.up().ok()
    assert "wave 2 of 3 (early): ready after " in told.text
    changed = changes_by_the_provider(project, "hub")[begun:]
    _is_in_order(changed, "roll-manifests")
    _is_in_order(changed, "roll-db")
    # The gates have opened, so what came before them is there.
    for cluster in (*WAVES[0], *WAVES[1]):
        assert (_version(project, cluster), _color(project, cluster)) == ("next", "yellow")
    project.wait("dev")


def test_a_remote_that_is_down_fails_its_wave_unless_that_is_tolerated(project: Project, hub: Cluster) -> None:
    last = _objects(hub, WAVES[2])
    project.edit("color: green", "color: grey")
    project.edit("timeout: 3m", "timeout: 15s")
    with without(project, "edge-3", API):
        failed = project.up()
        assert f"{STOPPED}1 cluster of 2" in failed.text
        assert "edge-3 roll/db: " in failed.text
        assert _objects(hub, WAVES[2]) == last
        project.edit("timeout: 15s", "timeout: 15s\n      tolerate: 1")
        told = project.up().ok()
        assert "without edge-3 (tolerate: 1)" in told.text
        assert _objects(hub, WAVES[2]) != last


def test_an_app_is_removed_from_the_last_wave_first(project: Project) -> None:
    text = project.fleet.read_text()
    project.fleet.write_text("".join(each for each in text.splitlines(keepends=True) if "      db: {helm" not in each))
    begun = len(deletions(project, "hub", "clusters"))
    project.pulumi("config", "set", "--stack", "dev", "tenantry:maxDeletions", "10").ok()
    project.up().ok()
    gone = deletions(project, "hub", "clusters")[begun:]
    _is_in_order(list(reversed(gone)), "roll-db")


def _is_in_order(changed: list[str], name: str) -> None:
    """Whether an object of each cluster was changed, and all of a wave before any of the next."""
    at = [
        [index for index, each in enumerate(changed) if each.endswith(f"/{cluster}-{name}")]
        for wave in WAVES
        for cluster in wave
    ]
    assert all(at), (name, changed)
    one, two, three = at[:1], at[1:3], at[3:]
    for before, after in ((one, two), (two, three)):
        assert max(map(max, before)) < min(map(min, after)), (name, changed)


def _objects(hub: Cluster, clusters: tuple[str, ...]) -> dict[str, tuple[str, int]]:
    """Version and generation of all of the fleet's objects for some clusters."""
    found: dict[str, tuple[str, int]] = {}
    for group, version, kind, plural in KINDS:
        path = f"/{f'apis/{group}' if group else 'api'}/{version}/{plural}"
        selector = f"tenantry/cluster in ({','.join(clusters)})"
        answer = hub.client._client._client.get(path, params={"labelSelector": selector})
        for item in answer.json().get("items", ()) if answer.status_code == 200 else ():
            metadata: dict[str, Any] = item["metadata"]
            found[f"{kind} {metadata['name']}"] = metadata["resourceVersion"], metadata.get("generation", 0)
    assert found
    return found


def _path(hub: Cluster, cluster: str) -> str:
    found = hub.find("Kustomization", "clusters", f"{cluster}-roll-web")
    assert found
    return str(found["spec"]["path"])


def _data(project: Project, cluster: str, name: str = "web") -> dict[str, str]:
    """What an app has put on a remote cluster."""
    with closing(Cluster(project.kubeconfig(cluster))) as remote:
        found = remote.find("ConfigMap", "roll", name)
    return dict(found["data"]) if found else {}


def _version(project: Project, cluster: str) -> str:
    return _data(project, cluster)["version"]


def _color(project: Project, cluster: str) -> str:
    return _data(project, cluster)["color"]


def _branch(project: Project) -> None:
    """Push a branch `next` with a version of that name; `main` stays as it is."""
    (repository,) = project.sandbox.rglob("roll/manifests.git")
    git = ["git", "-C", str(repository)]
    main = subprocess.run([*git, "rev-parse", "main"], check=True, capture_output=True, text=True).stdout.strip()
    text = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: {version: next, color: "${COLOR:=none}"}\n'
    after = commit(
        project.sandbox,
        "roll/manifests",
        {f"v3/{ring}/settings.yaml": text for ring in ("canary", "early", "late")},
        "a",
    )
    subprocess.run([*git, "update-ref", "refs/heads/next", after], check=True)
    subprocess.run([*git, "update-ref", "refs/heads/main", main], check=True)


def _kill_once_it_says(project: Project, words: str) -> None:
    """`kill -9` of a run and of all that it has started."""
    log = project.root / "killed.log"
    with log.open("w") as stream:
        run = subprocess.Popen(
            ["pulumi", "--non-interactive", "up", "--stack", "dev", "--yes", "--skip-preview"],
            cwd=project.root,
            env={**os.environ, **project.environment()},
            stdout=stream,
            stderr=subprocess.STDOUT,
        )
    try:
        eventually(lambda: words in log.read_text() or run.poll() is not None, words)
        assert run.poll() is None, log.read_text()
    finally:
        engine = psutil.Process(run.pid)
        for each in [*engine.children(recursive=True), engine]:
            each.kill()
        run.wait()
    time.sleep(0.1)
