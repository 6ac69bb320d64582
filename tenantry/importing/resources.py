"""The resources that were read, what becomes of each, and those of one environment by kind and namespace."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

from tenantry.importing.documents import Document
from tenantry.kube.names import dns_label_problem
from tenantry.kube.objects import Manifest, ObjectId, group_of, is_of_flux, labels_of, object_id
from tenantry.messages.data import mapping_at, mappings_in, value_at
from tenantry.messages.errors import Path, Refused
from tenantry.messages.text import grouped
from tenantry.plan.objects.apps import KINDS
from tenantry.plan.objects.scope import ENVIRONMENT_LABEL, MANAGED_BY, TENANT_LABEL

FLUX = "flux-system"
APPS = ("Kustomization", "HelmRelease")
SETTINGS = ("Namespace", "ServiceAccount", "RoleBinding", "Role", "ResourceQuota", "LimitRange", "NetworkPolicy")
"""What makes the namespaces of tenants."""
_APPLIERS = {"Kustomization": "kustomize.toolkit.fluxcd.io", "HelmRelease": "helm.toolkit.fluxcd.io"}
"""The group of the labels, by the kind of what applies."""


class Key(NamedTuple):
    """What the API server tells objects apart by: the versions of a group show the same ones."""

    group: str
    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}" if self.namespace else f"{self.kind} {self.name}"


def key_of(manifest: Manifest) -> Key:
    """The identity of an object."""
    id = object_id(manifest)
    return Key(group_of(id.api_version), id.kind, id.namespace or "", id.name)


class Applier(NamedTuple):
    """A Kustomization or a HelmRelease."""

    kind: str
    namespace: str
    name: str

    @property
    def labels(self) -> dict[str, str]:
        """The labels of what it applies."""
        return {f"{_APPLIERS[self.kind]}/name": self.name, f"{_APPLIERS[self.kind]}/namespace": self.namespace}


def applier_of(labels: Mapping[str, Any], *kinds: str) -> Applier | None:
    """What applies the object with some labels; None: they do not tell. Args: kinds: that count; without any, all do."""
    for kind in kinds or _APPLIERS:
        namespace, name = (labels.get(f"{_APPLIERS[kind]}/{part}") for part in ("namespace", "name"))
        if isinstance(namespace, str) and isinstance(name, str):
            return Applier(kind, namespace, name)
    return None


@dataclass(frozen=True, slots=True)
class Unread:
    """A file, a directory or what a Kustomization applies that could not be read. place: where it is; fix: what to do."""

    environment: str
    place: str
    reason: str
    fix: str


class Reading(NamedTuple):
    """What was read of one environment."""

    documents: Sequence[Document]
    unread: Sequence[Unread] = ()


class Inventory(NamedTuple):
    """Everything that was read. management: the management cluster of each environment."""

    resources: Sequence[Resource]
    management: Mapping[str, str]
    unread: Sequence[Unread] = ()


def inventory(readings: Mapping[str, Reading], management: Mapping[str, str]) -> Inventory:
    """The objects of each environment. Environments on one cluster share them: each gets those that are its own.

    Raises: Refused: two sources of an environment hold different objects of one identity.
    """
    documents: dict[tuple[str, Key], Document] = {}
    for environment, reading in readings.items():
        # Environments on one cluster may be read from one source, which shows each object to each of them.
        beside = [name for name in management if management[name] == management[environment]]
        for document in reading.documents:
            key = key_of(document.manifest)
            first = next((documents[name, key] for name in beside if (name, key) in documents), None)
            if first is None:
                documents[_owner(document.manifest, environment, beside), key] = document
            elif first.manifest != document.manifest:
                message = f"{document.origin}: {key} is declared differently at {first.origin}"
                raise Refused(message, "keep one of them, or name the directory of one cluster for each environment")
    resources = [Resource(name, *document) for (name, _), document in documents.items()]
    unread = [place for reading in readings.values() for place in reading.unread]
    return Inventory(resources, management, unread)


def _owner(manifest: Manifest, environment: str, beside: list[str]) -> str:
    """The environment of an object, among those on one cluster: by its namespace's name."""
    namespace = str(manifest["metadata"].get("namespace") or manifest["metadata"]["name"])
    named = [name for name in beside if namespace.startswith(f"{name}-") or namespace.endswith(f"-{name}")]
    return named[0] if len(beside) > 1 and len(named) == 1 else environment


# --- a resource -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Reason:
    """Why the file does not express a resource, or a part of it. field: the part as a path with dots; "" for all of it.

    is_left: whether nothing is missing, because it goes on as today; otherwise somebody has to decide.
    """

    json_keys: ClassVar = ("text", "fix", "field")
    text: str
    fix: str
    field: str = ""
    is_left: bool = False


_NOT_THE_AUTHORS = (
    *("tenantry/", "pulumi.com/", "app.kubernetes.io/managed-by", "kubectl.kubernetes.io/", "kubernetes.io/"),
    *("meta.helm.sh/", "helm.sh/", "reconcile.fluxcd.io/", "sharding.fluxcd.io/", "field.cattle.io/"),
)


def is_authors(key: str) -> bool:
    """Whether a label or an annotation was written by a person, and not by Tenantry, Flux, Helm or Kubernetes."""
    groups = ("toolkit.fluxcd.io/", "fluxcd.controlplane.io/")
    return not key.startswith(_NOT_THE_AUTHORS) and not any(group in key for group in groups)


class Resource:
    """An object that was read. Values are what others wrote, so every part may be malformed.

    labels, annotations, spec: without what is not taken into the file.
    paths: the parts of the file that it was taken for; path: the one that expresses it. app: the tenant, the app and the cluster
    of an app.
    is_replaced: it has nothing to do any more, because Tenantry takes over what it applies. is_through_proxy: its kubeconfig leads
    to the cluster that it is on.
    """

    def __init__(self, environment: str, manifest: Manifest, origin: str) -> None:
        self.environment = environment
        self.manifest = manifest
        self.origin = origin
        self.key = key_of(manifest)
        self.kind, self.namespace, self.name = self.key[1:]
        self.labels = labels_of(manifest)
        self.annotations = mapping_at(dict(manifest["metadata"]), "annotations")
        self.spec: dict[str, Any] = mapping_at(dict(manifest), "spec")
        self.paths: list[Path] = []
        self.path: Path | None = None
        self.reasons: list[Reason] = []
        self.app: tuple[str, str, str] | None = None
        self.is_replaced = False
        self.is_through_proxy = False

    def leave(self, text: str, fix: str, part: str = "", *, is_left: bool = False) -> None:
        """Leave the resource, or a part of it, out of the file."""
        if (reason := Reason(text, fix, part, is_left)) not in self.reasons:
            self.reasons.append(reason)

    def take(self, *path: str | int) -> None:
        """A part of the file expresses it."""
        if path not in self.paths:
            self.paths.append(path)

    @property
    def is_left(self) -> bool | None:
        """Whether it goes on as today if the file does not express it; None: no reason speaks of all of it."""
        whole = [reason.is_left for reason in self.reasons if not reason.field]
        return all(whole) if whole else None

    @property
    def id(self) -> ObjectId:
        return object_id(self.manifest)

    @property
    def is_fluxs(self) -> bool:
        """Whether it is of a kind of Flux's."""
        return is_of_flux(str(self.manifest["apiVersion"]))

    @property
    def tenant(self) -> str:
        """The tenant that its labels name; "" if they name none."""
        named = self.labels.get(TENANT_LABEL)
        return named if isinstance(named, str) and not dns_label_problem(named) else ""

    @property
    def applied_by(self) -> tuple[str, str]:
        """The namespace and the name of the Kustomization that applies it, as its labels tell; empty if they do not."""
        applier = applier_of(self.labels, "Kustomization")
        return (applier.namespace, applier.name) if applier else ("", "")

    @property
    def awaited(self) -> list[tuple[str, str]]:
        """The namespaces and names of the objects of its kind that it waits for."""
        references = mappings_in(self.spec.get("dependsOn")) if self.kind in APPS else []
        return [
            (str(reference.get("namespace") or self.namespace), str(reference.get("name"))) for reference in references
        ]

    @property
    def is_ours(self) -> bool:
        """Whether Tenantry manages it. What a baseline installs says that Helm does, beside the environment."""
        return ENVIRONMENT_LABEL in self.labels or MANAGED_BY.items() <= self.labels.items()

    @property
    def is_remote(self) -> bool:
        """Whether it acts on a cluster with a kubeconfig of its own."""
        return bool(self.spec.get("kubeConfig"))

    @property
    def account(self) -> str:
        """The service account that Flux acts as; "": that of its own controller."""
        return str(self.spec.get("serviceAccountName") or "")

    @property
    def storage(self) -> str:
        """The namespace in which Helm stores a release."""
        return str(self.spec.get("storageNamespace") or self.namespace)

    @property
    def metadata(self) -> dict[str, dict[str, str]]:
        """Its labels and annotations, as far as a person wrote them."""
        both = {"labels": self.labels, "annotations": self.annotations}
        own = {
            key: {name: str(value) for name, value in values.items() if is_authors(name)}
            for key, values in both.items()
        }
        return {key: values for key, values in own.items() if values}

    def at(self, *path: str) -> Any:
        """The value at a path of the object; None if there is none."""
        return value_at(self.manifest, path)


class World:
    """The resources on the management cluster of one environment.

    beside: what was read there, and is left to what applies it.
    """

    def __init__(
        self, environment: str, management: str, resources: list[Resource], beside: Iterable[Resource] = ()
    ) -> None:
        self.environment = environment
        self.management = management
        self.resources = resources
        self.beside = tuple(beside)
        self._of_kind = grouped(resources, lambda resource: resource.kind)
        self._in_namespace = grouped(resources, lambda resource: resource.namespace)
        self._by_name = {resource.key[1:]: resource for resource in resources}
        self._beside_by_name = {resource.key[1:]: resource for resource in self.beside}

    def of(self, *kinds: str, namespace: str | None = None) -> Iterator[Resource]:
        """All resources of some kinds, in a namespace or anywhere."""
        if namespace is not None:
            yield from (resource for resource in self._in_namespace.get(namespace, ()) if resource.kind in kinds)
            return
        for kind in kinds:
            yield from self._of_kind.get(kind, ())

    def within(self, namespace: str) -> list[Resource]:
        """Everything in a namespace."""
        return self._in_namespace.get(namespace, [])

    def get(self, kind: str, namespace: str, name: str) -> Resource | None:
        return self._by_name.get((kind, namespace, name))

    def known(self, kind: str, namespace: str, name: str) -> Resource | None:
        """The same, also of what is left to what applies it."""
        return self.get(kind, namespace, name) or self._beside_by_name.get((kind, namespace, name))


class Place(NamedTuple):
    """A cluster, and the environment on whose management cluster its Flux objects are."""

    environment: str
    cluster: str


@dataclass(slots=True)
class App:
    """tenant: "" for an add-on. key: what the file calls it. main: the tenant's namespace.

    home, planned: the namespace and the name that Tenantry gives its object. content: what the entry says.
    own: `namespace` of an add-on; "": the platform's; None: a Kustomization on a remote cluster does not tell.
    shared: the source of the platform that an add-on takes. is_risky: whether it is paused until somebody has looked at it.
    """

    resource: Resource
    place: Place
    tenant: str
    key: str
    home: str
    planned: str
    main: str
    own: str | None = ""
    source: Resource | None = None
    shared: str = ""
    content: dict[str, Any] = field(default_factory=dict)
    is_risky: bool = False

    @property
    def path(self) -> tuple[str, ...]:
        return ("tenants", self.tenant, "apps", self.key) if self.tenant else ("platform", "addons", self.key)

    @property
    def block(self) -> str:
        """The key of its block in the file."""
        return next(key for key, kind in KINDS.items() if kind == self.resource.kind)

    @property
    def prefix(self) -> str:
        """What stands before the key in the name of its object."""
        return self.planned.removesuffix(self.key)

    @property
    def keeps_name(self) -> bool:
        """Whether the planned object is the one that was read."""
        return (self.resource.namespace, self.resource.name) == (self.home, self.planned)
