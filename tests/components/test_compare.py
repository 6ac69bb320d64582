"""What a run makes of objects that are not as planned, with an API server in memory."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pulumi
import pytest

from components import compare as module
from components.compare import Comparison, check_applied, compare_with_cluster
from components.run import Run, change_in, restore
from components.secrets import SecretConfig
from components.state import State
from tenantry.cluster import connect, drift
from tenantry.cluster.client import Client
from tenantry.cluster.drift import Confirmed
from tenantry.kube.objects import Manifest, ObjectId
from tenantry.plan.plan import Plan
from tenantry.rollout.change import Difference, Evidence, Kind, Reason
from tenantry.stacks.file import Reach
from tenantry.stacks.outcome import UNREFRESHED
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
ORPHAN = {
    "apiVersion": "v1",
    "kind": "ServiceAccount",
    "metadata": {
        "name": "movy",
        "namespace": "clusters",
        "uid": "u",
        "labels": {"app.kubernetes.io/managed-by": "tenantry", "tenantry/environment": "dev"},
    },
}
SECRETS = SecretConfig({})


@pytest.fixture
def logged(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A cluster on which one object was changed by hand; what the program says."""
    messages: list[str] = []
    monkeypatch.setattr(connect, "connect", lambda *_: Memory().client())
    holding(monkeypatch, [DRIFT])
    monkeypatch.setattr(module, "asked", lambda _, found, __: Confirmed(list(found), {}))
    monkeypatch.setattr(module, "namespaces_of", lambda _: ())
    monkeypatch.setattr(pulumi, "get_stack", lambda: "dev")
    monkeypatch.setattr(pulumi.log, "warn", messages.append)
    monkeypatch.setattr(pulumi.log, "info", messages.append)
    monkeypatch.setattr("components.state.exported_resources", lambda *_: [])
    return messages


def holding(monkeypatch: pytest.MonkeyPatch, differences: list[Difference], *unplanned: Manifest) -> None:
    found = drift.Comparison(differences, list(unplanned))
    monkeypatch.setattr(module, "compare", lambda *_, **__: found)


def remembering(monkeypatch: pytest.MonkeyPatch, manifest: Manifest | None) -> None:
    resource = {"urn": URN, "type": KEY.partition("::")[0], "inputs": manifest}
    monkeypatch.setattr("components.state.exported_resources", lambda *_: [resource] if manifest else [])


def hub() -> Client:
    return connect.connect(None, None)


def compared(plan: Plan = PLAN) -> Comparison:
    return compare_with_cluster(hub(), plan, State(), SECRETS, ())


def begin(**blocked: Any) -> Comparison:
    state = State()
    found = compare_with_cluster(hub(), PLAN, state, SECRETS, ())
    change = change_in(PLAN, found)
    run = Run(plan=PLAN, target=Reach(), change=change, evidence=Evidence(live={}), comparison=found, state=state)
    restore(run, {WEB.id: Reason(Kind.WAITING, "soaks")} if blocked else {})
    return found


def test_what_others_have_changed_is_named(monkeypatch: pytest.MonkeyPatch, logged: list[str]) -> None:
    remembering(monkeypatch, WEB.manifest)
    assert [each.id for each in begin().differences] == [WEB.id]
    assert logged == [f"changed by others than Pulumi, and put back by this run:\n    {TEXT}"]


def test_what_a_run_takes_over_was_not_changed_by_others(monkeypatch: pytest.MonkeyPatch, logged: list[str]) -> None:
    holding(monkeypatch, [replace(DRIFT, live={**LIVE, "metadata": WEB.manifest["metadata"]})])
    begin()
    assert logged == []


def test_a_run_that_left_the_refresh_out_is_begun_again_if_the_state_is_wrong(
    monkeypatch: pytest.MonkeyPatch, logged: list[str]
) -> None:
    monkeypatch.setenv(UNREFRESHED, "true")
    remembering(monkeypatch, WEB.manifest)
    with pytest.raises(SystemExit) as ended:
        begin()
    assert ended.value.code == 32
    message = "1 object on the management cluster is not as planned, and Pulumi's state does not know it"
    assert logged[-1] == f"{message}\n    {TEXT}"


@pytest.mark.parametrize("remembered", [LIVE, None], ids=["a change of the file", "a new object"])
@pytest.mark.usefixtures("logged")
def test_it_goes_on_if_the_engine_sees_the_difference_by_itself(
    monkeypatch: pytest.MonkeyPatch, remembered: Manifest | None
) -> None:
    monkeypatch.setenv(UNREFRESHED, "true")
    remembering(monkeypatch, remembered)
    assert begin().differences


@pytest.mark.usefixtures("logged")
def test_drift_of_a_held_object_goes_back_to_what_was_applied_last(monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine registers what the state has, so it has to learn that the cluster has something else."""
    monkeypatch.setenv(UNREFRESHED, "true")
    remembering(monkeypatch, {**WEB.manifest, "spec": {**WEB.manifest["spec"], "path": "./last"}})
    with pytest.raises(SystemExit):
        begin(held=True)
    remembering(monkeypatch, LIVE)
    assert begin(held=True).differences


@pytest.mark.usefixtures("logged")
def test_pulumi_leaves_alone_what_the_api_server_writes_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "asked", lambda *_: Confirmed([], {}))
    found = compared()
    [web] = (each for each in found.with_live_fields(PLAN).objects if each.id == WEB.id)
    assert (found.differences, web.rewritten) == ([], DRIFT.changed)


def test_an_object_that_was_deleted_by_hand_is_not_known_to_the_state(
    monkeypatch: pytest.MonkeyPatch, logged: list[str]
) -> None:
    monkeypatch.setenv(UNREFRESHED, "true")
    holding(monkeypatch, [Difference(WEB, None)])
    remembering(monkeypatch, WEB.manifest)
    with pytest.raises(SystemExit):
        begin()
    assert logged[-1].endswith("\n    Kustomization rocky/web: missing")


@pytest.mark.parametrize(
    ("answer", "fails"), [(WEB.manifest, True), (LIVE, False)], ids=["as planned", "left alone, as with --target"]
)
@pytest.mark.usefixtures("logged")
def test_what_the_engine_takes_for_restored_has_to_be(
    monkeypatch: pytest.MonkeyPatch, answer: Manifest, *, fails: bool
) -> None:
    monkeypatch.setattr(module, "compare_again", lambda *_: [DRIFT])
    message = ""
    try:
        check_applied(hub(), PLAN, [DRIFT], {WEB.id: answer})
    except pulumi.RunError as error:
        message = str(error)
    expected = (
        "1 object on the management cluster is not as planned, and Pulumi's state does not know it\n"
        f"    {TEXT}\n  fix: pulumi up --stack dev --refresh"
    )
    assert message == (expected if fails else "")


@pytest.mark.usefixtures("logged")
def test_a_state_of_another_management_cluster_is_called_so(monkeypatch: pytest.MonkeyPatch) -> None:
    by_administrator = {"metadata": {"managedFields": [{"manager": "administrator"}]}}
    missing = [Difference(each, by_administrator if each.id.kind == "Namespace" else None) for each in PLAN.objects]
    missing = [replace(each, changed=(("metadata",),)) if each.live else each for each in missing]
    monkeypatch.setattr(module, "compare_again", lambda *_: missing)
    with pytest.raises(pulumi.RunError, match="the state is of another management cluster"):
        check_applied(hub(), PLAN, missing, {each.id: each.manifest for each in PLAN.objects})


GIT = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "git", "namespace": "rocky"}}


@pytest.mark.parametrize("dry_run", [True, False])
@pytest.mark.usefixtures("logged")
def test_secrets_that_a_run_deletes_may_be_listed_even_if_nothing_else_changes(
    monkeypatch: pytest.MonkeyPatch, *, dry_run: bool
) -> None:
    asked: list[list[str]] = []
    client = Memory().client()
    client.unlisted = True
    urn = "urn:pulumi:dev::tenantry::tenantry:index:Fleet$kubernetes:core/v1:Secret::rocky/git"
    state = [{"urn": urn, "type": "kubernetes:core/v1:Secret", "inputs": GIT}]
    monkeypatch.setattr(connect, "connect", lambda *_: client)
    holding(monkeypatch, [])
    monkeypatch.setattr("components.state.exported_resources", lambda *_: state)
    monkeypatch.setattr(module, "check_deletable", lambda _, __, ids: asked.append([*map(str, ids)]))
    monkeypatch.setattr(pulumi.runtime, "is_dry_run", lambda: dry_run)
    compared()
    assert asked == ([] if dry_run else [["Secret rocky/git"]])


def test_what_an_interrupted_run_has_left_is_named_and_what_the_state_knows_is_left_to_the_engine(
    monkeypatch: pytest.MonkeyPatch, logged: list[str]
) -> None:
    id = ObjectId("v1", "ServiceAccount", "clusters", "movy")
    holding(monkeypatch, [], ORPHAN)
    found = begin()
    assert ([*found.orphans], found.removed) == ([id], {})
    assert logged == [
        "left by an interrupted run, not in the file, and deleted by this run:\n    ServiceAccount clusters/movy"
    ]
    urn = "urn:pulumi:dev::tenantry::tenantry:index:Fleet$kubernetes:core/v1:ServiceAccount::clusters/movy"
    monkeypatch.setattr("components.state.exported_resources", lambda *_: [{"urn": urn, "inputs": ORPHAN}])
    found = compared()
    assert (found.orphans, [*found.removed]) == ({}, [id])


@pytest.mark.usefixtures("logged")
def test_what_is_being_deleted_is_removed_too_so_that_it_can_be_passed_by(monkeypatch: pytest.MonkeyPatch) -> None:
    leaving = {**ORPHAN, "metadata": {**ORPHAN["metadata"], "deletionTimestamp": "2026-01-31T12:00:00Z"}}  # type: ignore[dict-item]
    urn = "urn:pulumi:dev::tenantry::tenantry:index:Fleet$kubernetes:core/v1:ServiceAccount::clusters/movy"
    monkeypatch.setattr("components.state.exported_resources", lambda *_: [{"urn": urn, "inputs": ORPHAN}])
    holding(monkeypatch, [], leaving)
    assert [id.name for id in compared().removed] == ["movy"]


@pytest.mark.usefixtures("logged")
def test_what_can_hold_data_and_goes_has_to_be_kept_by_the_state(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[str]] = []
    claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data", "namespace": "rocky"}}
    urn = "urn:pulumi:dev::tenantry::tenantry:index:Fleet$kubernetes:core/v1:PersistentVolumeClaim::rocky/data"
    holding(monkeypatch, [], claim)
    monkeypatch.setattr(module, "check_retained", lambda _, __, left: asked.append(left))
    for state in ([{"urn": urn}], []):
        monkeypatch.setattr("components.state.exported_resources", lambda *_, state=state: state)
        compared()
    assert asked == [["PersistentVolumeClaim rocky/data"], []]


def test_a_bare_preview_that_may_not_have_refreshed_says_what_to_type(
    monkeypatch: pytest.MonkeyPatch, logged: list[str]
) -> None:
    monkeypatch.setattr(pulumi.runtime, "is_dry_run", lambda: True)
    remembering(monkeypatch, WEB.manifest)
    for always in (True, False):
        monkeypatch.setattr(module, "refreshes_always", lambda _, always=always: always)
        begin()
    assert logged[2:] == [
        "not as planned on the management cluster; without a refresh, Pulumi does not show it:\n"
        f"    {TEXT}\n  fix: pulumi preview --stack dev --refresh"
    ]


def test_what_the_api_server_refuses_is_a_reason_and_of_a_secret_without_its_text() -> None:
    memory = Memory()
    path = "/apis/kustomize.toolkit.fluxcd.io/v1/namespaces/rocky/kustomizations/web"
    memory.refuse("PATCH", path, 422, "spec.path: Invalid value")
    memory.refuse("PATCH", "/api/v1/namespaces/rocky/secrets/git", 422, "data: Invalid value: geheim")
    secret = replace(WEB, manifest=GIT)
    found = drift.asked(memory.client(), [Difference(WEB, None), Difference(secret, None)], {"rocky"})
    assert found.refused == {
        WEB.id: "the API server refuses Kustomization rocky/web: HTTP 422: spec.path: Invalid value",
        secret.id: "the API server refuses Secret rocky/git",
    }
    assert len(found.differences) == 2
    memory.refuse("PATCH", path, 403, 'kustomizations is forbidden: User "reader" cannot patch resource')
    assert drift.asked(memory.client(), [Difference(WEB, None)], {"rocky"}).refused == {}
    assert drift.asked(memory.client(), [Difference(secret, None)], set()).refused == {}


@pytest.mark.usefixtures("logged")
def test_a_secret_without_a_value_is_held_as_the_cluster_has_it_also_without_its_label(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What the cluster does not have is left out; what it has would be deleted otherwise."""
    memory = Memory()
    memory.objects["/api/v1/namespaces/rocky/secrets/git"] = GIT
    monkeypatch.setattr(connect, "connect", lambda *_: memory.client())
    there, absent = ObjectId("v1", "Secret", "rocky", "git"), ObjectId("v1", "Secret", "rocky", "gone")
    found = compare_with_cluster(hub(), PLAN, State(), SECRETS, (there, absent))
    assert {id: live is not None for id, live in found.unfit.items()} == {there: True, absent: False}
