"""Manual changes to the fleet's objects: on the management cluster, and to what Flux installs on a remote one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

from tests.faults.api import Answer, Api

FLUX = "/apis/kustomize.toolkit.fluxcd.io/v1/namespaces"
HELM = "/apis/helm.toolkit.fluxcd.io/v2/namespaces"
SOURCE = "/apis/source.toolkit.fluxcd.io/v1/namespaces"
RBAC = "/apis/rbac.authorization.k8s.io/v1/namespaces"
NETWORK = "/apis/networking.k8s.io/v1/namespaces"
CORE = "/api/v1/namespaces"
STRANGER = [{"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": "stranger"}]


@dataclass(frozen=True, slots=True)
class Change:
    """A merge patch of one object; None deletes it."""

    what: str
    path: str
    patch: Mapping[str, Any] | None

    def make(self, api: Api) -> None:
        answer: Answer = api.ask("DELETE", self.path) if self.patch is None else api.ask("PATCH", self.path, self.patch)
        assert answer.message == "", f"{self.what}: {answer.message}"


ANYWHERE = (
    Change(
        "the tenant's label removed from a Namespace",
        f"{CORE}/rocky",
        {"metadata": {"labels": {"toolkit.fluxcd.io/tenant": None}}},
    ),
    Change(
        "another subject in the RoleBinding that Flux uses",
        f"{RBAC}/rocky/rolebindings/tenantry-reconciler-admin",
        {"subjects": STRANGER},
    ),
    Change("a ResourceQuota raised", f"{CORE}/rocky/resourcequotas/tenantry", {"spec": {"hard": {"pods": "9999"}}}),
)

ON_THE_HUB = (
    *ANYWHERE,
    Change("a NetworkPolicy opened", f"{NETWORK}/rocky/networkpolicies/tenantry-isolated", {"spec": {"ingress": [{}]}}),
    Change("the values of credentials", f"{CORE}/rocky/secrets/git", {"data": {"password": "d3Jvbmc="}}),
    Change("a ConfigMap that an app reads", f"{CORE}/rocky/configmaps/settings", {"data": {"COLOR": "red"}}),
    Change("the path of a Kustomization", f"{FLUX}/rocky/kustomizations/db", {"spec": {"path": "./web"}}),
    Change(
        "a Kustomization for a remote cluster that no longer prunes",
        f"{FLUX}/clusters/kustomizations/edge-rocky-db",
        {"spec": {"prune": False}},
    ),
    Change(
        "the interval of a HelmRelease",
        f"{HELM}/movy/helmreleases/greeter",
        {"spec": {"interval": "1h"}},
    ),
    Change(
        "the branch of a source", f"{SOURCE}/movy/gitrepositories/manifests", {"spec": {"ref": {"branch": "other"}}}
    ),
    Change("a ServiceAccount deleted", f"{CORE}/clusters/serviceaccounts/movy", None),
    Change("a RoleBinding deleted", f"{RBAC}/movy/rolebindings/tenantry-owners-view", None),
    Change("a Kustomization deleted, and with it what it had applied", f"{FLUX}/movy/kustomizations/jobs", None),
    Change(
        "a baseline's HelmRelease deleted, and with it the namespace on the remote cluster",
        f"{HELM}/clusters/helmreleases/edge-movy-baseline",
        None,
    ),
)

ON_A_REMOTE = (
    *ANYWHERE,
    Change("a NetworkPolicy deleted", f"{NETWORK}/rocky/networkpolicies/tenantry-isolated", None),
    Change("a RoleBinding deleted", f"{RBAC}/movy/rolebindings/tenantry-owners-view", None),
    Change("what a Kustomization has applied, changed", f"{CORE}/rocky/configmaps/web", {"data": {"color": "red"}}),
    Change("what a Kustomization has applied, deleted", f"{CORE}/rocky/configmaps/db", None),
)

A_NAMESPACE = Change("a Namespace deleted with all that is in it", f"{CORE}/movy", None)


def by_hand(api: Api, random: Random) -> None:
    """Change or delete some object of the fleet on its management cluster, whichever there are."""
    listed = {
        plural: api.ask("GET", f"{root}/{plural}?labelSelector=tenantry/environment").body.get("items", [])
        for plural, (root, _) in CHANGED.items()
    }
    plural = random.choice([plural for plural, found in listed.items() if found])
    metadata = random.choice(sorted(listed[plural], key=lambda each: each["metadata"]["name"]))["metadata"]
    root, patch = CHANGED[plural]
    Change(plural, f"{root}/namespaces/{metadata['namespace']}/{plural}/{metadata['name']}", patch).make(api)


CHANGED: Mapping[str, tuple[str, Mapping[str, Any] | None]] = {
    "kustomizations": ("/apis/kustomize.toolkit.fluxcd.io/v1", {"spec": {"path": "./nowhere", "force": True}}),
    "helmreleases": ("/apis/helm.toolkit.fluxcd.io/v2", None),
    "rolebindings": ("/apis/rbac.authorization.k8s.io/v1", None),
    "serviceaccounts": ("/api/v1", None),
    "resourcequotas": ("/api/v1", {"spec": {"hard": {"pods": "77"}}}),
}


def essence(manifest: Mapping[str, Any] | None) -> Any:
    """What is the same in an object that was made anew after it was deleted."""
    if manifest is None or "deletionTimestamp" in manifest["metadata"]:
        return None
    metadata = manifest["metadata"]
    kept = {key: metadata.get(key) for key in ("name", "namespace", "labels", "annotations")}
    return {**{key: value for key, value in manifest.items() if key != "status"}, "metadata": kept}
