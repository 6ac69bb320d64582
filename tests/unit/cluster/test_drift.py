from __future__ import annotations

from typing import Any

import httpx2

from tenantry.cluster.drift import asked, compare, compare_again, compared, confirmed, take_off_added
from tenantry.kube.objects import KubeObject, ObjectId, Owner
from tenantry.rollout.change import Difference
from tests.table import table
from tests.unit.memory import Memory
from tests.unit.texts import planned, rocky

APP = "web: {kustomize: {source: manifests, path: ./web}}"
PLAN = planned(rocky(APP, "clusters: {names: [hub]}\nquota: {cpu: '2'}"))
WEB = ObjectId("kustomize.toolkit.fluxcd.io/v1", "Kustomization", "rocky", "web")
LISTS = {
    "Namespace": "/api/v1/namespaces",
    "Kustomization": "/apis/kustomize.toolkit.fluxcd.io/v1/kustomizations",
    "ResourceQuota": "/api/v1/resourcequotas",
}
PATCHED = {"manager": "kubectl-patch", "time": "2026-01-31T12:00:00Z", "fieldsV1": {"f:spec": {"f:path": {}}}}
OURS = {"manager": "tenantry", "time": "2026-02-01T12:00:00Z", "fieldsV1": {"f:spec": {"f:path": {}, "f:prune": {}}}}


def object_of(id: ObjectId) -> KubeObject:
    return next(each for each in PLAN.objects if each.id == id)


def live(id: ObjectId, *managers: dict[str, Any], **spec: Any) -> dict[str, Any]:
    """A planned object as the cluster would have it, with other values in its spec."""
    manifest = object_of(id).manifest
    return {
        **manifest,
        "metadata": {**manifest["metadata"], "uid": "1", "managedFields": list(managers)},
        "spec": {**manifest["spec"], **spec},
    }


def holding(*changed: dict[str, Any]) -> Memory:
    """A cluster with all objects of the plan, some of them changed."""
    memory = Memory()
    there = {str(each.id): dict(each.manifest) for each in PLAN.objects}
    there |= {f"{each['kind']} {each['metadata']['namespace']}/{each['metadata']['name']}": each for each in changed}
    for each in PLAN.objects:
        path = LISTS.get(each.id.kind) or _path(each.id)
        found = memory.objects.setdefault(path, {"metadata": {}, "items": []})
        found["items"].append(there[str(each.id)])
    return memory


def _path(id: ObjectId) -> str:
    from tenantry.cluster.requests import plural

    root = f"/apis/{id.api_version}" if "/" in id.api_version else f"/api/{id.api_version}"
    return f"{root}/{plural(id.kind)}"


def found(memory: Memory) -> list[Difference]:
    return compare(memory.client(), "dev", PLAN.objects).differences


def test_a_cluster_as_planned_has_no_difference() -> None:
    assert found(holding()) == []


def test_another_value_is_told_with_its_author() -> None:
    (difference,) = found(holding(live(WEB, OURS, PATCHED, path="./other")))
    assert (difference.id, difference.changed, difference.added) == (WEB, (("spec", "path"),), ())
    assert str(difference) == "Kustomization rocky/web: spec.path, by kubectl-patch at 2026-01-31T12:00:00Z"


def test_what_pulumi_alone_has_written_has_no_author() -> None:
    (difference,) = found(holding(live(WEB, OURS, path="./other")))
    assert str(difference) == "Kustomization rocky/web: spec.path"


def test_an_object_that_is_not_there_is_missing() -> None:
    memory = holding()
    memory.objects[LISTS["Kustomization"]]["items"] = []
    (difference,) = found(memory)
    assert str(difference) == "Kustomization rocky/web: missing"


def test_what_is_being_deleted_is_still_there() -> None:
    going = live(WEB)
    going["metadata"] = {**going["metadata"], "deletionTimestamp": "2026-01-31T12:00:00Z"}
    assert found(holding(going)) == []


def test_what_the_plan_does_not_have_is_unplanned() -> None:
    memory = holding()
    stranger = {
        "apiVersion": WEB.api_version,
        "kind": "Kustomization",
        "metadata": {"name": "old", "namespace": "rocky"},
    }
    memory.objects[LISTS["Kustomization"]]["items"].append(stranger)
    assert compare(memory.client(), "dev", PLAN.objects).unplanned == [stranger]


def test_a_field_that_somebody_added_counts_and_a_default_does_not() -> None:
    added = {"manager": "kubectl-edit", "time": "2026-01-31T12:00:00Z", "fieldsV1": {"f:spec": {"f:force": {}}}}
    assert found(holding(live(WEB, OURS, force=False))) == []
    (difference,) = found(holding(live(WEB, OURS, added, force=True)))
    assert (difference.changed, difference.added) == ((), (("spec", "force"),))


def test_a_field_that_the_plan_has_dropped_is_a_change_that_the_engine_makes() -> None:
    ours = {"manager": "tenantry", "fieldsV1": {"f:spec": {"f:force": {}}}}
    [dropped] = found(holding(live(WEB, ours, force=True)))
    assert (dropped.changed, dropped.added, dropped.dropped) == ((), (), (("spec", "force"),))


def test_what_somebody_has_suspended_is_as_planned() -> None:
    by_hand = {"manager": "tenantry-cli", "fieldsV1": {"f:spec": {"f:suspend": {}}}}
    assert found(holding(live(WEB, OURS, by_hand, suspend=True))) == []


@table(
    ("wanted", "there", "changed", "extra"),
    [
        ({"hard": {"cpu": "2000m"}}, {"hard": {"cpu": "2"}}, [], []),
        ({"hard": {"cpu": "2"}}, {"hard": {"cpu": "2", "pods": "1"}}, [], [("spec", "hard", "pods")]),
        ({"hard": {"cpu": "2"}}, {"hard": {"cpu": "3"}}, [("spec", "hard", "cpu")], []),
    ],
)
def test_quantities_of_a_quota_are_numbers(wanted: Any, there: Any, changed: Any, extra: Any) -> None:
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {}}
    assert compared({**quota, "spec": wanted}, {**quota, "spec": there}) == (changed, extra)


def test_a_version_is_no_number() -> None:
    chart = {"apiVersion": "source.toolkit.fluxcd.io/v1", "kind": "HelmChart", "metadata": {}}
    told = compared({**chart, "spec": {"version": "1.1"}}, {**chart, "spec": {"version": "1.10"}})
    assert told == ([("spec", "version")], [])


def test_a_peer_that_became_wider_within_a_list_counts() -> None:
    policy = {"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": {}}
    wanted = {"ingress": [{"from": [{"podSelector": {}}]}]}
    there = {"ingress": [{"from": [{"podSelector": {}, "namespaceSelector": {"matchLabels": {"a": "b"}}}]}]}
    assert compared({**policy, "spec": wanted}, {**policy, "spec": there}) == ([("spec", "ingress")], [])


def test_labels_and_annotations_of_others_are_no_difference() -> None:
    space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"labels": {"a": "b"}}}
    there = {**space, "metadata": {"labels": {"a": "c", "rancher": "x"}, "annotations": {"x": "y"}}}
    assert compared(space, there) == ([("metadata", "labels", "a")], [])


def test_values_of_a_secret_count_where_they_were_read() -> None:
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {}, "type": "Opaque", "data": {"a": "MQ=="}}
    assert compared(secret, {"metadata": {}}) == ([], [])
    assert compared(secret, {**secret, "data": {"a": "Mg=="}}) == ([("data", "a")], [])


# --- what the server says --------------------------------------------------------------------------------------------


def difference(**spec: Any) -> Difference:
    manager = {"manager": "kubectl-edit", "fieldsV1": {"f:spec": {f"f:{key}": {} for key in spec}}}
    changed, extra = compared(object_of(WEB).manifest, there := live(WEB, OURS, manager, **spec))
    return Difference(object_of(WEB), there, tuple(changed), tuple(extra))


def answering(path: str, manifest: dict[str, Any]) -> Memory:
    """A cluster whose admission makes every change of an object into this one."""
    memory = Memory()
    memory.refusals["PATCH", path] = lambda _: httpx2.Response(200, json=manifest)
    return memory


AT = "/apis/kustomize.toolkit.fluxcd.io/v1/namespaces/rocky/kustomizations/web"


def test_what_an_apply_would_not_change_is_no_difference() -> None:
    mutated = difference(path="./web/mutated")
    assert mutated.live
    assert confirmed(answering(AT, dict(mutated.live)).client(), [mutated]) == []
    assert confirmed(answering(AT, live(WEB)).client(), [mutated]) == [mutated]


def test_a_field_that_admission_writes_again_is_no_difference() -> None:
    forced = difference(force=True)
    assert confirmed(answering(AT, live(WEB, force=True)).client(), [forced]) == []
    assert confirmed(answering(AT, live(WEB, force=False)).client(), [forced]) == [forced]


def test_what_the_server_refuses_to_try_stays_a_difference() -> None:
    memory = Memory()
    memory.refuse("PATCH", AT, 403, "no")
    assert confirmed(memory.client(), [difference(path="./other")]) == [difference(path="./other")]


def test_a_secret_of_another_type_is_made_anew_so_nobody_asks_whether_a_patch_may_change_it() -> None:
    memory, manifest = (
        Memory(),
        {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "pull", "namespace": "rocky"}},
    )
    secret = KubeObject({**manifest, "type": "Opaque"}, Owner("rocky"))
    other = {**manifest, "type": "kubernetes.io/dockerconfigjson"}
    answer = asked(memory.client(), [replaced := Difference(secret, other, changed=(("type",), ("data", "a")))])
    assert answer == ([replaced], {})
    assert memory.requests == []


def test_added_fields_are_taken_off() -> None:
    memory = Memory()
    memory.objects[AT] = live(WEB, force=True)
    take_off_added(memory.client(), [difference(force=True)])
    assert memory.objects[AT]["spec"]["force"] is None
    assert [parameters for _, _, parameters in memory.requests] == [{"fieldManager": "tenantry"}]


def test_a_plan_of_nothing_reads_every_kind_that_a_fleet_can_have() -> None:
    memory = Memory()
    assert compare(memory.client(), "dev", ()).differences == []
    assert {"/api/v1/secrets", "/apis/helm.toolkit.fluxcd.io/v2/helmreleases"} <= {
        path for _, path, _ in memory.requests
    }


def test_an_owner_is_no_part_of_the_comparison() -> None:
    moved = KubeObject(object_of(WEB).manifest, Owner("other"))
    assert compare(holding().client(), "dev", [moved], others=False).differences == []


@table("given_up", [True, False])
def test_what_is_gone_at_the_end_counts_unless_it_was_given_up(*, given_up: bool) -> None:
    planned = object_of(WEB)
    labels = {**planned.manifest["metadata"]["labels"], **({"tenantry/state": "decommissioned"} if given_up else {})}
    manifest = {**planned.manifest, "metadata": {**planned.manifest["metadata"], "labels": labels}}
    left = compare_again(Memory().client(), "dev", [Difference(KubeObject(manifest, planned.owner), manifest)])
    assert [str(each) for each in left] == ([] if given_up else ["Kustomization rocky/web: missing"])
