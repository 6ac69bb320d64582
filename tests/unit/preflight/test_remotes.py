"""Whether Flux will get into a remote cluster, asked with its own kubeconfig."""

from __future__ import annotations

import socket
import time
from dataclasses import replace
from typing import Any
from unittest import mock

import httpx2
import pytest

from tenantry.cluster import connect as module
from tenantry.cluster.client import Client
from tenantry.cluster.kubeconfig import Access, of_secret
from tenantry.load import plan_one
from tenantry.messages.errors import Problem, Refused
from tenantry.preflight import remotes as checking
from tenantry.preflight.remotes import contact, remotes
from tests.table import table
from tests.unit.preflight.clusters import (
    ADDRESS,
    FLEET,
    MARKER,
    PLAN,
    REVIEWS,
    SECRET,
    SELF,
    TOKEN,
    Edge,
    hub,
    kubeconfig,
    secret,
)
from tests.unit.texts import fleet, rocky

BOOTSTRAP = "tenantry bootstrap edge --environment dev --kubeconfig FILE --context NAME"


def told(edge: Edge, content: bytes | None = None, connect: Any = None) -> list[tuple[str, str, str, str]]:
    management = hub()
    if content is not None:
        management.objects[SECRET] = secret(content)
    (remote,) = remotes(FLEET, PLAN)
    with management.client() as client, mock.patch.object(checking, "connect_remote", connect or edge.connect):
        found = contact(client, remote)
    return [as_tuple(each) for each in found]


def as_tuple(problem: Problem) -> tuple[str, str, str, str]:
    return str(problem.severity), problem.code, problem.message, problem.fix


def test_a_remote_on_which_all_is_well_is_no_news_and_is_asked_little() -> None:
    edge = Edge()
    assert told(edge) == []
    assert [each.get("resourceAttributes", {}).get("verb") for each in edge.asked] == [None]


def test_a_kubeconfig_that_may_impersonate_only_some_is_told_whom_it_may_not() -> None:
    assert told(Edge(["tenantry-platform"])) == [
        (
            "error",
            "no-impersonation",
            "its kubeconfig may not impersonate rocky of namespace 'kamaji', which Flux acts as there",
            "give its user on the cluster the verb 'impersonate' for 'serviceaccounts', or write an administrator's kubeconfig",
        )
    ]
    assert told(Edge(["tenantry-platform", "rocky"])) == []


def test_a_proxy_that_drops_impersonation_is_found_though_it_says_that_all_is_allowed() -> None:
    ((severity, code, message, fix),) = told(Edge(seen="system:serviceaccount:kube-system:proxy"))
    assert (severity, code) == ("error", "no-impersonation")
    assert message == (
        "who impersonates tenantry-platform, rocky of namespace 'kamaji' with its kubeconfig is seen as somebody"
        " else, so Flux would act with the kubeconfig's own rights for every tenant"
    )
    assert fix == "have the proxy before the cluster pass on impersonation, or write a kubeconfig that leads past it"


def test_a_cluster_that_cannot_say_as_whom_it_sees_one_is_told() -> None:
    edge = Edge()
    edge.refuse("POST", SELF, 404, "not found")
    assert [each[:2] for each in told(edge)] == [("error", "not-readable")]


def test_a_remote_that_was_not_bootstrapped_is_told() -> None:
    edge = Edge()
    edge.objects.clear()
    [missing, policies] = told(edge)
    assert missing == ("error", "not-bootstrapped", "namespace 'tenantry-system' does not exist on it", BOOTSTRAP)
    assert policies[:2] == ("warning", "no-policy")


def test_a_kubeconfig_that_reaches_another_cluster_is_an_error_and_nothing_else_is_told() -> None:
    edge = Edge(impersonated=())
    edge.objects[MARKER]["data"] = {"cluster": "west"}
    assert told(edge) == [
        (
            "error",
            "other-cluster",
            "its kubeconfig reaches another cluster, which is marked as 'west' (ConfigMap tenantry-system/tenantry)",
            "have the kubeconfig's writer write that of 'edge'; if 'west' was renamed in the file: kubectl patch configmap tenantry"
            """ --namespace tenantry-system --context NAME --type merge --patch '{"data": {"cluster": "edge"}}'""",
        )
    ]


def test_a_remote_without_a_marker_is_warned_of() -> None:
    edge = Edge()
    del edge.objects[MARKER]
    message = "it is not marked as 'edge', so a kubeconfig of another cluster in its place would not be noticed"
    assert told(edge) == [("warning", "unmarked-cluster", f"{message}", BOOTSTRAP)]


def test_a_service_account_under_the_name_that_flux_acts_as_is_told() -> None:
    edge = Edge()
    names = [{"metadata": {"name": name}} for name in ("rocky", "default")]
    edge.objects["/api/v1/namespaces/kamaji/serviceaccounts"] = {"items": names}
    assert told(edge) == [
        (
            "error",
            "same-account",
            "it has service accounts of its own in namespace 'kamaji' called rocky: Flux would act with their rights",
            "keep the cluster's kubeconfig in a namespace that does not exist on it; or, if they are new, rename the tenants",
        )
    ]


def test_a_remote_without_the_policies_is_told() -> None:
    edge = Edge()
    for path in [each for each in edge.objects if "validatingadmission" in each]:
        del edge.objects[path]
    ((severity, code, message, fix),) = told(edge)
    assert (severity, code, fix) == ("warning", "no-policy", BOOTSTRAP)
    assert message.startswith("it has no ValidatingAdmissionPolicy tenantry-baselines, ")


def test_what_the_kubeconfig_may_not_read_is_not_told() -> None:
    edge = Edge()
    for path in ("tenantry-system/configmaps/tenantry", "tenantry-system", "kamaji/serviceaccounts"):
        edge.refuse("GET", f"/api/v1/namespaces/{path}", 403, "no")
    assert told(edge) == []


FIRST, LATER = ("POST", f"{REVIEWS}selfsubjectaccessreviews"), ("GET", "/api/v1/namespaces/tenantry-system")


@table(
    ("asked", "failure", "how"),
    [
        (FIRST, httpx2.ReadTimeout("marker"), "it did not answer within 5 seconds"),
        (FIRST, httpx2.ConnectError(f"marker {ADDRESS}"), "it cannot be reached"),
        (LATER, httpx2.ReadTimeout(f"marker {ADDRESS}"), "it did not answer within 5 seconds"),
    ],
)
def test_a_remote_that_does_not_answer_is_a_warning(asked: tuple[str, str], failure: Exception, how: str) -> None:
    edge = Edge()
    edge.fail(failure, asked)
    assert told(edge) == [
        (
            "warning",
            "unreachable",
            f"{how} from here, so the rights of its kubeconfig were not checked",
            "check that it runs; if only Flux can reach it, see `tenantry status`",
        )
    ]


def test_a_remote_that_is_silent_is_waited_for_as_long_as_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    shipped = module.TIMEOUT
    monkeypatch.setattr(module, "TIMEOUT", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:  # connections are made, and nobody answers

        def connect(config: Access) -> Client:
            server = f"http://127.0.0.1:{silent.getsockname()[1]}"
            return module.connect_remote(replace(config, cluster=config.cluster.model_copy(update={"server": server})))

        begun = time.monotonic()
        found = told(Edge(), connect=connect)
    assert 0.2 <= time.monotonic() - begun < shipped
    assert [each[:2] for each in found] == [("warning", "unreachable")]


def test_a_remote_has_five_seconds_for_each_step_of_an_answer() -> None:
    with module.connect_remote(of_secret(kubeconfig())) as client:
        assert client.http.timeout == httpx2.Timeout(5.0)


def test_credentials_that_are_not_accepted_are_an_error() -> None:
    edge = Edge()
    edge.refuse("POST", f"{REVIEWS}selfsubjectaccessreviews", 401, "no")
    assert told(edge) == [
        (
            "error",
            "not-accepted",
            "it does not accept the credentials of its kubeconfig",
            "have the kubeconfig's writer renew it",
        )
    ]


def test_a_kubeconfig_that_flux_would_refuse_is_told_and_not_used() -> None:
    edge = Edge()
    assert [each[1:3] for each in told(edge, b"[]")] == [
        ("bad-kubeconfig", "the kubeconfig that Flux uses is incomplete, or is none")
    ]
    assert edge.configs == []


def test_only_what_flux_takes_of_a_kubeconfig_is_used() -> None:
    """Otherwise the writer of such a Secret could switch off verification, add a proxy, or run a command here."""
    edge = Edge()
    told(edge, kubeconfig().replace(b"token:", b"impersonate: x\n    token:"))
    (config,) = edge.configs
    assert config.user is not None
    assert (config.cluster.server, config.user.token, config.user.exec) == (ADDRESS, TOKEN, None)


def test_a_key_that_can_not_be_used_is_told() -> None:
    def refuse(_: Access) -> Client:
        raise Refused("a certificate of it is wrong")

    assert told(Edge(), connect=refuse) == [
        (
            "error",
            "not-readable",
            "a certificate of it is wrong",
            "",
        )
    ]


@table("state", ["paused", "decommissioned"])
def test_clusters_that_flux_leaves_alone_are_not_asked(state: str) -> None:
    text = rocky("web: {kustomize: {source: manifests}}", "clusters: {all: true}")
    given_up = fleet(text.replace("labels: {tier: edge},", f"labels: {{tier: edge}}, state: {state},"))
    assert remotes(given_up, plan_one(given_up, "dev")) == []


@table(("made", "codes"), [(False, ["no-configmap"]), (True, [])])
def test_a_cluster_of_workload_identity_needs_its_config_map(codes: list[str], *, made: bool) -> None:
    text = rocky("web: {kustomize: {source: manifests}}", "clusters: {all: true}")
    identity = "kubeconfig: {configMap: {name: edge, namespace: fleet}}}"
    changed = fleet(text.replace("kubeconfig: {kamaji: {controlPlane: edge, namespace: kamaji}}}", identity))
    (remote,) = remotes(changed, plan_one(changed, "dev"))
    management = hub()
    if made:
        management.objects["/api/v1/namespaces/fleet/configmaps/edge"] = {"metadata": {"name": "edge"}}
    with management.client() as client:
        found = contact(client, remote)
    assert [each.code for each in found] == codes
    if found:
        assert as_tuple(found[0])[2:] == (
            "there is no ConfigMap fleet/edge",
            "create it, with the keys of Flux's 'kubeConfig.configMapRef'",
        )


def test_no_problem_repeats_anything_of_a_kubeconfig() -> None:
    edge = Edge([])
    edge.objects.clear()
    assert len(told(edge)) == 3
    for marker in (TOKEN, ADDRESS, "edge.example.com"):
        assert marker not in repr(told(edge))
