"""What the admission policies of `tenantry bootstrap` refuse, as the API servers see it.

The attacker is a tenant with role `admin`, and one that was given all rights in its own namespace.
"""

from __future__ import annotations

import base64
import json
import time
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
from tests.faults.isolation import denied, ready, row, source_in
from tests.faults.report import Results

pytestmark = pytest.mark.faults
Apis = dict[str, Api]
_OWN = f"/api/v1/namespaces/{TENANT}"
_BARE = f"{TENANT}-bare"
_MARKS = "labels and annotations of a tenant's namespace are the platform's to change"


@pytest.mark.parametrize("forgery", FRAMES, ids=lambda each: each.name)
def test_a_flux_object_outside_of_the_frame_is_refused(apis: Apis, results: Results, forgery: Forgery) -> None:
    started = time.monotonic()
    answer = apis[HUB.cluster].ask("POST", forgery.collection, forgery.manifest, as_user=HUB.user)
    denied(answer, forgery.refusal)
    tried = f"a {forgery.kind} with {forgery.tried}"
    results.add(row(tried, HUB.cluster, HUB.user, f"`{forgery.refusal}`", time.monotonic() - started))


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
    apis: Apis, listener: Listener, results: Results, departure: Departure
) -> None:
    hub, kind = apis[HUB.cluster], departure.kind
    path = f"{collection(kind)}/{departure.name}"
    held = manifest(kind, departure.name, departure.spec)
    held["metadata"]["finalizers"] = [FINALIZER]
    assert not hub.ask("POST", collection(kind), held, as_user=HUB.user).message
    eventually(lambda: ready(hub, path), f"{departure.name} to be ready")
    assert not hub.ask("DELETE", path, as_user=HUB.user).message
    started = time.monotonic()
    where = path if departure.part == "spec" else f"{path}/{departure.part}"
    denied(hub.ask("PATCH", where, {departure.part: departure.change}, as_user=HUB.user), departure.refusal)
    seconds = time.monotonic() - started
    # Flux took its finalizer off, and the attacker may do so too.
    eventually(lambda: finalizers(hub, path) == [FINALIZER], f"Flux to leave {departure.name}")
    assert not hub.ask("PATCH", path, {"metadata": {"finalizers": None}}, as_user=HUB.user).message
    eventually(lambda: hub.state(path) is None, f"{departure.name} to be gone")
    assert listener.tokens == []
    results.add(row(departure.tried, HUB.cluster, HUB.user, f"`{departure.refusal}`", seconds))


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
    apis: Apis, results: Results, place: Place, subresource: str, tried: str
) -> None:
    api, started = apis[place.cluster], time.monotonic()
    change: dict[str, Any] = {"metadata": _TAKEN_OFF[tried]}
    if subresource == "/finalize":
        change = replaced(api, _TAKEN_OFF[tried])
    method = "PUT" if subresource == "/finalize" else "PATCH"
    before = api.state(_OWN)
    denied(api.ask(method, f"{_OWN}{subresource}", change, as_user=place.user), _MARKS)
    assert api.state(_OWN) == before
    what = f"as `cluster-admin` of its namespace: {tried}, by `{method}` of `namespaces{subresource}`"
    results.add(row(what, place.cluster, place.user, f"`{_MARKS}`", time.monotonic() - started))


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


def test_the_artifact_of_a_source_can_not_be_forged(apis: Apis, results: Results) -> None:
    started, path = time.monotonic(), f"{collection('GitRepository')}/manifests"
    stolen = (
        apis[HUB.cluster].ask("GET", f"{collection('GitRepository', 'rocky')}/manifests").body["status"]["artifact"]
    )
    answer = apis[HUB.cluster].ask("PATCH", f"{path}/status", {"status": {"artifact": stolen}}, as_user=HUB.user)
    denied(answer, STATUS)
    tried = "a neighbour's artifact in the `status` of its own source"
    results.add(row(tried, HUB.cluster, HUB.user, f"`{STATUS}`", time.monotonic() - started))


# --- what the platform requires -----------------------------------------------------------------------------------------

_STRICT = f"{TENANT}-strict"
_REQUIRED = {
    "tenantry/require-pinned": "true",
    "tenantry/require-verify": "cosign issuer=^https://ci$ subject=^rocky$\ngit HEAD key=keys",
    "tenantry/require-images": "registry.example.com/*\npause:3.10",
}
_PIN, _SIGN = "the platform requires pinned sources", "the platform requires a 'verify' that it accepts"
_IMAGE = "the platform requires images of registries that it accepts"
_COMMIT, _DIGEST = {"commit": "0" * 40}, {"digest": f"sha256:{'0' * 64}"}
_KEYLESS = {"provider": "cosign", "matchOIDCIdentity": [{"issuer": "^https://ci$", "subject": "^rocky$"}]}
_BY_KEY = {"mode": "HEAD", "secretRef": {"name": "keys"}}
_SOURCES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "a signed commit": ("", "GitRepository", {"ref": _COMMIT, "verify": _BY_KEY}),
    "a branch": (_PIN, "GitRepository", {"ref": {"branch": "main"}, "verify": _BY_KEY}),
    "a tag": (_PIN, "GitRepository", {"ref": {"tag": "v1"}, "verify": _BY_KEY}),
    "no ref": (_PIN, "GitRepository", {"verify": _BY_KEY}),
    "an unsigned commit": (_SIGN, "GitRepository", {"ref": _COMMIT}),
    "a key of its own": (_SIGN, "GitRepository", {"ref": _COMMIT, "verify": {**_BY_KEY, "secretRef": {"name": "own"}}}),
    "signed tags": (_SIGN, "GitRepository", {"ref": _COMMIT, "verify": {**_BY_KEY, "mode": "Tag"}}),
    "a signed digest": ("", "OCIRepository", {"ref": _DIGEST, "verify": _KEYLESS}),
    "an OCI tag": (_PIN, "OCIRepository", {"ref": {"tag": "1.0.0"}, "verify": _KEYLESS}),
    "an unsigned digest": (_SIGN, "OCIRepository", {"ref": _DIGEST}),
    "anybody's signature": (_SIGN, "OCIRepository", {"ref": _DIGEST, "verify": {"provider": "cosign"}}),
    "one identity more": (
        _SIGN,
        "OCIRepository",
        {
            "ref": _DIGEST,
            "verify": {
                "provider": "cosign",
                "matchOIDCIdentity": [*_KEYLESS["matchOIDCIdentity"], {"issuer": ".*", "subject": ".*"}],
            },
        },
    ),
    "an exact, signed chart": ("", "HelmChart", {"chart": "web", "version": "1.2.3", "verify": _KEYLESS}),
    "a range of charts": (_PIN, "HelmChart", {"chart": "web", "version": "1.x", "verify": _KEYLESS}),
    "an unsigned chart": (_SIGN, "HelmChart", {"chart": "web", "version": "1.2.3"}),
    "a bucket": (_PIN, "Bucket", {"bucketName": "a", "endpoint": "127.0.0.1:1"}),
    "a release's range of charts": (
        _PIN,
        "HelmRelease",
        {"chart": {"spec": {"chart": "web", "sourceRef": {"kind": "HelmRepository", "name": "own"}}}},
    ),
    "a release of a planned chart": ("", "HelmRelease", {"chartRef": {"kind": "HelmChart", "name": "own"}}),
}
_MORE: dict[str, dict[str, Any]] = {
    "GitRepository": {"url": "https://127.0.0.1:1/a.git"},
    "OCIRepository": {"url": "oci://127.0.0.1:1/a"},
    "HelmChart": {"sourceRef": {"kind": "HelmRepository", "name": "own"}},
    "HelmRelease": {"serviceAccountName": TENANT},
}


@pytest.fixture(scope="module")
def strict(apis: Apis) -> Iterator[None]:
    """A namespace of the attacker's in which the platform requires something; bound as in `grown`."""
    labels = {"toolkit.fluxcd.io/role": "tenant", "toolkit.fluxcd.io/tenant": TENANT, "tenantry/environment": "dev"}
    for place in PLACES:
        namespace = {"metadata": {"name": _STRICT, "labels": labels, "annotations": _REQUIRED}}
        assert not apis[place.cluster].ask("POST", "/api/v1/namespaces", namespace).message
        bind(apis[place.cluster], place, _STRICT)
    yield
    for place in PLACES:
        apis[place.cluster].ask("DELETE", f"/api/v1/namespaces/{_STRICT}")


@pytest.mark.usefixtures("strict")
def test_a_source_that_is_not_as_required_is_refused(apis: Apis) -> None:
    def told(kind: str, spec: dict[str, Any]) -> str:
        body = manifest(kind, "own", {"interval": "1h", **_MORE.get(kind, {}), **spec}, _STRICT)
        return apis[HUB.cluster].ask("POST", f"{collection(kind, _STRICT)}?dryRun=All", body, as_user=HUB.user).message

    answers = {name: told(kind, spec) for name, (_, kind, spec) in _SOURCES.items()}
    wanted = {name: refusal for name, (refusal, _, _) in _SOURCES.items()}
    assert {
        name: wanted[name] if wanted[name] and wanted[name] in answer else answer for name, answer in answers.items()
    } == wanted


@pytest.mark.usefixtures("strict")
@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.cluster)
def test_a_pod_with_another_image_is_refused_on_every_cluster(apis: Apis, place: Place) -> None:
    def told(**containers: str) -> str:
        spec = {key: [{"name": "a", "image": image}] for key, image in containers.items()}
        body = {"metadata": {"name": "own"}, "spec": {"containers": [{"name": "b", "image": "pause:3.10"}], **spec}}
        pods = f"/api/v1/namespaces/{_STRICT}/pods?dryRun=All"
        return apis[place.cluster].ask("POST", pods, body, as_user=place.user).message

    assert [told(), told(containers="registry.example.com/a/b:1"), told(initContainers="registry.example.com/a")] == [
        ""
    ] * 3
    for refused in (
        told(containers="nginx"),
        told(containers="registry.example.com.evil/a"),
        told(containers="pause:3.10.1"),
        told(initContainers="nginx"),
    ):
        assert _IMAGE in refused
