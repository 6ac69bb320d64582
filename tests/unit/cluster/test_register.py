"""A cluster is registered, and its token renewed, against API servers in memory."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime
from typing import Any

import httpx2
import pytest
import yaml
from lightkube.config.kubeconfig import Cluster, Context, SingleConfig, User

from tenantry.cluster.client import Client
from tenantry.cluster.register import (
    Address,
    Registrar,
    Registration,
    Renewer,
    address_of,
    registered,
)
from tenantry.messages.errors import Refused
from tenantry.model import SecretKey
from tenantry.plan.bootstrap import bootstrap
from tenantry.plan.objects.scope import ROLE_LABEL
from tests.unit.memory import Memory
from tests.unit.texts import FRAME, fleet

AT = SecretKey(name="edge-kubeconfig", namespace="clusters", key="value")
SECRET = "/api/v1/namespaces/clusters/secrets/edge-kubeconfig"
TOKENS = "/api/v1/namespaces/tenantry-system/serviceaccounts/tenantry-connection/token"
SELF = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
REVIEW = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
USER = "system:serviceaccount:clusters:tenantry-platform"
END = datetime(2030, 1, 31, tzinfo=UTC)


def token(number: int) -> str:
    claims = json.dumps({"iat": END.timestamp() - 3600, "exp": END.timestamp(), "number": number}).encode()
    return f"marker.{base64.urlsafe_b64encode(claims).decode().rstrip('=')}.marker"


class Edge(Memory):
    """A cluster that makes tokens. accepted: those that it takes. seen: as whom every user is seen; "": as that user."""

    seen = ""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[dict[str, Any]] = []
        self.accepted: list[str] = []
        self.refusals["POST", TOKENS] = self._token
        self.refusals["POST", SELF] = self._self
        self.refusals["POST", REVIEW] = lambda _: httpx2.Response(201, json={"status": {"allowed": False}})

    def _self(self, request: httpx2.Request) -> httpx2.Response:
        user = self.seen or request.headers["Impersonate-User"]
        return httpx2.Response(201, json={"status": {"userInfo": {"username": user}}})

    def _token(self, request: httpx2.Request) -> httpx2.Response:
        self.asked.append(json.loads(request.content)["spec"])
        self.accepted.append(token(len(self.asked)))
        return httpx2.Response(201, json={"status": {"token": self.accepted[-1]}})

    def connect(self, config: SingleConfig) -> Client:
        assert config.user is not None
        if config.user.token not in self.accepted:
            refusing = Memory()
            for path in (TOKENS, SELF, REVIEW):
                refusing.refuse("POST", path, 401, "Unauthorized")
            return refusing.client()
        return self.client()


class Hub(Memory):
    """A management cluster on which one can create and change Secrets."""

    def _answer(self, request: httpx2.Request) -> httpx2.Response:
        path = request.url.path
        if request.method == "POST":
            self.requests.append(("POST", path, {}))
            sent = json.loads(request.content)
            at = f"{path}/{sent['metadata']['name']}"
            if at in self.objects:
                return httpx2.Response(409, json={"kind": "Status", "code": 409})
            self.objects[at] = sent
            return httpx2.Response(201, json=sent)
        return super()._answer(request)

    def content(self) -> dict[str, Any]:
        return dict(yaml.safe_load(base64.b64decode(self.objects[SECRET]["data"]["value"])))


class Both:
    def __init__(self) -> None:
        self.hub, self.edge = Hub(), Edge()

    def registrar(self) -> Registrar:
        asked = Registration(
            "edge", AT, "tenantry-system", "tenantry-platform", 3600, bootstrap(fleet(FRAME), "dev", "edge")
        )
        address = Address("https://edge.example.com", "Q0E=")
        return Registrar(asked, self.edge.client(), self.hub.client(), address, self.edge.connect)

    def register(self) -> tuple[datetime | None, bool]:
        registrar = self.registrar()
        registrar.check()
        list(registrar.apply(dry_run=False))
        return registrar.store()

    def renewed(self, cluster: str = "edge") -> tuple[datetime | None, Refused | None]:
        done = Renewer(self.hub.client(), "tenantry-system", 7200, self.edge.connect).renew(cluster, AT)
        return done.end, done.failure


@pytest.fixture
def both(monkeypatch: pytest.MonkeyPatch) -> Both:
    monkeypatch.setattr("tenantry.cluster.register.time.sleep", lambda _: None)
    return Both()


def refused(both: Both) -> tuple[str, str]:
    with pytest.raises(Refused) as refusal:
        both.register()
    assert "marker" not in f"{refusal.value.message}{refusal.value.fix}"
    return refusal.value.message, refusal.value.fix


def test_a_cluster_gets_an_account_and_the_hub_a_kubeconfig_with_its_token(both: Both) -> None:
    assert both.register() == (END, True)
    assert both.edge.asked == [{"expirationSeconds": 3600}]
    assert both.hub.objects[SECRET]["metadata"]["labels"] == {
        "app.kubernetes.io/managed-by": "tenantry",
        "reconcile.fluxcd.io/watch": "Enabled",
        "tenantry/registered": "edge",
    }
    content = both.hub.content()
    assert content["users"] == [{"name": "tenantry-connection", "user": {"token": token(1)}}]
    (cluster,) = content["clusters"]
    assert cluster["cluster"] == {"server": "https://edge.example.com", "certificate-authority-data": "Q0E="}


def test_the_account_may_impersonate_in_one_namespace_and_no_rule_has_a_wildcard(both: Both) -> None:
    both.register()
    rules = {
        path: each["rules"]
        for path, each in both.edge.objects.items()
        if "tenantry-connection" in path and "rules" in each
    }
    assert len(rules) == 3
    impersonating = [path for path, own in rules.items() if any("impersonate" in rule["verbs"] for rule in own)]
    assert impersonating == ["/apis/rbac.authorization.k8s.io/v1/namespaces/clusters/roles/tenantry-connection"]
    assert "*" not in json.dumps(list(rules.values()))
    assert "secrets" not in json.dumps(list(rules.values()))


def test_registering_again_replaces_the_token(both: Both) -> None:
    both.register()
    both.register()
    assert both.hub.content()["users"][0]["user"]["token"] == token(2)


def test_a_secret_of_another_is_not_replaced_and_nothing_is_done_before(both: Both) -> None:
    both.hub.objects[SECRET] = {"metadata": {"labels": {"tenantry/registered": "west"}}, "data": {}}
    assert (
        refused(both)[0]
        == "Secret clusters/edge-kubeconfig on the management cluster was not made for 'edge' by this command"
    )
    assert [method for method, _, _ in both.edge.requests if method != "GET"] == []


def test_an_account_of_another_is_not_taken(both: Both) -> None:
    path = "/api/v1/namespaces/tenantry-system/serviceaccounts/tenantry-connection"
    both.edge.objects[path] = {"metadata": {"name": "tenantry-connection"}}
    assert "ServiceAccount tenantry-system/tenantry-connection exists on cluster 'edge'" in refused(both)[0]


def test_a_namespace_that_the_cluster_uses_is_not_one_for_kubeconfigs(both: Both) -> None:
    both.edge.objects["/api/v1/namespaces/clusters"] = {"metadata": {"name": "clusters"}}
    assert refused(both)[1].endswith("--namespace NAME")


def test_a_tenant_s_namespace_on_the_management_cluster_holds_no_kubeconfig(both: Both) -> None:
    both.hub.objects["/api/v1/namespaces/clusters"] = {"metadata": {"labels": ROLE_LABEL}}
    assert refused(both)[0] == "namespace 'clusters' on the management cluster is a tenant's"


def test_a_token_with_which_flux_could_not_work_is_not_stored(both: Both) -> None:
    both.edge.seen = "system:anonymous"
    assert refused(both)[0] == f"who acts as '{USER}' with the new token is seen as somebody else"
    both.edge.refuse("POST", SELF, 403, "no")
    assert refused(both)[0].startswith(f"with the new token one cannot act as '{USER}'")
    assert SECRET not in both.hub.objects


def test_a_cluster_that_only_flux_reaches_is_registered_without_that_proof(both: Both) -> None:
    def silent(request: httpx2.Request) -> httpx2.Response:
        raise httpx2.ConnectError("refused", request=request)

    both.edge.refusals["POST", SELF] = silent
    assert both.register() == (END, False)


def test_a_token_is_renewed_with_itself_alone(both: Both) -> None:
    both.register()
    both.hub.objects[SECRET]["metadata"]["annotations"] = {"mine": "stays"}
    assert both.renewed() == (END, None)
    assert both.edge.asked[-1] == {"expirationSeconds": 7200}
    assert both.hub.content()["users"][0]["user"]["token"] == token(2)
    assert both.hub.objects[SECRET]["metadata"]["annotations"] == {"mine": "stays"}


def test_what_cannot_be_renewed_stays_as_it_is(both: Both) -> None:
    assert "is not registered" in str(both.renewed()[1])
    both.register()
    before = json.dumps(both.hub.objects[SECRET])
    assert "was not made for 'west'" in str(both.renewed("west")[1])
    both.edge.accepted.clear()
    failure = both.renewed()[1]
    assert failure is not None
    assert failure.message == "its token is not valid any more, or may not be renewed"
    assert failure.fix == "tenantry cluster register edge --kubeconfig FILE --context NAME"
    assert json.dumps(both.hub.objects[SECRET]) == before


def test_registered_clusters_are_found_by_their_label() -> None:
    hub = Hub()
    metadata = {"name": "edge-kubeconfig", "namespace": "clusters", "labels": {"tenantry/registered": "edge"}}
    hub.objects["/api/v1/namespaces/clusters/secrets"] = {"metadata": {}, "items": [{"metadata": metadata}]}
    assert registered(hub.client(), {"clusters"}) == {"edge": ("clusters", "edge-kubeconfig")}
    assert hub.requests[-1][2]["labelSelector"] == "tenantry/registered"


def test_the_address_is_that_of_the_administrator_s_kubeconfig_or_another(tmp_path: Any) -> None:
    (tmp_path / "ca.crt").write_bytes(b"CA")

    def config(**cluster: Any) -> SingleConfig:
        there = Cluster(server="https://edge.example.com", **cluster)
        return SingleConfig("admin", Context(cluster="edge", user="admin"), there, User(), tmp_path / "kubeconfig")

    assert address_of(config(certificate_auth="ca.crt"), None) == ("https://edge.example.com", "Q0E=")
    assert address_of(config(certificate_auth_data="Q0E="), "https://10.1.0.5") == ("https://10.1.0.5", "Q0E=")
    for wrong, words in (({"insecure": True}, "does not verify"), ({"certificate_auth": "gone"}, "cannot be read")):
        with pytest.raises(Refused, match=words):
            address_of(config(**wrong), None)
