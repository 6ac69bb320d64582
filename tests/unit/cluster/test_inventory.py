"""What the management cluster says of itself and of an environment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tenantry.cluster.inventory import held_on, strangers_on
from tenantry.guard.reading import held
from tenantry.kube.objects import ObjectId, object_id
from tenantry.load import plan_one
from tenantry.messages.errors import Refused
from tests.table import table
from tests.unit.memory import SERVER, Memory
from tests.unit.texts import fleet, rocky

FLEET = fleet(rocky("web: {kustomize: {source: manifests}}", "clusters: {all: true}"))
PLAN = plan_one(FLEET, "dev")
MARKER = "/api/v1/namespaces/tenantry-system/configmaps/tenantry"
LISTS = {
    "Namespace": "/api/v1/namespaces",
    "Kustomization": "/apis/kustomize.toolkit.fluxcd.io/v1/kustomizations",
    "HelmRelease": "/apis/helm.toolkit.fluxcd.io/v2/helmreleases",
}


def cluster(marker: Mapping[str, Any] | None) -> Memory:
    """A cluster that holds the plan; items of lists do not say their kind."""
    memory = Memory()
    for kind, path in LISTS.items():
        items = [{**each.manifest} for each in PLAN.objects if each.id.kind == kind]
        for item in items:
            del item["apiVersion"], item["kind"]
        memory.objects[path] = {"kind": f"{kind}List", "metadata": {}, "items": items}
    if marker is not None:
        memory.objects[MARKER] = {"metadata": {"name": "tenantry"}, "data": marker}
    return memory


def refusal(memory: Memory) -> str:
    with pytest.raises(Refused) as refused, memory.client() as client:
        list(held_on(client, FLEET, PLAN))
    return str(refused.value)


def test_a_cluster_that_holds_a_plan_holds_what_the_plan_says() -> None:
    memory = cluster({"cluster": "hub"})
    with memory.client() as client:
        found = held(held_on(client, FLEET, PLAN), "dev")
    assert found == held((each.manifest for each in PLAN.objects), "dev")
    asked = [(path, parameters.get("labelSelector")) for _, path, parameters in memory.requests]
    for kind in ("Kustomization", "HelmRelease"):
        selectors = [selector for path, selector in asked if path == LISTS[kind]]
        assert selectors == ["tenantry/environment=dev", "tenantry/environment!=dev"]


def test_what_other_environments_have_is_read_beside_the_kubeconfigs_of_clusters_that_are_new() -> None:
    known, new = cluster({"cluster": "hub"}), cluster({"cluster": "hub"})
    for path in ("Kustomization", "HelmRelease"):
        new.objects[LISTS[path]]["items"] = []
    theirs = {"metadata": {"name": "x", "namespace": "kamaji", "labels": {"tenantry/environment": "prod"}}}
    beside = "/apis/helm.toolkit.fluxcd.io/v2/namespaces/kamaji/helmreleases"
    for memory, found in ((known, False), (new, True)):
        memory.objects[beside] = {"metadata": {}, "items": [theirs]}
        with memory.client() as client:
            names = [each["metadata"]["name"] for each in held_on(client, FLEET, PLAN)]
        assert ("x" in names) is found
        asked = [parameters["labelSelector"] for _, path, parameters in memory.requests if path == beside]
        assert asked == ["tenantry/environment,tenantry/environment!=dev"] * found


def test_a_cluster_that_says_it_is_another_one_is_refused() -> None:
    assert refusal(cluster({"cluster": "hub-prod"})) == (
        f"cluster {SERVER} is marked as 'hub-prod', but the management cluster of environment 'dev' is 'hub'\n"
        "  fix: choose the kubeconfig and context of that cluster, or the stack of the other environment"
    )


@table("marker", [None, {}])
def test_a_cluster_that_does_not_say_what_it_is_is_refused(marker: Mapping[str, Any] | None) -> None:
    assert refusal(cluster(marker)) == (
        f"cluster {SERVER} is not marked as 'hub', the management cluster of environment 'dev'\n"
        "  fix: check the kubeconfig and its context; if they are right: tenantry bootstrap hub"
        " --kubeconfig FILE --context NAME"
    )


@table(
    ("path", "message"),
    [
        (
            MARKER,
            "cannot read ConfigMap tenantry-system/tenantry: HTTP 403\n"
            "  fix: use credentials that may read ConfigMap tenantry-system/tenantry",
        ),
        (LISTS["Namespace"], "cannot read namespaces: HTTP 403\n  fix: use credentials that may read namespaces"),
        (
            LISTS["HelmRelease"],
            "cannot read helmreleases: HTTP 403\n  fix: use credentials that may read helmreleases",
        ),
    ],
)
def test_a_cluster_that_does_not_let_us_read_is_refused(path: str, message: str) -> None:
    memory = cluster({"cluster": "hub"})
    memory.refuse("GET", path, 403, "no")
    assert refusal(memory) == message


def test_what_the_plan_would_take_over_is_asked_for_by_kind_and_only_what_stands_for_an_app_is_read_in_full() -> None:
    memory = cluster({"cluster": "hub"})
    theirs = {"metadata": {"name": "rocky", "namespace": "rocky"}, "kind": "PartialObjectMetadata"}
    others = {"metadata": {"name": "other", "namespace": "rocky"}}
    memory.objects["/api/v1/serviceaccounts"] = {"metadata": {}, "items": [theirs, others]}
    with memory.client() as client:
        found = list(strangers_on(client, PLAN))
    account = ObjectId("v1", "ServiceAccount", "rocky", "rocky")
    assert account in map(object_id, found)
    assert "other" not in {each["metadata"]["name"] for each in found}
    lists = [(path, parameters) for _, path, parameters in memory.requests if parameters]
    read = {path.rpartition("/")[0].rpartition("/")[2] for _, path, parameters in memory.requests if not parameters}
    assert read == {"kustomizations", "helmreleases"}
    asked = {path: parameters["labelSelector"] for path, parameters in lists}
    assert set(asked.values()) == {"tenantry/environment!=dev"}
    assert {"/api/v1/serviceaccounts", "/apis/source.toolkit.fluxcd.io/v1/gitrepositories"} <= set(asked)
    assert "/api/v1/namespaces" not in asked


def test_a_cluster_that_does_not_let_us_look_for_others_objects_is_refused() -> None:
    memory = cluster({"cluster": "hub"})
    memory.refuse("GET", "/api/v1/serviceaccounts", 403, "no")
    assert (
        refusal(memory) == "cannot read serviceaccounts: HTTP 403\n  fix: use credentials that may read serviceaccounts"
    )
