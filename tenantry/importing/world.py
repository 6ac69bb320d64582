"""The objects of one environment, by kind and namespace, what is noted about them, and its apps."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tenantry.importing.appliers import applier_of
from tenantry.importing.model import Fate, Held, Key, LeftOver, Path, Read, key_of
from tenantry.importing.overlay import Place
from tenantry.kube.names import dns_label_problem
from tenantry.kube.objects import is_of_flux, labels_of
from tenantry.messages.data import mapping_at
from tenantry.plan.objects.apps import KINDS
from tenantry.plan.objects.scope import APP_LABEL, ENVIRONMENT_LABEL, MANAGED_BY, SOURCE_LABEL, TENANT_LABEL, WATCHED


@dataclass(slots=True)
class Notes:
    """What is said of the objects that were read.

    places: the parts of the file that each was taken for. apps: the tenant, the app and the cluster of each app.
    """

    left_over: list[LeftOver] = field(default_factory=list)
    places: dict[int, list[Path]] = field(default_factory=lambda: defaultdict(list))
    apps: dict[int, tuple[str, str, str]] = field(default_factory=dict)
    decisions: dict[Path, list[str]] = field(default_factory=lambda: defaultdict(list))
    held: list[Held] = field(default_factory=list)
    _told: set[tuple[int, str, str, str, Fate]] = field(default_factory=set)

    def leave(self, read: Read, reason: str, fix: str, part: str = "", fate: Fate = "inexpressible") -> None:
        """Leave over an object, or a part of it."""
        if (told := (id(read), reason, fix, part, fate)) not in self._told:
            self._told.add(told)
            self.left_over.append(LeftOver(read, reason, fix, part, fate))

    def forget(self, read: Read) -> None:
        """Take back what was said of an object that is left over."""
        self.left_over = [each for each in self.left_over if each.read is not read]
        self._told = {each for each in self._told if each[0] != id(read)}

    def take(self, read: Read, *path: str | int) -> None:
        """An object is expressed by a part of the file."""
        if path not in self.places[id(read)]:
            self.places[id(read)].append(path)

    def decide(self, path: Path, text: str) -> None:
        """A comment in the file, at a place that needs a decision."""
        if text not in self.decisions[path]:
            self.decisions[path].append(text)


_NOT_THE_AUTHORS = (
    *("tenantry/", "pulumi.com/", "app.kubernetes.io/managed-by", "kubectl.kubernetes.io/", "kubernetes.io/"),
    *("meta.helm.sh/", "helm.sh/", "reconcile.fluxcd.io/", "sharding.fluxcd.io/", "field.cattle.io/"),
)


def is_authors(key: str) -> bool:
    """Whether a label or an annotation was written by a person, and not by Tenantry, Flux, Helm or Kubernetes."""
    groups = ("toolkit.fluxcd.io/", "fluxcd.controlplane.io/")
    return not key.startswith(_NOT_THE_AUTHORS) and not any(group in key for group in groups)


class Thing:
    """An object that was read, with short ways to its parts. Values are what others wrote, so every part may be malformed."""

    def __init__(self, read: Read) -> None:
        self.read = read
        self.key: Key = key_of(read.manifest)
        self.labels = labels_of(read.manifest)
        self.annotations = mapping_at(dict(read.manifest["metadata"]), "annotations")
        self.spec: dict[str, Any] = mapping_at(dict(read.manifest), "spec")
        self.is_refused = False  # by Flux
        self.is_through_proxy = False  # its kubeconfig leads to the cluster that it is on

    @property
    def kind(self) -> str:
        return self.key.kind

    @property
    def namespace(self) -> str:
        return self.key.namespace

    @property
    def name(self) -> str:
        return self.key.name

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
    def is_ours(self) -> bool:
        """Whether it says that Tenantry made it. What a baseline installs says that Helm did, beside the environment."""
        return ENVIRONMENT_LABEL in self.labels or all(
            self.labels.get(key) == value for key, value in MANAGED_BY.items()
        )

    @property
    def source_key(self) -> str:
        """What the file calls a source that clusters share; "" of any other object."""
        key = self.labels.get(SOURCE_LABEL) if self.is_ours else None
        return key if isinstance(key, str) and not dns_label_problem(key) else ""

    @property
    def is_suspended(self) -> bool:
        """Whether Flux does not reconcile it."""
        return self.spec.get("suspend") is True

    @property
    def is_declared(self) -> bool:
        """Whether Tenantry made it of a manifest in the file, and not of a setting or for an app."""
        if APP_LABEL in self.labels or WATCHED.items() <= self.labels.items():
            return False
        ours = ("Namespace", "Secret", "ClusterRole", "ClusterRoleBinding")
        return self.is_ours and self.kind not in ours and not is_of_flux(str(self.read.manifest["apiVersion"]))

    @property
    def metadata(self) -> dict[str, dict[str, str]]:
        """Its labels and annotations, as far as a person wrote them."""
        both = {"labels": self.labels, "annotations": self.annotations}
        own = {
            key: {name: str(value) for name, value in there.items() if is_authors(name)} for key, there in both.items()
        }
        return {key: each for key, each in own.items() if each}

    def at(self, *path: str) -> Any:
        """The value at a path of the object; None if there is none."""
        value: Any = self.read.manifest
        for part in path:
            value = value.get(part) if isinstance(value, dict) else None
        return value


class World:
    """The objects on the management cluster of one environment.

    platform: the namespace of add-ons there. keeps_values: whether values that may be secrets are written, too.
    beside: what was read there, and is left to what applies it.
    """

    def __init__(
        self,
        environment: str,
        management: str,
        things: list[Thing],
        notes: Notes,
        beside: Iterable[Thing] = (),
    ) -> None:
        self.environment = environment
        self.management = management
        self.notes = notes
        self.platform = ""
        self.keeps_values = False
        self.things = things
        self.beside = tuple(beside)
        self._by_kind: dict[str, list[Thing]] = defaultdict(list)
        self._in_namespace: dict[tuple[str, str], list[Thing]] = defaultdict(list)
        self._spaces: dict[str, list[Thing]] = defaultdict(list)
        self._by_key: dict[tuple[str, str, str], Thing] = {}
        self._beside_by_key = {
            (each.kind, each.namespace, each.name): each for each in self.beside if not each.is_refused
        }
        for thing in self.things:
            self._by_kind[thing.kind].append(thing)
            self._spaces[thing.namespace].append(thing)
            self._in_namespace[thing.kind, thing.namespace].append(thing)
            self._by_key[thing.kind, thing.namespace, thing.name] = thing

    def of(self, *kinds: str, namespace: str | None = None) -> Iterator[Thing]:
        """All objects of some kinds, in a namespace or anywhere."""
        for kind in kinds:
            yield from self._by_kind[kind] if namespace is None else self._in_namespace[kind, namespace]

    def within(self, namespace: str) -> list[Thing]:
        """A namespace and everything in it, and all cluster-scoped objects."""
        return [*self._spaces.get(namespace, ()), *self._spaces.get("", ())]

    def get(self, kind: str, namespace: str, name: str) -> Thing | None:
        return self._by_key.get((kind, namespace, name))

    def known(self, kind: str, namespace: str, name: str) -> Thing | None:
        """The same, also of what is left to what applies it."""
        return self.get(kind, namespace, name) or self._beside_by_key.get((kind, namespace, name))


@dataclass(slots=True)
class FoundApp:
    """tenant: "" for an add-on. key: what the file calls it. main, extra: the tenant's namespaces.

    home, planned: the namespace and the name that Tenantry gives its object. content: what the entry says.
    own: `namespace` of an add-on; "": the platform's; None: a Kustomization on a remote cluster does not tell.
    moves: why it cannot stay what it is; risks: why it is paused. shared: the source of the platform that an add-on takes.
    """

    thing: Thing
    place: Place
    tenant: str
    key: str
    home: str
    planned: str
    main: str
    extra: tuple[str, ...] = ()
    source: Thing | None = None
    content: dict[str, Any] = field(default_factory=dict)
    times: Mapping[str, str] = field(default_factory=dict)
    moves: list[str] = field(default_factory=list)
    risks: list[str] = field(default_factory=list)
    shared: str = ""
    own: str | None = ""

    @property
    def path(self) -> tuple[str, ...]:
        return ("tenants", self.tenant, "apps", self.key) if self.tenant else ("platform", "addons", self.key)

    @property
    def block(self) -> str:
        """The key of its block in the file."""
        return next(key for key, kind in KINDS.items() if kind == self.thing.kind)

    @property
    def is_there(self) -> bool:
        """Whether the planned object is the one that was found."""
        return (self.thing.namespace, self.thing.name) == (self.home, self.planned)
