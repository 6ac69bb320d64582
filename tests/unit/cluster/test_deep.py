"""Whether the tenants' namespaces are on the remote clusters, asked with the kubeconfigs that Flux uses."""

from __future__ import annotations

from typing import Any

import httpx2

from tenantry.cluster.deep import deep_statuses
from tests.table import table
from tests.unit.memory import Memory
from tests.unit.preflight.clusters import ADDRESS, FLEET, PLAN, SECRET, TOKEN, hub, kubeconfig, secret

NAMESPACES = "/api/v1/namespaces"


def namespace(**metadata: Any) -> dict[str, Any]:
    return {"metadata": {"name": "rocky", "labels": {"toolkit.fluxcd.io/tenant": "rocky"}, **metadata}}


def remote(*namespaces: dict[str, Any]) -> Memory:
    memory = Memory()
    memory.objects[NAMESPACES] = {"metadata": {}, "items": list(namespaces)}
    return memory


def told(edge: Memory, management: Memory | None = None) -> list[tuple[str, str, str]]:
    with (management or hub()).client() as client:
        found = deep_statuses(client, FLEET, PLAN, lambda config: edge.client(config.cluster.server))
    return [(each.full_name, str(each.readiness), each.message) for each in found]


def test_a_namespace_that_is_there_and_the_tenants_is_no_news() -> None:
    edge = remote(namespace(), {"metadata": {"name": "kube-system"}})
    assert told(edge) == []
    assert [path for _, path, _ in edge.requests] == [NAMESPACES]


@table(
    ("namespaces", "message"),
    [
        (
            [],
            "namespace 'rocky' on edge does not exist: run `flux reconcile helmrelease edge-rocky-baseline --namespace kamaji"
            " --force`, which makes it again",
        ),
        (
            [namespace(labels={"toolkit.fluxcd.io/tenant": "movy"})],
            "namespace 'rocky' on edge belongs to tenant 'movy', not to 'rocky'",
        ),
        ([namespace(labels={})], "namespace 'rocky' on edge is not marked as tenant 'rocky's"),
        ([namespace(deletionTimestamp="2026-01-01T00:00:00Z")], "namespace 'rocky' on edge is being deleted"),
    ],
)
def test_a_namespace_that_is_missing_or_foreign_fails_its_baseline(
    namespaces: list[dict[str, Any]], message: str
) -> None:
    assert told(remote(*namespaces)) == [("the baseline of rocky on edge", "failed", message)]


def unanswered(error: Exception) -> Memory:
    edge = Memory()

    def raise_it(_: httpx2.Request) -> httpx2.Response:
        raise error

    edge.refusals["GET", NAMESPACES] = raise_it
    return edge


@table(
    ("error", "reason"),
    [
        (httpx2.ConnectTimeout(ADDRESS), "it did not answer within 5 seconds"),
        (httpx2.ConnectError(ADDRESS), "it cannot be reached from here"),
    ],
)
def test_a_cluster_that_cannot_be_asked_is_not_taken_for_good(error: Exception, reason: str) -> None:
    ((_, state, message),) = told(unanswered(error))
    assert (state, message) == ("failed", f"cluster 'edge' cannot be asked: {reason}")


def test_no_message_quotes_a_kubeconfig() -> None:
    management = hub()
    for content in (kubeconfig(), b"no kubeconfig"):
        management.objects[SECRET] = secret(content)
        ((_, _, message),) = told(unanswered(httpx2.ConnectError(f"{ADDRESS} {TOKEN}")), management)
        assert message.startswith("cluster 'edge' cannot be asked: ")
        assert TOKEN not in message
        assert ADDRESS not in message
    del management.objects[SECRET]
    assert told(remote(), management)[0][2] == (
        "cluster 'edge' cannot be asked: there is no Secret kamaji/edge-admin-kubeconfig, which holds the cluster's kubeconfig"
    )
