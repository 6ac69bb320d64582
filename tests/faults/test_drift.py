"""Drift: what people change by hand is put back, on the management cluster by a run that refreshes, on remotes by Flux alone."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from tenantry.cluster.requests import path_of
from tests.e2e.clusters import eventually
from tests.e2e.project import Project, begun, make_fleet
from tests.faults import etcd
from tests.faults.api import Api
from tests.faults.compare import identities, settled
from tests.faults.drift import CORE, FLUX, HELM, ON_A_REMOTE, ON_THE_HUB, Change, essence
from tests.faults.parts import API, CONTROLLERS, kill
from tests.faults.report import Results, Row

pytestmark = [pytest.mark.e2e, pytest.mark.faults]

PATCHES = [{"patch": "[{op: add, path: /metadata/labels/by, value: hand}]", "target": {"kind": "ConfigMap"}}]
SOURCE = '{git: {url: "http://{host}/git/rocky/manifests.git", ref: {branch: main}}'
INTERVAL = "interval: 5s"

States = dict[str, Any]
"""What is the same in an object and its successor, by the object's path."""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    """The fleet with credentials, and an interval that one can wait for."""
    made = make_fleet(tmp_path_factory.mktemp("drift") / "project", "small")
    made.edit("  retryInterval: 2s\n", f"  retryInterval: 2s\n  {INTERVAL}\n")
    made.edit(f"{SOURCE}}}\n", f"{SOURCE}, credentials: git}}\n")
    made.edit("    configs:\n", "    credentials: {git: {keys: [username, password]}}\n    configs:\n")
    with begun(made, "dev"):
        for key in ("username", "password"):
            made.pulumi("config", "set", "--secret", "--path", f"tenantry:credentials.rocky.git.{key}", "any").ok()
        made.deploy("dev")
        yield made


@pytest.fixture(scope="module")
def hub(project: Project) -> Api:
    return Api(project.kubeconfig("hub"))


@pytest.fixture(scope="module")
def edge(project: Project) -> Api:
    return Api(project.kubeconfig("edge"))


def states(api: Api, changes: tuple[Change, ...]) -> States:
    return {each.path: essence(api.state(each.path)) for each in changes}


def drifted(api: Api, changes: tuple[Change, ...]) -> States:
    """The objects as they were, once all of them have been changed, and what was deleted is gone."""
    before = states(api, changes)
    assert None not in before.values()
    for each in changes:
        each.make(api)
    deleted = [each.path for each in changes if each.patch is None]
    eventually(lambda: not any(api.state(path) for path in deleted), "what was deleted to be gone")
    return before


def put_back(api: Api, before: States) -> set[str]:
    """The paths of the objects that are again as they were."""
    return {path for path, state in before.items() if essence(api.state(path)) == state}


def test_a_run_that_is_told_not_to_refresh_fails_and_says_what_restores_the_rest(
    project: Project, hub: Api, results: Results
) -> None:
    changes = tuple(each for each in ON_THE_HUB if each.patch is not None)
    before, started = drifted(hub, changes), time.monotonic()
    ended = project.up("dev", "--refresh=false")
    seconds = time.monotonic() - started
    assert ended.code != 0
    assert f"{len(changes)} objects on the management cluster are not as planned" in ended.text, ended.text
    assert "Kustomization rocky/db: spec.path" in ended.text
    assert "fix: pulumi up --stack dev --refresh" in ended.text
    what = f"{len(changes)} objects changed, and `pulumi up --refresh=false`"
    results.add(Row("drift", cells(what, "hub", "nothing, and the run fails"), seconds, "as documented"))
    project.up("dev", "--refresh").ok()
    assert [each.what for each in changes if each.path not in put_back(hub, before)] == []
    settled(project, "dev")


TENANTRY_UP = ("up", "--environment", "dev", "--yes", "--skip-preview")


@pytest.mark.parametrize("by", ["pulumi up", "tenantry up"])
def test_on_the_management_cluster_a_run_puts_all_back(project: Project, hub: Api, results: Results, by: str) -> None:
    before, started = drifted(hub, ON_THE_HUB), time.monotonic()
    ended = project.up().ok() if by == "pulumi up" else project.engine(*TENANTRY_UP).ok()
    seconds = time.monotonic() - started
    assert [each.what for each in ON_THE_HUB if each.path not in put_back(hub, before)] == []
    settled(project, "dev")
    assert "changed by others than Pulumi, and put back by this run:" in ended.text, ended.text
    assert "Kustomization rocky/db: spec.path, by " in ended.text
    for each in ON_THE_HUB:
        results.add(Row("drift", cells(each.what, "hub", f"`{by}`"), seconds, "put back"))


ADDED = (
    Change("a Kustomization with a patch more", f"{FLUX}/rocky/kustomizations/db", {"spec": {"patches": PATCHES}}),
    Change(
        "a Kustomization that recreates", f"{FLUX}/clusters/kustomizations/edge-rocky-db", {"spec": {"force": True}}
    ),
    Change(
        "a value more in a HelmRelease", f"{HELM}/movy/helmreleases/greeter", {"spec": {"values": {"more": {"of": 1}}}}
    ),
    Change("a key more in a ConfigMap", f"{CORE}/rocky/configmaps/settings", {"data": {"MORE": "red"}}),
)


def test_fields_that_somebody_has_added_are_shown_and_taken_off(project: Project, hub: Api, results: Results) -> None:
    before, started = drifted(hub, ADDED), time.monotonic()
    shown = project.engine("preview", "--environment", "dev").ok().text
    assert "Kustomization rocky/db: spec.patches, by " in shown, shown
    assert put_back(hub, before) == set(), "a preview changes nothing"
    project.engine(*TENANTRY_UP).ok()
    assert [each.what for each in ADDED if each.path not in put_back(hub, before)] == []
    settled(project, "dev")
    for each in ADDED:
        results.add(Row("drift", cells(each.what, "hub", "`tenantry up`"), time.monotonic() - started, "put back"))


def test_a_run_without_a_difference_does_not_refresh(project: Project) -> None:
    ended = project.engine(*TENANTRY_UP).ok().text
    assert "--refresh=false" in ended, ended
    assert "after a refresh" not in ended, ended


def test_a_management_cluster_that_is_older_than_the_state_gets_what_it_lacks(
    project: Project, results: Results
) -> None:
    """As from a backup: without an app and with another path of an old one, while the state and the remote cluster went on."""
    copy, text = etcd.copied(project, "hub"), project.fleet.read_text()
    project.edit("db: {kustomize: {source: manifests, path: ./db}}", NEWER)
    project.up().ok()
    settled(project, "dev")
    there = {key: uid for key, uid in identities(project, "dev").items() if key[0] == "edge"}
    for part in (*CONTROLLERS, API):
        kill(project, "hub", part)
    etcd.put_back(project, "hub", copy)
    project.start("dev")
    started = time.monotonic()
    ended = project.engine(*TENANTRY_UP)
    assert "is not as planned" in ended.ok().text or "are not as planned" in ended.text, ended.text
    settled(project, "dev")
    after = identities(project, "dev")
    assert {key: after.get(key) for key in there} == there
    cells_ = cells("a management cluster from an older backup", "hub", "`tenantry up`")
    results.add(Row("drift", cells_, time.monotonic() - started, "put back"))
    project.fleet.write_text(text)
    project.up().ok()
    settled(project, "dev")


NEWER = """db: {kustomize: {source: manifests, path: ./db, prune: false}}
      more: {kustomize: {source: manifests, path: ./web, namePrefix: more-}}"""


def test_a_management_cluster_without_any_object_of_the_fleet_gets_all_again(
    project: Project, hub: Api, results: Results
) -> None:
    """Flux does not run meanwhile, so what it has installed on the remote cluster stays as it is."""
    there = {key: uid for key, uid in identities(project, "dev").items() if key[0] == "edge"}
    for part in CONTROLLERS:
        kill(project, "hub", part)
    gone = [path_of(id) for cluster, id in identities(project, "dev") if cluster == "hub"]
    for path in gone:
        hub.ask("DELETE", path)
        hub.ask("PATCH", path, {"metadata": {"finalizers": None}})
    eventually(lambda: not any(hub.state(path) for path in gone), "all objects to be gone")
    project.start("dev")
    started = time.monotonic()
    assert project.tenantry("status", "--environment", "dev").code == 1
    project.engine(*TENANTRY_UP).ok()
    settled(project, "dev")
    after = identities(project, "dev")
    assert {key: after.get(key) for key in there} == there
    results.add(
        Row(
            "drift",
            cells("every object of the fleet deleted", "hub", "`tenantry up`"),
            time.monotonic() - started,
            "put back",
        )
    )


@pytest.mark.parametrize("change", ON_A_REMOTE, ids=lambda each: each.what)
def test_on_a_remote_flux_alone_puts_back_what_was_changed(
    project: Project, edge: Api, results: Results, change: Change
) -> None:
    before, started = drifted_one(edge, change), time.monotonic()
    eventually(lambda: essence(edge.state(change.path)) == before, f"{change.what}: to be put back")
    results.add(
        Row("drift", cells(change.what, "edge", f"Flux alone, `{INTERVAL}`"), time.monotonic() - started, "put back")
    )
    settled(project, "dev")


def drifted_one(api: Api, change: Change) -> Any:
    before = essence(api.state(change.path))
    assert before is not None
    change.make(api)
    return before


def test_what_somebody_has_suspended_stays_so_until_it_is_resumed(project: Project, hub: Api, results: Results) -> None:
    path, started = f"{HELM}/movy/helmreleases/greeter", time.monotonic()
    for suspended in (True, None):
        assert hub.ask("PATCH", path, {"spec": {"suspend": suspended}}).message == ""
        project.up("dev", "--refresh").ok()
        assert hub.ask("GET", path).body["spec"].get("suspend") is suspended
    seconds = time.monotonic() - started
    results.add(
        Row(
            "drift",
            cells("a HelmRelease suspended by hand", "hub", "nothing: resume it by hand"),
            seconds,
            "as documented",
        )
    )


def cells(what: str, where: str, by: str) -> dict[str, str]:
    return {"what": what, "where": where, "put back by": by}
