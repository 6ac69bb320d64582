"""What a run does about objects that are not as planned, with an API server in memory."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import replace
from typing import Any

import pulumi
import pytest

from components import comparing
from components.comparing import Restoring, restoring
from tenantry.cluster import connect, drift
from tenantry.cluster.drift import Comparison, Difference
from tenantry.kube.objects import Manifest
from tenantry.stacks.file import Reach
from tenantry.stacks.outcome import UNREFRESHED
from tests.components.recording import record
from tests.unit.memory import Memory
from tests.unit.texts import planned, rocky

PLAN = planned(rocky("web: {kustomize: {source: manifests, path: ./web}}"))
WEB = next(each for each in PLAN.objects if each.id.kind == "Kustomization")
KEY = "kubernetes:kustomize.toolkit.fluxcd.io/v1:Kustomization::rocky/web"
URN = "urn:pulumi:dev::tenantry::tenantry:index:Fleet$" + KEY
METADATA = {**WEB.manifest["metadata"], "managedFields": [{"manager": "tenantry"}]}
LIVE = {**WEB.manifest, "metadata": METADATA, "spec": {**WEB.manifest["spec"], "path": "./other"}}
DRIFT = Difference(WEB, LIVE, (("spec", "path"),), (), "kubectl-patch", "2026-01-31T12:00:00Z")
TEXT = "Kustomization rocky/web: spec.path, by kubectl-patch at 2026-01-31T12:00:00Z"


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A cluster on which one object was changed by hand; what the program says."""
    said: list[str] = []
    monkeypatch.setattr(connect, "connect", lambda *_: Memory().client())
    monkeypatch.setattr(comparing, "compare", lambda *_, **__: Comparison([DRIFT], []))
    monkeypatch.setattr(comparing, "confirmed", lambda _, found: found)
    monkeypatch.setattr(comparing, "namespaces_of", lambda _: ())
    monkeypatch.setattr(pulumi.log, "warn", said.append)
    monkeypatch.setattr(pulumi.log, "info", said.append)
    return said


def remembering(monkeypatch: pytest.MonkeyPatch, manifest: Manifest | None) -> None:
    state = {URN: manifest} if manifest else {}
    monkeypatch.setattr(comparing, "outputs_in_state", lambda: state)


def run(build: Callable[[], object]) -> None:
    record(build, config={})


def begin() -> Restoring | None:
    found: list[Restoring | None] = []
    run(lambda: found.append(restoring(PLAN, Reach())))
    return found[0]


def test_a_run_that_has_refreshed_goes_on_and_looks_again(monkeypatch: pytest.MonkeyPatch, told: list[str]) -> None:
    remembering(monkeypatch, WEB.manifest)
    begun = begin()
    assert begun
    assert begun.ids == {WEB.id}
    assert told == [f"changed by others than Pulumi, and put back by this run:\n    {TEXT}"]


def test_what_a_run_takes_over_was_not_changed_by_others(monkeypatch: pytest.MonkeyPatch, told: list[str]) -> None:
    stranger = replace(DRIFT, live={**LIVE, "metadata": WEB.manifest["metadata"]})
    monkeypatch.setattr(comparing, "compare", lambda *_, **__: Comparison([stranger], []))
    remembering(monkeypatch, None)
    assert begin()
    assert told == []


def test_a_run_that_left_the_refresh_out_is_begun_again_if_the_state_is_wrong(
    monkeypatch: pytest.MonkeyPatch, told: list[str]
) -> None:
    monkeypatch.setenv(UNREFRESHED, "true")
    remembering(monkeypatch, WEB.manifest)
    with pytest.raises(SystemExit) as ended:
        begin()
    assert ended.value.code == 32
    assert (
        told[-1]
        == f"1 object on the management cluster is not as planned, and Pulumi's state does not know it\n    {TEXT}"
    )


@pytest.mark.parametrize("remembered", [LIVE, None], ids=["a change of the file", "a new object"])
def test_it_goes_on_if_the_engine_sees_the_difference_by_itself(
    monkeypatch: pytest.MonkeyPatch, told: list[str], remembered: Manifest | None
) -> None:
    monkeypatch.setenv(UNREFRESHED, "true")
    remembering(monkeypatch, remembered)
    assert begin()
    assert len(told) == 1


def test_pulumi_leaves_alone_what_the_api_server_writes_otherwise(
    monkeypatch: pytest.MonkeyPatch, told: list[str]
) -> None:
    monkeypatch.setattr(comparing, "confirmed", lambda *_: [])
    begun = begin()
    assert begun
    assert (begun.ids, told) == (frozenset(), [])
    [web] = (each for each in begun.leaving(PLAN).objects if each.id == WEB.id)
    assert web.rewritten == DRIFT.changed


def test_an_object_that_was_deleted_by_hand_is_not_known_to_the_state(
    monkeypatch: pytest.MonkeyPatch, told: list[str]
) -> None:
    monkeypatch.setenv(UNREFRESHED, "true")
    monkeypatch.setattr(comparing, "compare", lambda *_, **__: Comparison([Difference(WEB, None)], []))
    remembering(monkeypatch, WEB.manifest)
    with pytest.raises(SystemExit):
        begin()
    assert told[-1].endswith("\n    Kustomization rocky/web: missing")


ENGINE: Mapping[str, tuple[Any, bool]] = {
    "as planned": (WEB.manifest, True),
    "left alone, as with --target": (LIVE, False),
}


@pytest.mark.parametrize(("answer", "fails"), ENGINE.values(), ids=ENGINE)
def test_what_the_engine_takes_for_restored_has_to_be(
    monkeypatch: pytest.MonkeyPatch, answer: Manifest, *, fails: bool
) -> None:
    monkeypatch.setattr(connect, "connect", lambda *_: Memory().client())
    monkeypatch.setattr(comparing, "compare_again", lambda *_: [DRIFT])
    monkeypatch.setattr(pulumi, "get_stack", lambda: "dev")
    message = ""
    with closing(asyncio.new_event_loop()) as loop:
        try:
            loop.run_until_complete(Restoring(Reach(), PLAN, [DRIFT]).check({WEB.id: answer}))
        except pulumi.RunError as error:
            message = str(error)
    expected = (
        "1 object on the management cluster is not as planned, and Pulumi's state does not know it\n"
        f"    {TEXT}\n  fix: pulumi up --stack dev --refresh"
    )
    assert message == (expected if fails else "")


GIT = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "git", "namespace": "rocky"}}
GIT_URN = "urn:pulumi:dev::tenantry::tenantry:index:Fleet$kubernetes:core/v1:Secret::rocky/git"


@pytest.mark.parametrize("dry_run", [True, False])
def test_secrets_that_a_run_deletes_may_be_listed_even_if_nothing_else_changes(
    monkeypatch: pytest.MonkeyPatch, *, dry_run: bool
) -> None:
    asked: list[list[str]] = []
    client = Memory().client()
    client.unlisted = True
    monkeypatch.setattr(connect, "connect", lambda *_: client)
    monkeypatch.setattr(comparing, "compare", lambda *_, **__: Comparison([], []))
    monkeypatch.setattr(comparing, "namespaces_of", lambda _: ())
    monkeypatch.setattr(comparing, "outputs_in_state", lambda: {URN: WEB.manifest, GIT_URN: GIT})
    monkeypatch.setattr(comparing, "check_deletable", lambda _, __, ids: asked.append([*map(str, ids)]))
    monkeypatch.setattr(pulumi.runtime, "is_dry_run", lambda: dry_run)
    begin()
    assert asked == ([] if dry_run else [["Secret rocky/git"]])


def test_a_state_of_another_management_cluster_is_called_so(monkeypatch: pytest.MonkeyPatch) -> None:
    by_administrator = {"metadata": {"managedFields": [{"manager": "administrator"}]}}
    missing = [Difference(each, by_administrator if each.id.kind == "Namespace" else None) for each in PLAN.objects]
    monkeypatch.setattr(connect, "connect", lambda *_: Memory().client())
    monkeypatch.setattr(comparing, "compare_again", lambda *_: missing)
    monkeypatch.setattr(pulumi, "get_stack", lambda: "dev")
    checked = Restoring(Reach(), PLAN, missing).check({each.id: each.manifest for each in PLAN.objects})
    with closing(asyncio.new_event_loop()) as loop, pytest.raises(pulumi.RunError) as refused:
        loop.run_until_complete(checked)
    assert "the state is of another management cluster" in str(refused.value)
    assert str(refused.value).endswith("--preserve-config\n    pulumi stack init dev")


ORPHAN = {
    "apiVersion": "v1",
    "kind": "ServiceAccount",
    "metadata": {"name": "movy", "namespace": "clusters", "labels": {"app.kubernetes.io/managed-by": "tenantry"}},
}


def test_what_an_interrupted_run_left_in_no_state_is_deleted(monkeypatch: pytest.MonkeyPatch, told: list[str]) -> None:
    deleted: list[list[Manifest]] = []
    monkeypatch.setattr(comparing, "compare", lambda *_, **__: Comparison([], [ORPHAN]))
    monkeypatch.setattr(comparing, "delete", lambda _, found, __: deleted.append(found))
    remembering(monkeypatch, None)
    begin()
    assert deleted == [[ORPHAN]]
    assert told == [
        "1 object was left by an interrupted run and is not in the file: this run deletes it\n"
        "    ServiceAccount clusters/movy"
    ]


def test_what_the_state_knows_is_left_to_the_engine(monkeypatch: pytest.MonkeyPatch, told: list[str]) -> None:
    deleted: list[list[Manifest]] = []
    monkeypatch.setattr(comparing, "compare", lambda *_, **__: Comparison([], [ORPHAN]))
    monkeypatch.setattr(comparing, "delete", lambda _, found, __: deleted.append(found))
    known = "urn:pulumi:dev::tenantry::tenantry:index:Fleet$kubernetes:core/v1:ServiceAccount::clusters/movy"
    monkeypatch.setattr(comparing, "outputs_in_state", lambda: {known: {}})
    begin()
    assert (deleted, told) == ([[]], [])


def test_a_preview_changes_nothing(monkeypatch: pytest.MonkeyPatch, told: list[str]) -> None:
    added = Difference(WEB, LIVE, (), (("spec", "force"),), "kubectl-edit", "2026-01-31T12:00:00Z")
    monkeypatch.setattr(comparing, "compare", lambda *_, **__: Comparison([added], [ORPHAN]))
    monkeypatch.setattr(drift.requests, "patched", pytest.fail)
    monkeypatch.setattr(comparing, "delete", pytest.fail)
    monkeypatch.setattr(pulumi.runtime, "is_dry_run", lambda: True)
    remembering(monkeypatch, WEB.manifest)
    assert begin() is None
    assert len(told) == 2


def test_what_can_hold_data_and_goes_has_to_be_kept_by_the_state(
    monkeypatch: pytest.MonkeyPatch, told: list[str]
) -> None:
    asked: list[list[str]] = []
    claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data", "namespace": "rocky"}}
    monkeypatch.setattr(comparing, "compare", lambda *_, **__: Comparison([], [claim]))
    monkeypatch.setattr(comparing, "check_retained", lambda _, left: asked.append(left))
    monkeypatch.setattr(comparing, "delete", lambda *_: None)
    known = "urn:pulumi:dev::tenantry::tenantry:index:Fleet$kubernetes:core/v1:PersistentVolumeClaim::rocky/data"
    for state in ({known: {}}, {}):
        monkeypatch.setattr(comparing, "outputs_in_state", lambda state=state: state)
        begin()
    assert (asked, told) == ([["PersistentVolumeClaim rocky/data"], []], [])


def test_a_bare_preview_that_may_not_have_refreshed_says_what_to_type(
    monkeypatch: pytest.MonkeyPatch, told: list[str]
) -> None:
    monkeypatch.setattr(pulumi.runtime, "is_dry_run", lambda: True)
    remembering(monkeypatch, WEB.manifest)
    for always in (True, False):
        monkeypatch.setattr(comparing, "refreshes_always", lambda _, always=always: always)
        assert begin() is None
    assert told[2:] == [
        "not as planned on the management cluster; without a refresh, Pulumi does not show it:\n"
        f"    {TEXT}\n  fix: pulumi preview --stack dev --refresh"
    ]
