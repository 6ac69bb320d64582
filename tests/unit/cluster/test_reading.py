"""How objects of an environment are read: one by one, or as lists."""

from __future__ import annotations

from tenantry.cluster.reading import read_objects
from tenantry.kube.objects import ObjectId
from tests.unit.memory import Memory

FLUX = "/apis/kustomize.toolkit.fluxcd.io/v1"
CONFIG = ObjectId("v1", "ConfigMap", "remotes", "settings")


def apps(count: int) -> list[ObjectId]:
    return [
        ObjectId("kustomize.toolkit.fluxcd.io/v1", "Kustomization", "remotes", f"web-{each}") for each in range(count)
    ]


def there(ids: list[ObjectId]) -> Memory:
    memory = Memory()
    found = [{"metadata": {"name": each.name, "namespace": each.namespace}} for each in ids]
    memory.objects[f"{FLUX}/kustomizations"] = {"metadata": {}, "items": found}
    for each in found:
        memory.objects[f"{FLUX}/namespaces/remotes/kustomizations/{each['metadata']['name']}"] = each
    return memory


def test_a_few_objects_are_read_one_by_one_and_those_that_are_missing_are_left_out() -> None:
    memory = there(apps(1))
    memory.objects["/api/v1/namespaces/remotes/configmaps/settings"] = {
        "metadata": {"name": "settings", "namespace": "remotes"}
    }
    assert {*read_objects(memory.client(), "dev", [*apps(2), CONFIG])} == {*apps(1), CONFIG}
    assert sorted(path.rpartition("/")[2] for _, path, _ in memory.requests) == ["settings", "web-0", "web-1"]


def test_many_objects_are_read_in_one_list() -> None:
    memory = there(apps(50))
    assert [*read_objects(memory.client(), "dev", apps(40))] == apps(40)
    assert [(path, found["labelSelector"]) for _, path, found in memory.requests] == [
        (f"{FLUX}/kustomizations", "tenantry/environment=dev")
    ]
