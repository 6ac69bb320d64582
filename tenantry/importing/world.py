"""The objects of one environment, by kind and namespace, what is noted about them, and what applies them today.

Nothing may be applied by Flux and planned by Tenantry at once. What a tenant's own app applies stays in the tenant's repository.
What applies a tenant from outside hands it over: it becomes no add-on, because it would set back what Tenantry changes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

from tenantry.flux.conformance import check_part
from tenantry.flux.schemas import kinds
from tenantry.importing.model import Inventory, Key, LeftOver, Path, Read, key_of
from tenantry.importing.overlay import Place
from tenantry.importing.reading import ORIGIN
from tenantry.kube.kinds import is_of_flux
from tenantry.kube.names import dns_label_problem
from tenantry.kube.objects import labels_of
from tenantry.messages.data import mapping_at
from tenantry.messages.text import format_path
from tenantry.plan.objects.apps import KINDS
from tenantry.plan.objects.scope import APP_LABEL, ENVIRONMENT_LABEL, MANAGED_BY, TENANT_LABEL, WATCHED

_CONTROLLERS = {"Kustomization": "kustomize.toolkit.fluxcd.io", "HelmRelease": "helm.toolkit.fluxcd.io"}
_BOOTSTRAP = "flux-system"


class Appliers:
    """What applies each of some objects, as far as it is among them."""

    def __init__(self, things: Iterable[Thing]) -> None:
        apps = [each for each in things if each.kind in _CONTROLLERS]
        self._by_name = {(each.kind, each.namespace, each.name): each for each in apps}
        self._by_path = [each for each in apps if _takes_the_repository(each)]

    def by_label(self, thing: Thing) -> Thing | None:
        """What applies an object, as its labels tell."""
        return self._by_name.get(_owner(thing))

    def of(self, thing: Thing) -> Thing | None:
        """What applies an object, as its labels or its file tell; not Flux's own bootstrap."""
        if _owner(thing)[0]:
            found = self.by_label(thing)
            return None if found is None or _is_bootstrap(found) else found
        if thing.read.origin == ORIGIN:
            return None
        origin = thing.read.origin
        place = f"/{PurePath(origin.rpartition(':')[0] or origin).as_posix()}/"
        fits = [each for each in self._by_path if each is not thing and f"/{_path(each)}/" in place]
        return max(fits, key=lambda each: len(_path(each)), default=None)


def expressible(things: Iterable[Thing], notes: Notes) -> list[Thing]:
    """The objects that tenants.yaml could express; the others are left over."""
    things = list(things)
    appliers = Appliers(things)
    owners = [(each, owner) for each in things if (owner := appliers.by_label(each)) and owner is not each]
    inner = {id(each): owner for each, owner in owners if _is_own(each, owner)}
    outer = {id(owner) for each, owner in owners if id(each) not in inner}
    kept = []
    for each in things:
        if owner := inner.get(id(each)):
            notes.leave(each.read, *_inner_in_words(each, owner))
        elif id(each) in outer and each.name != _BOOTSTRAP:
            notes.leave(
                each.read, "it applies objects that Tenantry takes over", "suspend it as the steps to adopt say"
            )
        else:
            kept.append(each)
    return kept


def _inner_in_words(thing: Thing, owner: Thing) -> tuple[str, str]:
    if thing.kind == "HelmChart":
        reason = f"helm-controller made it for 'spec.chart' of {owner.key}"
        return reason, "do nothing: helm-controller removes it when the release takes the planned chart"
    return f"{owner.key} applies it", "leave it there: what an app applies needs no entry of its own"


def _owner(thing: Thing) -> tuple[str, str, str]:
    """The kind, the namespace and the name in an object's labels; empty if it has none."""
    for kind, group in _CONTROLLERS.items():
        name, namespace = (thing.labels.get(f"{group}/{key}") for key in ("name", "namespace"))
        if isinstance(name, str) and isinstance(namespace, str):
            return kind, namespace, name
    return "", "", ""


def _is_own(thing: Thing, owner: Thing) -> bool:
    """Whether an app applies the object within its own namespace, as the apps of tenants do."""
    return owner.namespace == thing.namespace != _BOOTSTRAP


def _takes_the_repository(app: Thing) -> bool:
    """Whether it is a Kustomization that applies a directory of the cluster's repository."""
    source = app.at("spec", "sourceRef", "name")
    return app.kind == "Kustomization" and bool(_path(app)) and source == _BOOTSTRAP and not _is_bootstrap(app)


def _path(kustomization: Thing) -> str:
    return str(kustomization.spec.get("path") or "").strip("./")


def _is_bootstrap(thing: Thing) -> bool:
    return (thing.namespace, thing.name) == (_BOOTSTRAP, _BOOTSTRAP)


@dataclass(slots=True)
class Notes:
    """What is said of the objects that were read.

    places: the parts of the file that each was taken for. apps: the tenant, the app and the cluster of each app.
    """

    left_over: list[LeftOver] = field(default_factory=list)
    places: dict[int, list[Path]] = field(default_factory=lambda: defaultdict(list))
    apps: dict[int, tuple[str, str, str]] = field(default_factory=dict)
    decisions: dict[Path, list[str]] = field(default_factory=lambda: defaultdict(list))

    def leave(self, read: Read, reason: str, fix: str, part: str = "") -> None:
        """Leave over an object, or a part of it."""
        note = LeftOver(read, reason, fix, part)
        if note not in self.left_over:
            self.left_over.append(note)

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
    return not key.startswith(_NOT_THE_AUTHORS) and "toolkit.fluxcd.io/" not in key


class Thing:
    """An object that was read, with short ways to its parts. Values are what others wrote, so every part may be malformed."""

    def __init__(self, read: Read) -> None:
        self.read = read
        self.key: Key = key_of(read.manifest)
        self.labels = labels_of(read.manifest)
        self.annotations = mapping_at(dict(read.manifest["metadata"]), "annotations")
        self.spec: dict[str, Any] = mapping_at(dict(read.manifest), "spec")

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
    def is_ours(self) -> bool:
        """Whether it says that Tenantry made it. What a baseline installs says that Helm did, beside the environment."""
        return ENVIRONMENT_LABEL in self.labels or all(
            self.labels.get(key) == value for key, value in MANAGED_BY.items()
        )

    @property
    def is_suspended(self) -> bool:
        """Whether Flux does not reconcile it."""
        return self.spec.get("suspend") is True

    @property
    def is_declared(self) -> bool:
        """Whether Tenantry made it of a manifest in the file, and not of a setting or for an app."""
        if APP_LABEL in self.labels or WATCHED.items() <= self.labels.items():
            return False
        ours = ("Namespace", "ServiceAccount", "Secret", "ClusterRole", "ClusterRoleBinding")
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


def _is_taken(thing: Thing, notes: Notes) -> bool:
    """Whether Flux takes an object; keys that only older versions of Flux know are left over.

    Later steps rely on the types of values.
    """
    if thing.kind not in kinds() or not is_of_flux(str(thing.read.manifest["apiVersion"])):
        return True
    for finding in check_part(thing.kind, thing.spec, ("spec",)):
        if finding.code != "unknown-key":
            text = f"Flux refuses it: {format_path(finding.path)}: {finding.message}"
            notes.leave(thing.read, text, "correct it where it is, then import again")
            return False
        if len(finding.path) == 2:
            key = str(finding.path[1])
            notes.leave(thing.read, f"Flux does not know '{key}' any more", "nothing: Flux ignores it", f"spec.{key}")
            thing.spec = {name: each for name, each in thing.spec.items() if name != key}
    return True


class World:
    """The objects on the management cluster of one environment.

    platform: the namespace of add-ons there. keeps_values: whether values that may be secrets are written, too.
    """

    def __init__(self, inventory: Inventory, environment: str, notes: Notes) -> None:
        self.environment = environment
        self.management = inventory.management[environment]
        self.notes = notes
        self.platform = ""
        self.keeps_values = False
        read = (Thing(each) for each in inventory.objects if each.environment == environment)
        self.things = [each for each in expressible(read, notes) if _is_taken(each, notes)]
        self._by_kind: dict[str, list[Thing]] = defaultdict(list)
        self._in_namespace: dict[tuple[str, str], list[Thing]] = defaultdict(list)
        self._spaces: dict[str, list[Thing]] = defaultdict(list)
        self._by_key: dict[tuple[str, str, str], Thing] = {}
        for each in self.things:
            self._by_kind[each.kind].append(each)
            self._spaces[each.namespace].append(each)
            self._in_namespace[each.kind, each.namespace].append(each)
            self._by_key[each.kind, each.namespace, each.name] = each

    def of(self, *kinds: str, namespace: str | None = None) -> Iterator[Thing]:
        """All objects of some kinds, in a namespace or anywhere."""
        for kind in kinds:
            yield from self._by_kind[kind] if namespace is None else self._in_namespace[kind, namespace]

    def within(self, namespace: str) -> list[Thing]:
        """A namespace and everything in it, and all cluster-scoped objects."""
        return [*self._spaces.get(namespace, ()), *self._spaces.get("", ())]

    def get(self, kind: str, namespace: str, name: str) -> Thing | None:
        return self._by_key.get((kind, namespace, name))


@dataclass(slots=True)
class FoundApp:
    """tenant: "" for an add-on. key: what the file calls it. main, extra: the tenant's namespaces.

    home, planned: the namespace and the name that Tenantry gives its object. content: what the entry says.
    moves: why it cannot stay what it is; risks: why it is paused.
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
    automation: dict[str, Any] = field(default_factory=dict)
    risks: list[str] = field(default_factory=list)

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
