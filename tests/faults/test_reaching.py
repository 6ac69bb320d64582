"""What a tenant reaches by names and contents that no admission policy of the management cluster can see."""

from __future__ import annotations

import json
from copy import deepcopy

import pytest

from tests.e2e.clusters import eventually
from tests.e2e.project import Project
from tests.faults.api import Api
from tests.faults.arena import EDGE, HUB, PLACES, TENANT, Place
from tests.faults.departures import DEPARTURES, serving
from tests.faults.forgeries import collection, manifest
from tests.faults.isolation import denied, ready

pytestmark = pytest.mark.faults
Apis = dict[str, Api]
_OWN = f"/api/v1/namespaces/{TENANT}"
_NAMES = "names that begin with 'tenantry' are the platform's to give"
_FINALIZERS = "a tenant's Flux objects have no finalizers but Flux's own"
RBAC = "rbac.authorization.k8s.io"
_BINDINGS = f"/apis/{RBAC}/v1/namespaces/{TENANT}/rolebindings"
_NETWORK = f"/apis/networking.k8s.io/v1/namespaces/{TENANT}/networkpolicies"


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.cluster)
def test_a_tenant_does_not_take_the_name_of_a_part_of_its_baseline(apis: Apis, place: Place) -> None:
    policy = {"metadata": {"name": "tenantry-later"}, "spec": {"podSelector": {}, "ingress": [{}]}}
    api = apis[place.cluster]
    denied(api.ask("POST", _NETWORK, policy, as_user=place.user), _NAMES)
    role = {"apiGroup": RBAC, "kind": "ClusterRole", "name": "view"}
    binding = {"metadata": {"name": "tenantry-reconciler-view"}, "roleRef": role, "subjects": []}
    denied(api.ask("POST", _BINDINGS, binding, as_user=place.user), _NAMES)
    names = (each["metadata"]["name"] for each in api.ask("GET", _BINDINGS).body["items"])
    own = next(name for name in names if name.startswith("tenantry-reconciler-"))
    denied(api.ask("PATCH", f"{_BINDINGS}/{own}", {"subjects": []}, as_user=place.user), _NAMES)
    opened = {"spec": {"ingress": [{}]}}
    denied(api.ask("PATCH", f"{_NETWORK}/tenantry-isolated", opened, as_user=place.user), _NAMES)
    for path in (f"{_BINDINGS}/{own}", _BINDINGS, f"{_NETWORK}/tenantry-isolated"):
        denied(api.ask("DELETE", path, as_user=place.user), _NAMES)


def test_a_tenant_adds_no_finalizer_that_nobody_takes_off(apis: Apis) -> None:
    """A run that deletes such an object would stand until its timeout, each time."""
    hub = apis[HUB.cluster]
    path = f"{collection('Kustomization')}/own"
    held = {"metadata": {"finalizers": ["example.com/hold"]}}
    made = manifest("Kustomization", "own", DEPARTURES[0].spec)
    finalized = {**made, "metadata": {**made["metadata"], **held["metadata"]}}
    denied(hub.ask("POST", collection("Kustomization"), finalized, as_user=HUB.user), _FINALIZERS)
    assert not hub.ask("POST", collection("Kustomization"), made, as_user=HUB.user).message
    denied(hub.ask("PATCH", path, held, as_user=HUB.user), _FINALIZERS)
    eventually(lambda: hub.ask("GET", path).body["metadata"].get("finalizers"), "Flux's own finalizer")
    assert not hub.ask("DELETE", path, as_user=HUB.user).message
    eventually(lambda: hub.ask("GET", path).message, "Flux to take it off")


def test_a_baseline_does_not_take_over_a_namespace_of_somebody_else(apis: Apis) -> None:
    """As if the file had a tenant called like a namespace that is on the remote cluster already."""
    hub, edge, name = apis[HUB.cluster], apis[EDGE.cluster], f"{TENANT}-taken"
    namespace = f"/api/v1/namespaces/{name}"
    assert not edge.ask("POST", "/api/v1/namespaces", {"metadata": {"name": name, "labels": {"of": "others"}}}).message
    before = edge.state(namespace)
    spec = deepcopy(hub.ask("GET", f"{collection('HelmRelease', EDGE.home)}/{EDGE.prefix}baseline").body["spec"])
    (made,) = (each for each in spec["values"]["objects"] if each["kind"] == "Namespace")
    made["metadata"]["name"] = name
    spec |= {"releaseName": f"{name}-baseline", "values": {"objects": [made]}}
    releases = collection("HelmRelease", EDGE.home)
    assert not hub.ask("POST", releases, manifest("HelmRelease", name, spec, EDGE.home)).message
    expected = f'Namespace "{name}" in namespace "" exists and cannot be imported into the current release'
    eventually(lambda: expected in str(hub.ask("GET", f"{releases}/{name}").body.get("status")), expected)
    assert edge.state(namespace) == before
    for api, path in ((hub, f"{releases}/{name}"), (edge, namespace)):
        assert not api.ask("DELETE", path).message


def test_an_alert_for_a_cloud_whose_secret_lacks_the_key_gets_no_identity_of_the_controllers(
    fleet: Project, apis: Apis
) -> None:
    """The file may declare such an alert, and the tenant may change the Secret; a flag of the controller decides then."""
    hub, name = apis[HUB.cluster], "cloudy"
    address = "https://127.0.0.1:1/a/b/_git/c"
    spec = {"type": "azuredevops", "address": address, "secretRef": {"name": name}}
    alert = {"providerRef": {"name": name}, "eventSources": [{"kind": "Kustomization", "name": name}]}
    failing = {**DEPARTURES[0].spec, "path": "./nowhere"}
    secret = {"metadata": {"name": name}, "stringData": {"other": "a"}}
    assert not hub.ask("POST", f"{_OWN}/secrets", secret, as_user=HUB.user).message
    made = {"Provider": spec, "Alert": alert, "Kustomization": failing}
    for kind, each in made.items():
        assert not hub.ask("POST", collection(kind), manifest(kind, name, each)).message
    log = fleet.sandbox / "logs" / f"{HUB.cluster}-notification-controller.log"
    expected = f"failed to get provider identity from service account '{TENANT}/default'"
    eventually(lambda: any(name in line and expected in line for line in log.read_text().splitlines()), expected)
    for kind in made:
        assert not hub.ask("DELETE", f"{collection(kind)}/{name}").message


def test_a_chart_of_a_neighbours_can_be_read_through_an_index_of_ones_own(apis: Apis) -> None:
    """Flux serves what it fetched to whoever asks, and asks itself for a tenant whose index says so."""
    hub = apis[HUB.cluster]
    charts = hub.ask("GET", collection("HelmChart", EDGE.home)).body["items"]
    (artifact,) = (each["status"]["artifact"] for each in charts if each["metadata"]["name"].startswith("movy."))
    latest = f"{artifact['url'].rpartition('/')[0]}/latest.tar.gz"
    entry = {"apiVersion": "v2", "name": "stolen", "version": "1.2.0", "urls": [latest]}
    with serving(json.dumps({"apiVersion": "v1", "entries": {"stolen": [entry]}})) as url:
        source = {"kind": "HelmRepository", "name": "thief"}
        spec = {"interval": "1h", "chart": "stolen", "version": "1.2.0", "sourceRef": source}
        for kind, each in (("HelmRepository", {"interval": "1h", "url": url}), ("HelmChart", spec)):
            assert not hub.ask("POST", collection(kind), manifest(kind, "thief", each), as_user=HUB.user).message
        path = f"{collection('HelmChart')}/thief"
        eventually(lambda: ready(hub, path), "the chart")
    assert hub.ask("GET", path).body["status"]["artifact"]["digest"] == artifact["digest"]
    for kind in ("HelmChart", "HelmRepository"):
        assert not hub.ask("DELETE", f"{collection(kind)}/thief").message
