"""A cluster's client sends requests of one's own as lightkube sends its own."""

from __future__ import annotations

import httpx2
import pytest
from lightkube.config.kubeconfig import Cluster, Context, SingleConfig, User
from lightkube.resources.core_v1 import Namespace

from tenantry.cluster.client import Client

SERVER = "https://hub.example.com"
TIMEOUT = httpx2.Timeout(3.0)


def config(user: User) -> SingleConfig:
    return SingleConfig("hub", Context(cluster="hub", user="admin"), Cluster(server=SERVER), user)


def sent(user: User) -> list[httpx2.Request]:
    """A request of lightkube's and one of our own for the same object."""
    requests: list[httpx2.Request] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        requests.append(request)
        return httpx2.Response(200, json={"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "rocky"}})

    with Client(config(user), TIMEOUT, httpx2.MockTransport(answer)) as client:
        client.get(Namespace, "rocky")
        client.http.get("/api/v1/namespaces/rocky")
    return requests


@pytest.mark.parametrize(
    ("user", "authorization"),
    [
        (User(token="token"), "Bearer token"),
        (User(username="admin", password="password"), "Basic YWRtaW46cGFzc3dvcmQ="),
    ],
)
def test_both_go_to_the_server_with_the_credentials_and_the_timeout_of_the_client(
    user: User, authorization: str
) -> None:
    assert [
        (str(each.url), each.headers["authorization"], each.extensions["timeout"]["read"]) for each in sent(user)
    ] == [(f"{SERVER}/api/v1/namespaces/rocky", authorization, 3.0)] * 2


def test_a_closed_client_keeps_no_connection() -> None:
    client = Client(config(User(token="token")), transport=httpx2.MockTransport(lambda _: httpx2.Response(200)))
    assert not client.http.is_closed
    client.close()
    assert client.http.is_closed
