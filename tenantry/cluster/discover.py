"""Lists the clusters that a management cluster knows: by the tools that make clusters, and by labels of Secrets.

Only names, namespaces, labels and owners are read. No kubeconfig is, not even those that a Secret beside its metadata holds.

A tenant can make such objects in its own namespaces, and would so make the platform connect to a server of its own. So the
Namespace says whose an object is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from tenantry.cluster import requests
from tenantry.kube.objects import Manifest, labels_of
from tenantry.messages.errors import Refused
from tenantry.model import SecretKey
from tenantry.plan.objects.scope import ROLE_LABEL, TENANT_LABEL

if TYPE_CHECKING:
    from tenantry.cluster.client import Client

KAMAJI = "kamaji.clastix.io/v1alpha1"
CAPI = ("cluster.x-k8s.io/v1beta2", "cluster.x-k8s.io/v1beta1")
PROFILES = "multicluster.x-k8s.io/v1alpha1"
_CAPI_OWNER = "KamajiControlPlane"
"""A control plane that Cluster API asked Kamaji for."""
_VCLUSTER, _RELEASE = "app=vcluster", "release"
"""The label of vCluster's workloads, and the one with the virtual cluster's name. Source: `vcluster list`."""
_PROFILE, _PROFILES_NAMESPACE, _PROFILE_KEY = (
    "x-k8s.io/cluster-profile",
    "x-k8s.io/cluster-profile-namespace",
    "Config",
)
"""Labels and key of the Secret with a ClusterProfile's kubeconfig. Source: sigs.k8s.io/cluster-inventory-api."""
_SUFFIXES = ("-admin-kubeconfig", "-kubeconfig")


@dataclass(frozen=True, slots=True)
class FoundCluster:
    """kind: which key of `kubeconfig` tells where the kubeconfig is; kubeconfig: the values below it.

    object: what stands for the cluster, in words; labels: those of the object. tenant: in whose namespace it is; "" if in nobody's.
    """

    name: str
    kind: str
    kubeconfig: Mapping[str, str]
    object: str
    labels: Mapping[str, str] = field(default_factory=dict)
    tenant: str = ""


@dataclass(frozen=True, slots=True)
class Discovery:
    """kinds: those that were looked for, so that one of them that is missing is gone; notes: what was not, and why."""

    clusters: tuple[FoundCluster, ...]
    kinds: frozenset[str]
    notes: tuple[str, ...]


def discover(client: Client, secrets: Mapping[str, str]) -> Discovery:
    """All clusters that are not being deleted.

    Args:   secrets: a label selector for Secrets with kubeconfigs, and the key of the kubeconfig in each.
    Raises: Refused: reading is not allowed; it names the missing right.
    """
    return _Search(client).run(secrets)


def has_secret(client: Client, reference: SecretKey) -> bool:
    """Whether a Secret is there. Raises: Refused: reading is not allowed."""
    listed = requests.every(client, "v1", "Secret", namespace=reference.namespace, metadata_only=True)
    return any(_name(each) == reference.name for each in listed)


class _Search:
    """Asks for one kind after the other."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.kinds: set[str] = set()
        self.notes: list[str] = []

    def run(self, secrets: Mapping[str, str]) -> Discovery:
        tenants = self._tenants()
        managed = list(self._capi())
        found = [
            *managed,
            *self._kamaji(by_capi="capi" in self.kinds),
            *self._vclusters(),
            *self._profiles(tenants),
            *(secret for selector, key in secrets.items() for secret in self._secrets(selector, key)),
        ]
        owned = (replace(each, tenant=tenants.get(each.kubeconfig["namespace"], "")) for each in reversed(found))
        once = {(each.kind, *each.kubeconfig.values()): each for each in owned}
        return Discovery(tuple(reversed(once.values())), frozenset(self.kinds), tuple(self.notes))

    def _list(self, api_version: str, kind: str, selector: str = "") -> list[Manifest] | None:
        """The objects of a kind in all namespaces; None: the cluster does not serve the kind."""
        unknown = Refused("not installed")
        listed = requests.every(self.client, api_version, kind, selector=selector, metadata_only=True, unknown=unknown)
        try:
            return [each for each in listed if "deletionTimestamp" not in each["metadata"]]
        except Refused as refused:
            if refused is unknown:
                return None
            group = api_version.rpartition("/")[0]
            resource = f"{requests.plural(kind)}.{group}".rstrip(".")
            raise Refused(
                refused.message, f"grant the right to list {resource} in all namespaces", code=refused.code
            ) from None

    def _capi(self) -> Iterator[FoundCluster]:
        listed = next((found for each in CAPI if (found := self._list(each, "Cluster")) is not None), None)
        for each in self._known("capi", "Cluster API", listed):
            yield _found(each, "capi", {"cluster": _name(each), "namespace": _namespace(each)}, "Cluster")

    def _kamaji(self, *, by_capi: bool) -> Iterator[FoundCluster]:
        for each in self._known("kamaji", "Kamaji", self._list(KAMAJI, "TenantControlPlane")):
            owners = each["metadata"].get("ownerReferences") or ()
            if not (by_capi and any(owner.get("kind") == _CAPI_OWNER for owner in owners)):
                place = {"controlPlane": _name(each), "namespace": _namespace(each)}
                yield _found(each, "kamaji", place, "TenantControlPlane")

    def _vclusters(self) -> Iterator[FoundCluster]:
        self.kinds.add("vcluster")
        for kind in ("StatefulSet", "Deployment"):
            for each in self._list("apps/v1", kind, _VCLUSTER) or ():
                name = str(labels_of(each).get(_RELEASE) or _name(each))
                yield _found(each, "vcluster", {"name": name, "namespace": _namespace(each)}, kind, name)

    def _tenants(self) -> dict[str, str]:
        """The tenants of namespaces."""
        found = {}
        for each in self._list("v1", "Namespace") or ():
            labels = labels_of(each)
            if labels.get(TENANT_LABEL) or ROLE_LABEL.items() <= labels.items():
                found[_name(each)] = str(labels.get(TENANT_LABEL) or _name(each))
        return found

    def _profiles(self, tenants: Mapping[str, str]) -> Iterator[FoundCluster]:
        profiles = list(self._known("secret", "ClusterProfile", self._list(PROFILES, "ClusterProfile")))
        secrets = (self._list("v1", "Secret", _PROFILE) or []) if profiles else []
        for profile in profiles:
            # The Secret of a profile of the platform's may be beside other clusters, but in no tenant's namespace.
            own = [each for each in secrets if _namespace(each) not in tenants.keys() - {_namespace(profile)}]
            if secret := _secret_of(profile, own):
                place = {"name": _name(secret), "namespace": _namespace(secret), "key": _PROFILE_KEY}
                yield _found(profile, "secret", place, "ClusterProfile")
            else:
                where = f"{_namespace(profile)}/{_name(profile)}"
                self.notes.append(f"ClusterProfile {where} has no Secret with label {_PROFILE}, so it is left out")

    def _secrets(self, selector: str, key: str) -> Iterator[FoundCluster]:
        self.kinds.add("secret")
        for each in self._list("v1", "Secret", selector) or ():
            name = next((_name(each).removesuffix(end) for end in _SUFFIXES if _name(each).endswith(end)), _name(each))
            yield _found(
                each, "secret", {"name": _name(each), "namespace": _namespace(each), "key": key}, "Secret", name
            )

    def _known(self, kind: str, tool: str, listed: list[Manifest] | None) -> Iterable[Manifest]:
        """What was listed; a note if the cluster does not know the tool."""
        if listed is None:
            self.notes.append(f"{tool} is not installed on the management cluster")
            return ()
        self.kinds.add(kind)
        return listed


def _secret_of(profile: Manifest, secrets: Iterable[Manifest]) -> Manifest | None:
    """The Secret with the kubeconfig of a ClusterProfile; of several, one in its own namespace."""
    ours = [secret for secret in secrets if labels_of(secret).get(_PROFILE) == _name(profile)]
    near = [our for our in ours if _namespace(our) == _namespace(profile)]
    named = [each for each in ours if labels_of(each).get(_PROFILES_NAMESPACE) == _namespace(profile)]
    return next(iter((*near, *named)), None)


def _found(manifest: Manifest, kind: str, place: dict[str, str], what: str, name: str = "") -> FoundCluster:
    labels = {key: value for key, value in labels_of(manifest).items() if isinstance(value, str)}
    described = f"{what} {_namespace(manifest)}/{_name(manifest)}"
    return FoundCluster((name or _name(manifest)).replace(".", "-"), kind, place, described, labels)


def _name(manifest: Mapping[str, Any]) -> str:
    return str(manifest["metadata"]["name"])


def _namespace(manifest: Mapping[str, Any]) -> str:
    return str(manifest["metadata"].get("namespace", ""))
