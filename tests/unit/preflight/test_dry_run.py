"""What the API server says that a run would make of each planned object."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from tenantry.cluster.requests import path_of
from tenantry.kube.objects import KubeObject, ObjectId
from tenantry.messages.errors import Problem
from tenantry.preflight.adoption import DryRun, dry_run
from tests.unit.memory import Memory, list_of
from tests.unit.texts import one, planned, rocky

PLAN = planned(rocky("web: {kustomize: {source: manifests, path: ./web}}"))
WEB, SOURCE = one(PLAN, "Kustomization", "web"), one(PLAN, "GitRepository", "manifests")
ACCOUNT = one(PLAN, "ServiceAccount", "rocky")
CREDENTIALS = "credentials: {token: {keys: [username, password]}}"
HELD = [{"id": "rocky_web_apps_Deployment", "v": "v1"}, {"id": "rocky_data__ConfigMap", "v": "v1"}]


def by_others(each: KubeObject, **spec: Any) -> dict[str, Any]:
    """A planned object as it was before Tenantry."""
    found = deepcopy(dict(each.manifest))
    found["metadata"] = {key: value for key, value in found["metadata"].items() if key not in ("labels", "annotations")}
    return {**found, "spec": {**found["spec"], **spec}} if spec else found


def rehearsed(*live: dict[str, Any], others: tuple[dict[str, Any], ...] = ()) -> tuple[DryRun, list[Problem], Memory]:
    """The dry run on a cluster with some of the planned objects, and with Kustomizations of others."""
    memory = Memory()
    for each in live:
        metadata = each["metadata"]
        memory.objects[
            path_of(ObjectId(each["apiVersion"], each["kind"], metadata.get("namespace", ""), metadata["name"]))
        ] = each
    memory.objects[list_of(WEB.id)] = {"metadata": {}, "items": list(others)}
    found, problems = dry_run(memory.client(), PLAN)
    return found, problems, memory


def told(problems: list[Problem]) -> list[str]:
    return [f"{each.code}: {each.message}" for each in problems]


def test_each_object_is_equal_or_marked_or_changed_or_new_and_nothing_is_written() -> None:
    web = by_others(WEB, interval="1h")
    found, problems, memory = rehearsed(dict(SOURCE.manifest), by_others(ACCOUNT), web)
    assert found.equal == (SOURCE.id,)
    assert found.marked == (ACCOUNT.id,)
    ((change,),) = (each.fields for each in found.changed)
    assert (change.path, change.before, change.after) == (("spec", "interval"), "1h", "10m")
    assert {*found.made} == {each.id for each in PLAN.objects} - {SOURCE.id, ACCOUNT.id, WEB.id}
    assert (found.rejected, found.deleted, problems) == ((), (), [])
    written = [given for method, _, given in memory.requests if method != "GET"]
    assert [(each["dryRun"], each["fieldManager"], each["force"]) for each in written] == [
        ("All", "tenantry", "true")
    ] * len(PLAN.objects)


def test_the_live_values_of_a_secret_are_not_shown() -> None:
    """The API server repeats them in its answer to a dry run, in which they are not planned."""
    text = rocky("web: {kustomize: {source: manifests}}").replace("    apps:", f"    {CREDENTIALS}\n    apps:")
    plan = planned(text.replace("ref: {branch: main}}}", "ref: {branch: main}}, credentials: token}"))
    token = one(plan, "Secret", "token")
    memory = Memory()
    memory.objects[list_of(WEB.id)] = {"metadata": {}, "items": []}
    live = {"metadata": dict(token.manifest["metadata"]), "type": "Opaque", "data": {"username": "bWFya2Vy"}}
    memory.objects[path_of(token.id)] = live
    memory.bare = {path_of(token.id)}
    found, _ = dry_run(memory.client(), plan)
    assert (token.id in found.equal, found.changed) == (True, ())
    live["metadata"]["labels"] = {}
    found, _ = dry_run(memory.client(), plan)
    assert "bWFya2Vy" not in repr(found)


def test_what_the_server_does_not_take_is_an_error_with_its_reason() -> None:
    memory = Memory()
    memory.objects[list_of(WEB.id)] = {"metadata": {}, "items": []}
    memory.refuse("PATCH", path_of(WEB.id), 422, "spec is wrong")
    found, problems = dry_run(memory.client(), PLAN)
    assert [each.id for each in found.rejected] == [WEB.id]
    assert told(problems) == [
        f"dry-run-rejected: the API server does not take {WEB.id}: cannot change {WEB.id}: HTTP 422: spec is wrong"
    ]


def test_a_release_is_tried_as_it_is_after_the_step_that_takes_its_old_chart_off() -> None:
    plan = planned(rocky("cache: {helm: {source: charts, chart: cache, version: 1.x}}"))
    release = one(plan, "HelmRelease", "cache")
    live = by_others(release, chart={"spec": {"chart": "cache"}})
    del live["spec"]["chartRef"]
    memory = Memory()
    memory.objects[path_of(release.id)] = live
    memory.objects[list_of(WEB.id)] = {"metadata": {}, "items": []}
    found, _ = dry_run(memory.client(), plan)
    (changed,) = found.changed
    assert {each.path for each in changed.fields} == {("spec", "chart"), ("spec", "chartRef")}


def applier(**rest: Any) -> dict[str, Any]:
    """A Kustomization of others that applies the source, and something that is not planned."""
    entries = [{"id": "rocky_manifests_source.toolkit.fluxcd.io_GitRepository", "v": "v1"}, HELD[1]]
    metadata = {"name": "tenants", "namespace": "flux-system"}
    return {"metadata": metadata, "spec": rest, "status": {"inventory": {"entries": entries}}}


def test_what_still_applies_planned_objects_is_named_with_the_command_that_stops_it() -> None:
    _, problems, _ = rehearsed(by_others(SOURCE), others=(applier(),))
    (problem,) = problems
    assert told(problems) == [
        "still-applied: Kustomization flux-system/tenants applies 1 object of the plan, sets it back, and deletes it when its file"
        " is gone\n    GitRepository rocky/manifests"
    ]
    assert problem.fix.endswith(
        "--namespace rocky gitrepository/manifests kustomize.toolkit.fluxcd.io/reconcile=disabled"
    )
    assert rehearsed(by_others(SOURCE), others=(applier(suspend=True),))[1] == []
    alone = by_others(SOURCE)
    alone["metadata"] |= {"annotations": {"kustomize.toolkit.fluxcd.io/reconcile": "disabled"}}
    assert rehearsed(alone, others=(applier(),))[1] == []


def holding(**spec: Any) -> dict[str, Any]:
    return {**by_others(WEB, **spec), "status": {"inventory": {"entries": HELD}}}


def test_flux_prunes_where_other_manifests_come_and_not_where_the_same_come_from_a_source_of_another_name() -> None:
    assert told(rehearsed(holding(path="./old"), by_others(SOURCE))[1]) == [
        "may-prune: Kustomization rocky/web would apply other manifests (path): of the 2 objects that it holds, Flux deletes those"
        " that these do not have"
    ]
    old = {**by_others(SOURCE), "metadata": {"name": "old", "namespace": "rocky"}}
    named = {"kind": "GitRepository", "name": "old"}
    assert rehearsed(holding(sourceRef=named), old)[1] == []
    old["spec"] = {**old["spec"], "ref": {"branch": "other"}}
    assert "(sourceRef)" in told(rehearsed(holding(sourceRef=named), old)[1])[0]
    assert rehearsed(holding(targetNamespace=None), by_others(SOURCE))[1] == [], "all of it is in the namespace already"
    elsewhere = {"inventory": {"entries": [{"id": "web_web_apps_Deployment", "v": "v1"}]}}
    moved = {**holding(targetNamespace="web"), "status": elsewhere}
    assert "(targetNamespace)" in told(rehearsed(moved, by_others(SOURCE))[1])[0]
