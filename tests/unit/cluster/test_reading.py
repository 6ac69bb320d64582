"""How objects of an environment are read: one by one, or as lists."""

from __future__ import annotations

import json

import httpx2
import pytest

from tenantry.cluster.reading import SECRET, check_deletable, not_read, of_environment, read_objects
from tenantry.kube.objects import ObjectId
from tenantry.messages.errors import Refused
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


TOKEN = ObjectId("v1", "Secret", "rocky", "token")
LIST, ITEM = "/api/v1/secrets", "/api/v1/namespaces/rocky/secrets/token"


def with_secret(**labels: str) -> Memory:
    """A cluster that lets nobody list Secrets."""
    memory = Memory()
    memory.refuse("GET", LIST, 403, "no")
    memory.objects[ITEM] = {"metadata": {"name": "token", "namespace": "rocky", "labels": labels}}
    return memory


def test_secrets_that_may_not_be_listed_are_read_by_their_names() -> None:
    memory = with_secret(**{"tenantry/environment": "dev"})
    other = TOKEN._replace(name="other")
    for labelled in (True, False):
        found = of_environment(memory.client(), "dev", SECRET, [TOKEN, other], labelled=labelled, metadata_only=True)
        assert [each["metadata"]["name"] for each in found] == (["token"] if labelled else [])


def test_a_secret_that_may_not_be_read_ends_a_run_and_is_noted_by_a_command_that_says_so() -> None:
    memory = with_secret()
    memory.refuse("GET", ITEM, 403, "no")
    with pytest.raises(Refused, match="HTTP 403"):
        of_environment(memory.client(), "dev", SECRET, [TOKEN], labelled=True, metadata_only=True)
    client = memory.client()
    client.unread = set()
    assert of_environment(client, "dev", SECRET, [TOKEN], labelled=True, metadata_only=True) == []
    assert read_objects(client, "dev", [TOKEN]) == {}
    assert client.unread == {TOKEN}
    assert not_read(client).startswith("Secret rocky/token may not be read with these credentials")


def test_other_kinds_that_may_not_be_listed_end_the_command() -> None:
    memory = Memory()
    memory.refuse("GET", "/api/v1/configmaps", 403, "no")
    client = memory.client()
    client.unread = set()
    with pytest.raises(Refused, match="cannot read configmaps"):
        of_environment(client, "dev", ("v1", "ConfigMap"), [CONFIG], labelled=True, metadata_only=True)


REVIEW = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
LISTED = {
    "all": ({"list", "watch"}, ""),
    "not watched": (
        {"list"},
        "this would delete Secret movy/git, and these credentials may not list the Secrets of namespace 'movy'",
    ),
    "none": (
        set(),
        "this would delete Secret movy/git, and these credentials may not list the Secrets of namespace 'movy'",
    ),
}


@pytest.mark.parametrize(("verbs", "refusal"), LISTED.values(), ids=LISTED)
def test_secrets_are_deleted_only_where_pulumi_may_list_them(verbs: set[str], refusal: str) -> None:
    def answer(request: httpx2.Request) -> httpx2.Response:
        asked = json.loads(request.content)["spec"]["resourceAttributes"]
        assert (asked["resource"], asked["namespace"]) == ("secrets", "movy")
        return httpx2.Response(201, json={"status": {"allowed": asked["verb"] in verbs}})

    memory = Memory()
    memory.refusals["POST", REVIEW] = answer
    said = ""
    try:
        check_deletable(memory.client(), "dev", [ObjectId("v1", "Secret", "movy", "git")])
    except Refused as refused:
        said = str(refused)
    assert said.startswith(refusal)
    assert bool(said) == bool(refusal)
    assert not refusal or "tenantry bootstrap --environment dev --roles deploy --for WHO --secrets" in said
