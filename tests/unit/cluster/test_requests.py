"""Plain requests to an API server."""

from __future__ import annotations

import httpx2
import pytest

from tenantry.cluster.requests import ask, every, in_parallel, one, path_of, plural
from tenantry.kube.objects import ObjectId
from tenantry.messages.errors import Refused
from tests.table import table
from tests.unit.memory import Memory

ACCOUNTS = "/api/v1/serviceaccounts"
ACCOUNT = ObjectId("v1", "ServiceAccount", "rocky", "rocky")


@table(
    ("kind", "expected"),
    [
        ("NetworkPolicy", "networkpolicies"),
        ("ResourceQuota", "resourcequotas"),
        ("GitRepository", "gitrepositories"),
        ("Bucket", "buckets"),
        ("Namespace", "namespaces"),
    ],
)
def test_a_kind_is_known_by_its_plural(kind: str, expected: str) -> None:
    assert plural(kind) == expected


def test_an_object_lies_at_its_path() -> None:
    assert path_of(ACCOUNT) == "/api/v1/namespaces/rocky/serviceaccounts/rocky"
    release = ObjectId("helm.toolkit.fluxcd.io/v2", "HelmRelease", "rocky", "web")
    assert path_of(release) == "/apis/helm.toolkit.fluxcd.io/v2/namespaces/rocky/helmreleases/web"
    assert path_of(ObjectId("v1", "Namespace", "", "rocky")) == "/api/v1/namespaces/rocky"


def test_what_is_not_there_is_none() -> None:
    memory = Memory()
    memory.objects[path_of(ACCOUNT)] = {"metadata": {"name": "rocky"}}
    with memory.client() as client:
        assert one(client, ACCOUNT) == {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "rocky"}}
        assert one(client, ACCOUNT._replace(name="movy")) is None
        assert list(every(client, "v1", "ServiceAccount")) == []


def test_a_long_list_comes_in_pages() -> None:
    memory = Memory()
    pages = {
        None: {"metadata": {"continue": "2"}, "items": [{"metadata": {"name": "a"}}]},
        "2": {"metadata": {}, "items": [{"metadata": {"name": "b"}}]},
    }
    accepted = set()

    def answer(request: httpx2.Request) -> httpx2.Response:
        accepted.add(request.headers["accept"])
        return httpx2.Response(200, json=pages[request.url.params.get("continue")])

    memory.refusals["GET", ACCOUNTS] = answer
    with memory.client() as client:
        found = list(every(client, "v1", "ServiceAccount", selector="a!=b", metadata_only=True))
    assert [each["metadata"]["name"] for each in found] == ["a", "b"]
    assert {each["kind"] for each in found} == {"ServiceAccount"}
    assert accepted == {"application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"}
    assert [parameters["labelSelector"] for _, _, parameters in memory.requests] == ["a!=b"] * 2


def refusal(memory: Memory) -> str:
    with pytest.raises(Refused) as refused, memory.client() as client:
        list(every(client, "v1", "ServiceAccount"))
    return str(refused.value)


def test_what_may_not_be_read_is_refused() -> None:
    memory = Memory()
    memory.refuse("GET", ACCOUNTS, 403, "marker")
    assert (
        refusal(memory) == "cannot read serviceaccounts: HTTP 403\n  fix: use credentials that may read serviceaccounts"
    )


def test_a_server_that_is_no_api_server_is_refused_without_its_words() -> None:
    memory = Memory()
    memory.refusals["GET", ACCOUNTS] = lambda _: httpx2.Response(200, text="<html>marker")
    assert refusal(memory) == (
        "cannot read serviceaccounts: the answer is not JSON\n  fix: check that the server is an API server"
    )


def test_a_kind_that_is_not_known_is_refused_where_it_has_to_be() -> None:
    unknown = Refused("the cluster does not serve ServiceAccount", "install it")
    with Memory().client() as client:
        assert list(every(client, "v1", "ServiceAccount")) == []
        with pytest.raises(Refused, match="does not serve ServiceAccount"):
            list(every(client, "v1", "ServiceAccount", unknown=unknown))


def test_one_namespace_is_asked_for_alone() -> None:
    memory = Memory()
    memory.objects["/api/v1/namespaces/rocky/serviceaccounts"] = {
        "metadata": {},
        "items": [{"metadata": {"name": "a"}}],
    }
    with memory.client() as client:
        assert [each["metadata"]["name"] for each in every(client, "v1", "ServiceAccount", namespace="rocky")] == ["a"]


def test_a_question_that_the_cluster_does_not_know_is_refused() -> None:
    memory = Memory()
    with memory.client() as client, pytest.raises(Refused) as refused:
        ask(client, "authorization.k8s.io/v1", "SelfSubjectAccessReview", {"spec": {}})
    assert str(refused.value) == (
        "the cluster does not serve SelfSubjectAccessReview\n  fix: use a cluster of a version that Flux supports"
    )


def test_results_come_in_the_order_of_the_items() -> None:
    assert in_parallel(lambda number: number * 2, range(100)) == list(range(0, 200, 2))
    assert in_parallel(str, ()) == []


def test_a_server_that_asks_for_patience_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    memory, answers, pauses = Memory(), [429, 503, 500, 504, 200], list[float]()
    monkeypatch.setattr("tenantry.cluster.requests.time.sleep", pauses.append)
    memory.refusals["GET", ACCOUNTS] = lambda _: httpx2.Response(answers.pop(0), json={"items": []})
    with memory.client() as client:
        assert list(every(client, "v1", "ServiceAccount")) == []
    assert pauses == [0.5, 1.0, 2.0, 4.0]


def test_patience_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    memory, pauses = Memory(), list[float]()
    monkeypatch.setattr("tenantry.cluster.requests.time.sleep", pauses.append)
    memory.refuse("GET", ACCOUNTS, 429, "storage is (re)initializing")
    with pytest.raises(Refused, match="cannot read serviceaccounts: HTTP 429"), memory.client() as client:
        list(every(client, "v1", "ServiceAccount"))
    assert sum(pauses) == 15.5


def test_the_cluster_says_how_a_kind_of_neither_kubernetes_nor_flux_is_called_in_paths() -> None:
    memory = Memory()
    memory.objects["/apis/example.com/v1"] = {
        "resources": [
            {"name": "mice/status", "kind": "Mouse", "namespaced": True},
            {"name": "mice", "kind": "Mouse", "namespaced": True},
        ]
    }
    memory.objects["/apis/example.com/v1/namespaces/rocky/mice/jerry"] = {"metadata": {"name": "jerry"}}
    memory.objects["/apis/example.com/v1/mice"] = {"items": [{"metadata": {"name": "jerry", "namespace": "rocky"}}]}
    with memory.client() as client:
        assert one(client, ObjectId("example.com/v1", "Mouse", "rocky", "jerry")) is not None
        assert [each["metadata"]["name"] for each in every(client, "example.com/v1", "Mouse")] == ["jerry"]
    assert [path for _, path, _ in memory.requests].count("/apis/example.com/v1") == 1


@table(
    "name",
    [
        "../../kube-system/secrets/a",
        "..",
        "web/status",
        "web?watch=true",
        "web#x",
        "web%2fstatus",
        "\x1b[2Jweb",
        "a" * 254,
    ],
)
def test_what_no_object_can_be_called_is_not_asked_for(name: str) -> None:
    """Flux's inventory, in which a tenant may be able to write, can name it."""
    memory = Memory()
    with memory.client() as client:
        assert one(client, ACCOUNT._replace(name=name)) is None
        assert one(client, ACCOUNT._replace(namespace=name)) is None
        assert one(client, ACCOUNT._replace(kind=name)) is None
        assert one(client, ACCOUNT._replace(api_version=f"example.com/{name}")) is None
        assert list(every(client, "v1", "ServiceAccount", namespace=name)) == []
    assert memory.requests == []
