"""Drift: what people change by hand is put back, on the management cluster by a run that refreshes, on remotes by Flux alone."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.e2e.clusters import eventually
from tests.e2e.project import Project
from tests.faults.api import Api
from tests.faults.compare import settled
from tests.faults.drift import A_NAMESPACE, CORE, FLUX, HELM, ON_A_REMOTE, ON_THE_HUB, Change, essence

pytestmark = [pytest.mark.e2e, pytest.mark.faults]

PATCHES = [{"patch": "[{op: add, path: /metadata/labels/by, value: hand}]", "target": {"kind": "ConfigMap"}}]

States = dict[str, Any]
"""What is the same in an object and its successor, by the object's path."""


@pytest.fixture(scope="module")
def project(frequent: Project) -> Project:
    return frequent


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


@pytest.mark.parametrize("changes", [ON_A_REMOTE, (A_NAMESPACE,)], ids=["objects", "a namespace"])
def test_on_a_remote_flux_alone_puts_back_what_was_changed(
    project: Project, edge: Api, changes: tuple[Change, ...]
) -> None:
    before = states(edge, changes)
    assert None not in before.values()
    for each in changes:
        each.make(edge)
    for each in changes:
        eventually(lambda each=each: each.path in put_back(edge, before), f"{each.what}: to be put back")
    settled(project, "dev")


def test_a_run_that_is_told_not_to_refresh_fails_and_the_next_one_puts_all_back(calm: Project, hub: Api) -> None:
    before = drifted(hub, ON_THE_HUB)
    ended = calm.up("dev", "--refresh=false")
    assert ended.code != 0
    assert f"{len(ON_THE_HUB)} objects on the management cluster are not as planned" in ended.text, ended.text
    assert "Kustomization rocky/db: spec.path" in ended.text
    assert "fix: pulumi up --stack dev --refresh" in ended.text
    shows_and_restores(calm, hub, before, calm.up().ok().text)


def shows_and_restores(project: Project, hub: Api, before: States, told: str) -> None:
    assert before.keys() - put_back(hub, before) == set()
    settled(project, "dev")
    assert "changed by others than Pulumi, and put back by this run:" in told, told
    assert re.search("Kustomization rocky/db: .*spec.path, .*by ", told), told


TENANTRY_UP = ("up", "--environment", "dev", "--yes", "--skip-preview")
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


def test_what_was_changed_and_what_somebody_has_added_is_shown_and_put_back(calm: Project, hub: Api) -> None:
    before = drifted(hub, (*ON_THE_HUB, *ADDED))
    shown = calm.engine("preview", "--environment", "dev").ok().text
    assert re.search("Kustomization rocky/db: .*spec.patches, .*by ", shown), shown
    assert put_back(hub, before) == set(), "a preview changes nothing"
    shows_and_restores(calm, hub, before, calm.engine(*TENANTRY_UP).ok().text)


def test_a_run_without_a_difference_does_not_refresh(calm: Project) -> None:
    ended = calm.engine(*TENANTRY_UP).ok().text
    assert "--refresh=false" in ended, ended
    assert "after a refresh" not in ended, ended
