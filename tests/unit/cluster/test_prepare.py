"""All clusters of an environment are prepared at once, against API servers in memory."""

from __future__ import annotations

import json

import httpx2
import pytest
from lightkube.config.kubeconfig import SingleConfig

from tenantry.cluster.apply_bootstrap import Outcome
from tenantry.cluster.client import Client
from tenantry.cluster.prepare import Prepared, prepare, to_prepare
from tenantry.load import plan_one
from tenantry.messages.errors import RefusedChange, TenantryError
from tests.unit.memory import ADMISSION, Memory
from tests.unit.preflight.clusters import MARKER, kubeconfig, secret
from tests.unit.texts import FRAME, fleet

REMOTE = "  {0}: {{environments: [dev], kubeconfig: {{kamaji: {{controlPlane: {0}, namespace: kamaji}}}}{1}}}\n"
FLEET = fleet(
    FRAME.replace(
        "platform:",
        REMOTE.format("west", "") + REMOTE.format("shut", ", state: paused") + "platform:",
    )
)
PLAN = plan_one(FLEET, "dev")
REVIEW = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
BINDING = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/tenantry-platform-kamaji"
PLATFORM = "system:serviceaccount:kamaji:tenantry-platform"


class Remote(Memory):
    """A remote cluster. administrators: who has all rights there; "": the user of the kubeconfig."""

    def __init__(self, uid: str, administrators: tuple[str, ...] = ("",)) -> None:
        super().__init__()
        self.objects["/api/v1/namespaces/kube-system"] = {"metadata": {"name": "kube-system", "uid": uid}}
        self.administrators = administrators
        self.users: list[str] = []
        self.refusals["POST", REVIEW] = self._review

    def _review(self, request: httpx2.Request) -> httpx2.Response:
        assert json.loads(request.content)["spec"]["resourceAttributes"]["verb"] == "*"
        user = request.headers.get("Impersonate-User", "")
        return httpx2.Response(201, json={"status": {"allowed": user in self.administrators}})

    def _answer(self, request: httpx2.Request) -> httpx2.Response:
        if request.method == "PATCH":
            self.users.append(request.headers.get("Impersonate-User", ""))
        return super()._answer(request)


class Clusters:
    """A management cluster and the remote clusters `edge` and `west`."""

    def __init__(self) -> None:
        self.hub = Memory()
        self.hub.objects[MARKER] = {"metadata": {"name": "tenantry"}, "data": {"cluster": "hub"}}
        self.hub.objects["/api/v1/namespaces/kube-system"] = {"metadata": {"name": "kube-system", "uid": "hub"}}
        self.remotes = {name: Remote(name) for name in ("edge", "west")}
        for name in self.remotes:
            path = f"/api/v1/namespaces/kamaji/secrets/{name}-admin-kubeconfig"
            self.hub.objects[path] = secret(kubeconfig(server=f"https://{name}.example.com"))

    def connect(self, config: SingleConfig) -> Client:
        return self.remotes[config.cluster.server.split("/")[2].split(".")[0]].client(config.cluster.server)

    def prepared(self, *, dry_run: bool = False) -> dict[str, Prepared]:
        names, _ = to_prepare(FLEET, "dev")
        with self.hub.client() as client:
            found = prepare(client, FLEET, PLAN, names, dry_run=dry_run, connect=self.connect)
        return {each.cluster: each for each in found}


@pytest.fixture
def clusters() -> Clusters:
    return Clusters()


def said(prepared: Prepared) -> tuple[str, str]:
    assert prepared.failure is not None
    return prepared.failure.message, prepared.failure.fix


def test_the_management_clusters_come_first_and_idle_clusters_are_left_out() -> None:
    assert to_prepare(FLEET, "dev") == (["hub", "edge", "west"], {"shut": "paused"})


def test_every_cluster_gets_what_it_lacks_and_the_second_time_nothing(clusters: Clusters) -> None:
    first = clusters.prepared()
    assert [*first] == ["hub", "edge", "west"]
    assert {Outcome.CREATED: 11} == first["edge"].outcomes
    assert [each.failure for each in first.values()] == [None] * 3
    assert clusters.remotes["west"].objects[MARKER]["data"] == {"cluster": "west"}
    again = clusters.prepared()
    assert [[*each.outcomes] for each in again.values()] == [[Outcome.UNCHANGED]] * 3


def test_what_a_newer_version_wants_otherwise_is_changed(clusters: Clusters) -> None:
    clusters.prepared()
    clusters.remotes["edge"].objects[f"{ADMISSION}/validatingadmissionpolicies/tenantry-labels"]["spec"] = {}
    again = clusters.prepared()
    assert {Outcome.CHANGED: 1, Outcome.UNCHANGED: 10} == again["edge"].outcomes


def test_a_dry_run_changes_no_cluster(clusters: Clusters) -> None:
    assert {Outcome.CREATED: 11} == clusters.prepared(dry_run=True)["edge"].outcomes
    assert BINDING not in clusters.remotes["edge"].objects


def test_one_that_fails_does_not_stop_the_others(clusters: Clusters) -> None:
    def silent(request: httpx2.Request) -> httpx2.Response:
        raise httpx2.ConnectError("[Errno 111] refused by 10.1.2.3", request=request)

    clusters.remotes["edge"].refusals["POST", REVIEW] = silent
    found = clusters.prepared()
    assert said(found["edge"])[0] == "it refuses the connection"
    assert (found["west"].failure, found["hub"].failure) == (None, None)


def test_a_cluster_below_1_30_is_left_without_any_change(clusters: Clusters) -> None:
    old = clusters.remotes["edge"]
    old.objects |= {ADMISSION: {"resources": []}, "/version": {"gitVersion": "v1.29.14"}}
    found = clusters.prepared()
    assert "its Kubernetes is v1.29.14" in said(found["edge"])[0]
    assert said(found["edge"])[1] == "upgrade the cluster to Kubernetes 1.30 or later, then run the command again"
    assert (old.users, found["west"].failure) == ([], None)


def test_without_an_administrator_s_kubeconfig_the_platform_s_account_changes_the_cluster(clusters: Clusters) -> None:
    clusters.remotes["edge"] = Remote("edge", (PLATFORM,))
    assert clusters.prepared()["edge"].failure is None
    assert {*clusters.remotes["edge"].users} == {PLATFORM}
    clusters.remotes["edge"] = Remote("edge", ())
    assert said(clusters.prepared()["edge"]) == (
        "its kubeconfig is not that of an administrator, and it was not prepared before",
        "tenantry cluster bootstrap edge --environment dev --kubeconfig FILE --context NAME",
    )


def test_credentials_that_a_cluster_does_not_accept_are_told(clusters: Clusters) -> None:
    clusters.remotes["edge"].refuse("POST", REVIEW, 401, "Unauthorized")
    assert said(clusters.prepared()["edge"]) == (
        "it does not accept the credentials of its kubeconfig",
        "have the kubeconfig's writer renew it",
    )


def test_two_kubeconfigs_of_one_cluster_prepare_nothing(clusters: Clusters) -> None:
    clusters.remotes["west"] = Remote("edge")
    found = clusters.prepared()
    assert said(found["edge"])[0] == "it is the same cluster as 'west': one of the kubeconfigs is another's"
    assert said(found["west"])[0] == "it is the same cluster as 'edge': one of the kubeconfigs is another's"
    assert (clusters.remotes["edge"].users, clusters.remotes["west"].users) == ([], [])


def test_a_cluster_without_a_kubeconfig_is_told(clusters: Clusters) -> None:
    del clusters.hub.objects["/api/v1/namespaces/kamaji/secrets/edge-admin-kubeconfig"]
    assert said(clusters.prepared()["edge"])[0].startswith("there is no Secret kamaji/edge-admin-kubeconfig")


def test_a_management_cluster_without_its_marker_is_not_touched(clusters: Clusters) -> None:
    del clusters.hub.objects[MARKER]
    with pytest.raises(TenantryError) as refused:
        clusters.prepared()
    assert isinstance(refused.value, RefusedChange)
    assert "is not marked as 'hub'" in refused.value.message
    assert [method for method, _, _ in clusters.hub.requests] == ["GET"]
