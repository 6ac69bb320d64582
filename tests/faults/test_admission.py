"""What the admission policies of `tenantry bootstrap` refuse, as the API servers see it.

The attacker is a tenant with role `admin`, and one that was given all rights in its own namespace.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.e2e.clusters import eventually
from tests.faults.api import Api
from tests.faults.arena import BAIT, EDGE, HUB, PLACES, TENANT, Place
from tests.faults.commits import RBAC
from tests.faults.departures import ANYWHERE, DEPARTURES, FINALIZER, STATUS, Departure, Listener, listening
from tests.faults.forgeries import Forgery, collection, manifest
from tests.faults.frames import FRAMES
from tests.faults.isolation import denied, ready, source_in

pytestmark = pytest.mark.faults
Apis = dict[str, Api]
_OWN = f"/api/v1/namespaces/{TENANT}"
_BARE = f"{TENANT}-bare"
_MARKS = "labels and annotations of a tenant's namespace are the platform's to change"


@pytest.mark.parametrize("forgery", FRAMES, ids=lambda each: each.name)
def test_a_flux_object_outside_of_the_frame_is_refused(apis: Apis, forgery: Forgery) -> None:
    answer = apis[HUB.cluster].ask("POST", forgery.collection, forgery.manifest, as_user=HUB.user)
    denied(answer, forgery.refusal)


# --- while an object is being deleted -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def listener(tmp_path_factory: pytest.TempPathFactory, apis: Apis) -> Iterator[Listener]:
    """Where the attacker wants Flux to send its token; a ConfigMap of the attacker's leads there."""
    hub = apis[HUB.cluster]
    with listening(tmp_path_factory.mktemp("listener")) as listener:
        config = {"metadata": {"name": ANYWHERE}, "data": listener.config}
        assert not hub.ask("POST", f"{_OWN}/configmaps", config, as_user=HUB.user).message
        yield listener
        hub.ask("DELETE", f"{_OWN}/configmaps/{ANYWHERE}")


@pytest.mark.parametrize("departure", DEPARTURES, ids=lambda each: each.name)
def test_an_object_that_is_being_deleted_can_not_be_changed_into_another(
    apis: Apis, listener: Listener, departure: Departure
) -> None:
    hub, kind = apis[HUB.cluster], departure.kind
    path = f"{collection(kind)}/{departure.name}"
    assert not hub.ask(
        "POST", collection(kind), manifest(kind, departure.name, departure.spec), as_user=HUB.user
    ).message
    eventually(lambda: ready(hub, path), f"{departure.name} to be ready")
    # The policy refuses finalizers of the attacker's, so the platform's holds the object as a slow cleanup would.
    assert not hub.ask("PATCH", path, {"metadata": {"finalizers": [*finalizers(hub, path), FINALIZER]}}).message
    assert not hub.ask("DELETE", path, as_user=HUB.user).message
    where = path if departure.part == "spec" else f"{path}/{departure.part}"
    denied(hub.ask("PATCH", where, {departure.part: departure.change}, as_user=HUB.user), departure.refusal)
    eventually(lambda: finalizers(hub, path) == [FINALIZER], f"Flux to take its finalizer off {departure.name}")
    # A finalizer may be taken off by the attacker, too.
    assert not hub.ask("PATCH", path, {"metadata": {"finalizers": None}}, as_user=HUB.user).message
    eventually(lambda: hub.state(path) is None, f"{departure.name} to be gone")
    assert listener.tokens == []


def finalizers(hub: Api, path: str) -> list[str]:
    found: list[str] = hub.ask("GET", path).body["metadata"].get("finalizers", [])
    return found


def test_a_listener_would_receive_a_token_where_the_policy_passes_over_the_author(
    apis: Apis, listener: Listener
) -> None:
    """The counterpart of the refusals: an administrator makes the same object beside the kubeconfigs, and a token comes."""
    hub, name = apis[HUB.cluster], f"{TENANT}-control"
    configs, apps = f"/api/v1/namespaces/{EDGE.home}/configmaps", collection("Kustomization", EDGE.home)
    source = {"kind": "GitRepository", "name": source_in(hub, EDGE)}
    remote = {"kubeConfig": {"configMapRef": {"name": name}}}
    spec = {"interval": "1h", "prune": True, "path": f"./{BAIT}", "sourceRef": source, **remote}
    assert not hub.ask("POST", configs, {"metadata": {"name": name}, "data": listener.config}).message
    assert not hub.ask("POST", apps, manifest("Kustomization", name, spec, EDGE.home)).message
    eventually(lambda: bool(listener.tokens), "a token")
    # Flux's own identity is what it would have sent without the flags of its lockdown.
    assert {subject(each) for each in listener.tokens if each} == {f"system:serviceaccount:{EDGE.home}:default"}
    for path in (f"{apps}/{name}", f"{configs}/{name}"):
        assert not hub.ask("DELETE", path).message
    listener.tokens.clear()


def subject(token: str) -> str:
    """Whose service account token it is."""
    payload = token.split(".")[1]
    return str(json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))["sub"])


# --- with all rights in its namespace -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def grown(apis: Apis) -> Iterator[None]:
    """The attacker is `cluster-admin` in its own namespace, and has one more that does not carry the fleet's labels."""
    namespace = {"metadata": {"name": _BARE}}
    assert not apis[HUB.cluster].ask("POST", "/api/v1/namespaces", namespace).message
    for place in PLACES:
        bind(apis[place.cluster], place, TENANT)
    bind(apis[HUB.cluster], HUB, _BARE)
    yield
    for place in PLACES:
        apis[place.cluster].ask("DELETE", f"/apis/{RBAC}/v1/namespaces/{TENANT}/rolebindings/{TENANT}-grown")
    apis[HUB.cluster].ask("DELETE", f"/api/v1/namespaces/{_BARE}")


def bind(api: Api, place: Place, namespace: str) -> None:
    binding = {
        "metadata": {"name": f"{TENANT}-grown"},
        "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": "cluster-admin"},
        "subjects": [{"apiGroup": RBAC, "kind": "User", "name": place.user}],
    }
    assert not api.ask("POST", f"/apis/{RBAC}/v1/namespaces/{namespace}/rolebindings", binding).message


_TAKEN_OFF = {
    "the label by which the policies know it": {"labels": {"toolkit.fluxcd.io/role": None}},
    "the label that tells the tenant": {"labels": {"toolkit.fluxcd.io/tenant": None}},
    "another tenant's name": {"labels": {"toolkit.fluxcd.io/tenant": "rocky"}},
    "no pod security": {"labels": {"pod-security.kubernetes.io/enforce": "privileged"}},
    "a node selector": {"annotations": {"scheduler.alpha.kubernetes.io/node-selector": "pool=system"}},
}


@pytest.mark.usefixtures("grown")
@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.cluster)
@pytest.mark.parametrize("subresource", ["", "/status", "/finalize"])
@pytest.mark.parametrize("tried", _TAKEN_OFF)
def test_a_tenant_with_all_rights_keeps_its_namespaces_labels(
    apis: Apis, place: Place, subresource: str, tried: str
) -> None:
    api = apis[place.cluster]
    change: dict[str, Any] = {"metadata": _TAKEN_OFF[tried]}
    if subresource == "/finalize":
        change = replaced(api, _TAKEN_OFF[tried])
    method = "PUT" if subresource == "/finalize" else "PATCH"
    before = api.state(_OWN)
    denied(api.ask(method, f"{_OWN}{subresource}", change, as_user=place.user), _MARKS)
    assert api.state(_OWN) == before


def replaced(api: Api, change: dict[str, dict[str, str | None]]) -> dict[str, Any]:
    """The whole namespace with other marks."""
    there: dict[str, Any] = api.ask("GET", _OWN).body
    for key, marks in change.items():
        kept = {**there["metadata"].get(key, {}), **marks}
        there["metadata"][key] = {name: value for name, value in kept.items() if value is not None}
    return there


@pytest.mark.usefixtures("grown")
@pytest.mark.parametrize(
    "change",
    [
        {"kubeConfig": {"secretRef": {"name": "own"}}},
        {"serviceAccountName": None},
        {"dependsOn": [{"name": "web", "namespace": "rocky"}]},
        {"interval": "100ms"},
    ],
    ids=["kubeconfig", "account", "dependency", "interval"],
)
def test_the_policies_leave_namespaces_alone_that_are_not_the_fleets(apis: Apis, change: dict[str, Any]) -> None:
    """Other tenants of the same cluster keep their kubeconfigs. Whoever may write there needs no right anywhere else."""
    spec = {key: value for key, value in {**DEPARTURES[0].spec, **change}.items() if value is not None}
    made = manifest("Kustomization", "own", spec, _BARE)
    made["metadata"]["labels"] = {"tenantry/environment": "theirs"}
    path = f"{collection('Kustomization', _BARE)}?dryRun=All"
    assert not apis[HUB.cluster].ask("POST", path, made, as_user=HUB.user).message


def test_the_artifact_of_a_source_can_not_be_forged(apis: Apis) -> None:
    path = f"{collection('GitRepository')}/manifests"
    stolen = (
        apis[HUB.cluster].ask("GET", f"{collection('GitRepository', 'rocky')}/manifests").body["status"]["artifact"]
    )
    answer = apis[HUB.cluster].ask("PATCH", f"{path}/status", {"status": {"artifact": stolen}}, as_user=HUB.user)
    denied(answer, STATUS)
