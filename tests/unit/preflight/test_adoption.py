"""What a tenant that adopts takes over, what that changes, and what stays of the former owner's."""

from __future__ import annotations

from typing import Any

from tenantry.cluster.requests import path_of
from tenantry.facts.objects import ABSENT
from tenantry.kube.objects import Manifest, ObjectId
from tenantry.messages.errors import Problem
from tenantry.plan.plan import Plan
from tenantry.preflight.adoption import Adoption, adoptions, check_adoptions, check_appliers
from tenantry.rollout.change import Difference
from tests.unit.memory import Memory, list_of
from tests.unit.texts import one, planned, rocky

PLAN = planned(
    rocky("web: {kustomize: {source: manifests}}\ncache: {helm: {source: charts, chart: cache, version: 1.x}}")
)
PASSWORD = "hunter22-hunter22"


def taken_over(plan: Plan, *live: Manifest, adopting: str = "rocky") -> list[Adoption]:
    there = {id_of(each): each for each in live}
    differences = [Difference(each, there.get(each.id)) for each in plan.objects]
    return list(adoptions(plan, differences, frozenset(there), frozenset({adopting})))


def id_of(manifest: Manifest) -> ObjectId:
    metadata = manifest["metadata"]
    return ObjectId(manifest["apiVersion"], manifest["kind"], metadata.get("namespace", ""), metadata["name"])


def by_hand(kind: str, name: str, spec: dict[str, Any], plan: Plan = PLAN, **rest: Any) -> dict[str, Any]:
    """A planned object as somebody else made it."""
    metadata = {"name": name, "namespace": "rocky", "uid": "1", "annotations": {"note": "by hand"}}
    api_version = one(plan, kind, name).id.api_version
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": spec, "status": {}, **rest}


def doubts(live: Manifest, *sources: Manifest) -> list[Problem]:
    """What is said of a planned object that somebody else made. sources: that the cluster has."""
    memory = Memory()
    memory.objects |= {path_of(id_of(source)): dict(source) for source in sources}
    return list(check_adoptions(memory.client(), PLAN, taken_over(PLAN, live)))


WEB = {"interval": "1m", "path": "./web", "prune": True, "suspend": False, "targetNamespace": "rocky"}


def test_a_tenant_that_adopts_takes_over_what_is_there_and_gets_the_rest() -> None:
    (adoption,) = taken_over(PLAN, by_hand("Kustomization", "web", WEB))
    (web,) = adoption.taken
    assert (adoption.tenant, str(web.id)) == ("rocky", "Kustomization rocky/web")
    assert [str(each) for each in adoption.made] == [
        str(each.id) for each in PLAN.objects if each.owner.tenant == "rocky" and each.id != web.id
    ]


def test_only_fields_that_the_plan_sets_are_compared() -> None:
    ((web,),) = (each.taken for each in taken_over(PLAN, by_hand("Kustomization", "web", WEB)))
    changes = {".".join(map(str, each.path)): (each.before, each.after) for each in web.fields}
    assert changes["spec.interval"] == ("1m", "10m")
    assert changes["spec.path"] == ("./web", "./")
    assert changes["spec.serviceAccountName"] == (ABSENT, "rocky")
    assert changes["metadata.labels"][0] is ABSENT
    assert {"spec.prune", "spec.suspend", "metadata.uid", "metadata.annotations", "status"} & set(changes) == set()


def test_nothing_is_taken_over_by_a_tenant_that_does_not_adopt_or_by_one_that_holds_all_already() -> None:
    assert taken_over(PLAN, by_hand("Kustomization", "web", WEB), adopting="movy") == []
    assert taken_over(PLAN) == []


def test_no_secret_of_the_former_owner_is_shown() -> None:
    text = rocky(
        "web: {helm: {source: charts, chart: cache, version: 1.x, values: {password: {x: 1}, plain: a}}}\n"
        "db: {kustomize: {source: manifests}}",
        "clusters: {names: [hub]}\ncredentials: {git: {keys: [username, password]}}",
    ).replace("branch: main}}}", "branch: main}}, credentials: git}")
    plan = planned(text)
    secret = next(each for each in plan.objects if each.id.kind == "Secret")
    live = [
        by_hand("HelmRelease", "web", {"values": {"password": PASSWORD, "plain": PASSWORD}}, plan),
        by_hand("GitRepository", "manifests", {"url": f"https://me:{PASSWORD}@git.example.com/rocky"}, plan),
        by_hand("Secret", secret.id.name, {}, plan, data={"password": PASSWORD}),
    ]
    (adoption,) = taken_over(plan, *live)
    assert len(adoption.taken) == 3
    told = [(each.path, each.before, each.after) for taken in adoption.taken for each in taken.fields]
    assert PASSWORD not in repr(told)
    assert (("spec", "values", "plain"), "(not shown)", "a") in told
    (of_secret,) = (taken for taken in adoption.taken if taken.id.kind == "Secret")
    assert {each.path[0] for each in of_secret.fields} == {"metadata"}, "no plan knows its values"


def test_a_release_with_a_chart_of_its_own_can_not_be_taken_over() -> None:
    live = by_hand("HelmRelease", "cache", {"chart": {"spec": {"chart": "cache"}}})
    (problem,) = doubts(live)
    assert (problem.severity, problem.code, problem.message, problem.fix) == (
        "error",
        "not-adoptable",
        "HelmRelease rocky/cache has 'spec.chart', which would remain beside the plan's 'chartRef': the API"
        " server rejects objects with both",
        "right before `tenantry up`: kubectl patch helmrelease cache --namespace rocky --type merge --patch"
        """ '{"spec": {"chart": null, "chartRef": {"kind": "HelmChart", "name": "charts-cache-764fda38"}}}';"""
        " what is installed keeps running, and the release is ready again when its chart exists",
    )
    assert doubts(by_hand("HelmRelease", "cache", {"chartRef": {"name": "a"}})) == []


def test_what_is_suspended_stays_so() -> None:
    (problem,) = doubts(by_hand("Kustomization", "web", {**WEB, "suspend": True}))
    assert (problem.severity, problem.code, problem.message, problem.fix) == (
        "warning",
        "stays-suspended",
        "Kustomization rocky/web is suspended, and stays suspended when it is taken over",
        "after `tenantry up`: flux resume kustomization web --namespace rocky",
    )
    assert doubts(by_hand("Kustomization", "web", WEB)) == []


HELD = [{"id": "rocky_web_apps_Deployment", "v": "v1"}, {"id": "rocky_data__ConfigMap", "v": "v1"}]


def test_flux_prunes_where_an_app_applies_other_manifests_and_not_where_its_source_has_another_name_alone() -> None:
    old = {"kind": "GitRepository", "name": "old"}
    planned_source = one(PLAN, "GitRepository", "manifests").manifest["spec"]

    def told(source: dict[str, Any], **spec: Any) -> list[str]:
        live = by_hand("Kustomization", "web", {**WEB, "path": "./", **spec}, status={"inventory": {"entries": HELD}})
        there = by_hand("GitRepository", "manifests", source)
        there["metadata"] = {"name": "old", "namespace": "rocky"}
        return [f"{each.code}: {each.message}" for each in doubts(live, there)]

    assert told({**planned_source, "interval": "1h"}, sourceRef=old) == []
    (problem,) = told({**planned_source, "ref": {"branch": "old"}}, sourceRef=old)
    assert problem.startswith(
        "may-prune: Kustomization rocky/web would apply other manifests (sourceRef): of the 2 objects"
    )
    same = one(PLAN, "Kustomization", "web").manifest["spec"]["sourceRef"]
    assert told(planned_source, path="./old", targetNamespace="web", sourceRef=same) == [
        "may-prune: Kustomization rocky/web would apply other manifests (path, targetNamespace): of the 2 objects that it holds,"
        " Flux deletes those that these do not have"
    ]


def applied(live: Manifest, **spec: Any) -> list[Problem]:
    """What is said of a Kustomization of others that applies a planned object, and something that is not planned."""
    entries = [{"id": "rocky_manifests_source.toolkit.fluxcd.io_GitRepository", "v": "v1"}, HELD[1]]
    metadata = {"name": "tenants", "namespace": "flux-system"}
    applier = {"metadata": metadata, "spec": spec, "status": {"inventory": {"entries": entries}}}
    memory = Memory()
    memory.objects[list_of(one(PLAN, "Kustomization", "web").id)] = {"metadata": {}, "items": [applier]}
    return list(check_appliers(memory.client(), {id_of(live): live}, {each.id for each in PLAN.objects}))


def test_what_still_applies_planned_objects_is_named_with_the_command_that_stops_it() -> None:
    live = by_hand("GitRepository", "manifests", {})
    (problem,) = applied(live)
    assert f"{problem.code}: {problem.message}" == (
        "still-applied: Kustomization flux-system/tenants applies 1 object of the plan, sets it back, and deletes it when its file"
        " is gone\n    GitRepository rocky/manifests"
    )
    assert problem.fix.endswith(
        "--namespace rocky gitrepository/manifests kustomize.toolkit.fluxcd.io/reconcile=disabled"
    )
    assert applied(live, suspend=True) == []
    annotations = {"kustomize.toolkit.fluxcd.io/reconcile": "disabled"}
    assert applied({**live, "metadata": {**live["metadata"], "annotations": annotations}}) == []
