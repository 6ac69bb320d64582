"""What a management cluster holds of an environment: the objects with its labels that are where the fleet puts them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from tenantry.guard.kept import Kept
from tenantry.guard.places import Places, Whose, label, whose
from tenantry.guard.targets import Target, history_problem, live_target
from tenantry.kube.objects import Manifest, ObjectId, labels_of, readable_id
from tenantry.messages.data import mapping_at, value_at
from tenantry.messages.text import printable
from tenantry.plan.objects.lifecycle import KEEP, STATE_LABEL
from tenantry.plan.objects.scope import APP_LABEL
from tenantry.plan.shards import WHOLE, Shard

READ = ("Namespace", "Kustomization", "HelmRelease")
"""Kinds that stand for a tenant, an app or an add-on."""


class Mark(NamedTuple):
    """What a release on a remote cluster says of a namespace that it installs.

    is_kept: Helm keeps it. is_freed: Helm deletes it. Neither: Helm has not stored yet what the release says. Both: there is
    nothing to delete, because Helm has installed nothing, or because Flux leaves a decommissioned cluster as it is.
    """

    is_kept: bool
    is_freed: bool


class Reference(NamedTuple):
    """The kubeconfig Secret or ConfigMap through which Flux reaches a cluster."""

    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldApp:
    """A Kustomization or HelmRelease of an app, or of an add-on if the tenant is "".

    leaving: an earlier run has given it up. suspended: Flux leaves it alone, and not because its cluster was given up.
    installed: the namespaces on the cluster that Flux has applied something in for it.
    """

    tenant: str
    cluster: str
    name: str
    leaving: bool = False
    suspended: bool = False
    installed: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """The objects on the cluster.

    namespaces: (tenant, cluster, namespace) -> leaving. addon_namespaces: (cluster, namespace) -> leaving.
    kubeconfigs: (cluster, reference) -> whether everything that uses it was decommissioned, and so leaves the cluster as it is.
    others_kubeconfigs: the same of other environments. strangers: objects that are not the environment's.
    frozen: (tenant, cluster) with a suspended baseline. misplaced: objects with the environment's labels where the fleet puts none;
    they count for nothing. malformed: objects that cannot be read in full, in words.
    targets: what Flux has installed for baselines, add-ons and apps, and for strangers that a plan would take over.
    addons: (cluster, namespace) -> the add-on that owns it. marks: (cluster, namespace) on remotes -> what its release says of it.
    kept: (cluster, namespace) -> what the claims of all environments record of it.
    """

    namespaces: Mapping[tuple[str, str, str], bool]
    apps: Mapping[ObjectId, HeldApp]
    kubeconfigs: Mapping[tuple[str, Reference], bool]
    addon_namespaces: Mapping[tuple[str, str], bool] = field(default_factory=dict)
    others_kubeconfigs: Mapping[tuple[str, Reference], bool] = field(default_factory=dict)
    strangers: frozenset[ObjectId] = frozenset()
    frozen: frozenset[tuple[str, str]] = frozenset()
    misplaced: frozenset[ObjectId] = frozenset()
    malformed: frozenset[str] = frozenset()
    targets: Mapping[ObjectId, Target] = field(default_factory=dict)
    addons: Mapping[tuple[str, str], str] = field(default_factory=dict)
    marks: Mapping[tuple[str, str], Mark] = field(default_factory=dict)
    kept: Mapping[tuple[str, str], Kept] = field(default_factory=dict)

    def holds(self, tenant: str, cluster: str, namespace: str) -> bool:
        """Whether a tenant, or an add-on if it is "", still has more in a namespace than its data.

        On a remote cluster that is the release which installs it. On the management cluster the namespace is there anyway.
        """
        if tenant and (tenant, cluster, namespace) not in self.namespaces:
            return False
        if not tenant and (cluster, namespace) not in self.addon_namespaces:
            return False
        has_apps = any(
            (app.tenant, app.cluster) == (tenant, cluster) and namespace in (id.namespace, *app.installed)
            for id, app in self.apps.items()
        )
        return (cluster, namespace) in self.marks or bool(tenant and has_apps)

    def recorded(self, entries: Iterable[Kept]) -> Held:
        """With what the claims record. A namespace of the management cluster that was left there is no longer the environment's."""
        kept = {(each.cluster, each.namespace): each for each in entries}
        left = {(each.tenant, *place) for place, each in kept.items() if not self.holds(each.tenant, *place)}
        return replace(
            self,
            namespaces={key: leaving for key, leaving in self.namespaces.items() if key not in left},
            addon_namespaces={key: leaving for key, leaving in self.addon_namespaces.items() if ("", *key) not in left},
            kept=kept,
        )

    def of_shard(self, shard: Shard) -> Held:
        """What a shard's stack runs: its tenants, and in the first shard the add-ons. What concerns clusters stays whole."""
        if shard == WHOLE:
            return self
        return replace(
            self,
            namespaces={key: leaving for key, leaving in self.namespaces.items() if shard.holds(key[0])},
            apps={id: app for id, app in self.apps.items() if shard.holds(app.tenant)},
            addon_namespaces=self.addon_namespaces if shard.holds("") else {},
            frozen=frozenset(each for each in self.frozen if shard.holds(each[0])),
        )


def held(manifests: Iterable[Manifest], environment: str) -> Held:
    """What Namespaces, Kustomizations and HelmReleases of an environment stand for; of others only who they are.

    manifests: with all Namespaces, because these say whose the other objects are.
    """
    there = list(manifests)
    reading = _Reading(environment, Places(there))
    for manifest in there:
        reading.add(manifest)
    return reading.result()


@dataclass(slots=True)
class _Reading:
    """Collects what objects say. Whatever is malformed is noted, and the rest is read."""

    environment: str
    places: Places
    namespaces: dict[tuple[str, str, str], bool] = field(default_factory=dict)
    apps: dict[ObjectId, HeldApp] = field(default_factory=dict)
    kubeconfigs: dict[tuple[str, Reference], bool] = field(default_factory=dict)
    addon_namespaces: dict[tuple[str, str], bool] = field(default_factory=dict)
    others_kubeconfigs: dict[tuple[str, Reference], bool] = field(default_factory=dict)
    strangers: set[ObjectId] = field(default_factory=set)
    frozen: set[tuple[str, str]] = field(default_factory=set)
    misplaced: set[ObjectId] = field(default_factory=set)
    malformed: set[str] = field(default_factory=set)
    targets: dict[ObjectId, Target] = field(default_factory=dict)
    addons: dict[tuple[str, str], str] = field(default_factory=dict)
    marks: dict[tuple[str, str], Mark] = field(default_factory=dict)

    def result(self) -> Held:
        return Held(
            namespaces=self.namespaces,
            apps=self.apps,
            kubeconfigs=self.kubeconfigs,
            addon_namespaces=self.addon_namespaces,
            others_kubeconfigs=self.others_kubeconfigs,
            strangers=frozenset(self.strangers),
            frozen=frozenset(self.frozen),
            misplaced=frozenset(self.misplaced),
            malformed=frozenset(self.malformed),
            targets=self.targets,
            addons=self.addons,
            marks=self.marks,
        )

    def add(self, manifest: Manifest) -> None:
        id, said = readable_id(manifest), whose(manifest)
        if id is None:
            self.malformed.add("an object without a kind or name")
        elif said.environment != self.environment:
            self.strangers.add(id)
            self._note_target(id, manifest)
            if id.kind in READ and said.cluster and self.places.puts(manifest, said):
                note_kubeconfig(id, manifest, said.cluster, self.others_kubeconfigs)
        elif id.kind not in READ or not said.cluster:
            return
        elif id.kind == "Namespace" or self.places.puts(manifest, said):
            self._read(id, manifest, said)
        else:
            self.misplaced.add(id)

    def _read(self, id: ObjectId, manifest: Manifest, said: Whose) -> None:
        labels, (_, tenant, cluster) = labels_of(manifest), said
        app = "" if id.kind == "Namespace" else label(labels, APP_LABEL)
        self.malformed.update(f"{id}: {printable(problem)}" for problem in _problems(id, manifest, app))
        leaving, suspended = STATE_LABEL in labels, _is_suspended(manifest)
        if app:
            self.apps[id] = HeldApp(
                tenant=tenant,
                cluster=cluster,
                name=app,
                leaving=leaving,
                suspended=suspended,
                installed=_installed_in(manifest),
            )
        elif tenant:
            for name, gone in _namespaces(id, manifest):
                key = (tenant, cluster, name)
                self.namespaces[key] = self.namespaces.get(key, True) and (leaving or gone)
            self.frozen |= {(tenant, cluster)} if suspended else set()
        else:
            self.addon_namespaces |= {(cluster, name): leaving for name, _ in _namespaces(id, manifest)}
        self._note_target(id, manifest)
        for each in () if app else (manifest,) if id.kind == "Namespace" else filter(_is_named, _installed(manifest)):
            place = (cluster, each["metadata"]["name"])
            if id.kind != "Namespace":
                self.marks[place] = _mark(manifest, each)
            if not tenant:
                self.addons[place] = label(labels_of(each), APP_LABEL)
        note_kubeconfig(id, manifest, cluster, self.kubeconfigs)

    def _note_target(self, id: ObjectId, manifest: Manifest) -> None:
        if id.kind in READ and (target := live_target(manifest)):
            self.targets[id] = target


def note_kubeconfig(id: ObjectId, manifest: Manifest, cluster: str, found: dict[tuple[str, Reference], bool]) -> None:
    """Take what an object of a cluster says into `Held.kubeconfigs`."""
    if reference := _kubeconfig(id, manifest):
        abandoned = _is_decommissioned(manifest) and _has_suspend(manifest)
        found[cluster, reference] = found.get((cluster, reference), True) and abandoned


def _is_suspended(manifest: Manifest) -> bool:
    """By the fleet or by hand; what a cluster that is given up leaves behind, it is meant to."""
    return _has_suspend(manifest) and not _is_decommissioned(manifest)


def _has_suspend(manifest: Manifest) -> bool:
    return bool(mapping_at(manifest, "spec").get("suspend"))


def _is_decommissioned(manifest: Manifest) -> bool:
    return labels_of(manifest).get(STATE_LABEL) == "decommissioned"


def _installed_in(manifest: Manifest) -> frozenset[str]:
    """Namespaces in its inventory. Empty if it is suspended: then Flux cleans up nothing."""
    if _has_suspend(manifest):
        return frozenset()
    # An entry is `<namespace>_<name>_<group>_<kind>`.
    return frozenset(entry["id"].partition("_")[0] for entry in _entries(manifest) if _is_entry(entry)) - {""}


def _entries(manifest: Manifest) -> list[Any]:
    entries = mapping_at(manifest, "status", "inventory").get("entries")
    return entries if isinstance(entries, list) else []


def _is_entry(entry: Any) -> bool:
    return isinstance(entry, dict) and isinstance(entry.get("id"), str)


def _namespaces(id: ObjectId, manifest: Manifest) -> list[tuple[str, bool]]:
    """Those that an object is or, as a baseline's release, installs; and whether each by itself was given up."""
    if id.kind == "Namespace":
        return [(id.name, False)]
    return [
        (each["metadata"]["name"], STATE_LABEL in labels_of(each)) for each in _installed(manifest) if _is_named(each)
    ]


def _installed(manifest: Manifest) -> Iterator[Manifest]:
    """The Namespaces among the objects that a baseline installs."""
    objects = mapping_at(manifest, "spec", "values").get("objects")
    for each in objects if isinstance(objects, list) else ():
        if isinstance(each, dict) and each.get("kind") == "Namespace":
            yield each


def _mark(release: Manifest, namespace: Manifest) -> Mark:
    if _is_decommissioned(release) or _has_installed_nothing(release):
        return Mark(is_kept=True, is_freed=True)
    keeps, settled = _annotations(namespace).get(_POLICY) == KEEP[_POLICY], is_settled(release)
    return Mark(is_kept=settled and keeps, is_freed=settled and not keeps)


_POLICY = next(iter(KEEP))


def _annotations(manifest: Manifest) -> Mapping[str, Any]:
    return mapping_at(dict(manifest), "metadata", "annotations")


def _is_written(manifest: Manifest) -> bool:
    """Whether the object is in a plan or in a file, and not on a cluster."""
    return "generation" not in mapping_at(dict(manifest), "metadata")


def _has_installed_nothing(release: Manifest) -> bool:
    """Whether Flux has looked at the release and Helm has never installed it."""
    status = mapping_at(dict(release), "status")
    return not _is_written(release) and "conditions" in status and not status.get("history")


def is_settled(manifest: Manifest) -> bool:
    """Whether Flux is done with an object: it is ready as it is written, or not on a cluster."""
    if _is_written(manifest):
        return True
    status = mapping_at(manifest, "status")
    conditions = status.get("conditions")
    found = conditions if isinstance(conditions, list) else []
    ready = any(
        isinstance(each, dict) and (each.get("type"), each.get("status")) == ("Ready", "True") for each in found
    )
    return ready and status.get("observedGeneration") == mapping_at(manifest, "metadata")["generation"]


def _is_named(manifest: Manifest) -> bool:
    return isinstance(mapping_at(manifest, "metadata").get("name"), str)


def _kubeconfig(id: ObjectId, manifest: Manifest) -> Reference | None:
    references = mapping_at(manifest, "spec", "kubeConfig")
    named = mapping_at(references, "secretRef") or mapping_at(references, "configMapRef")
    name = named.get("name")
    return Reference(id.namespace, name) if isinstance(name, str) else None


_MAPPINGS = (
    ("metadata", "labels"),
    ("spec",),
    ("spec", "kubeConfig"),
    ("status",),
    ("status", "inventory"),
)
_PLANNED_MAPPINGS = _MAPPINGS[:3]
"""Those of an object without a status."""


def _problems(id: ObjectId, manifest: Manifest, app: str) -> Iterator[str]:
    """What the guard cannot read of an object."""
    for path in _MAPPINGS if manifest.get("status") else _PLANNED_MAPPINGS:
        if not isinstance(value_at(manifest, path) or {}, dict):
            yield f"{'.'.join(path)} is not a mapping"
    if not all(map(_is_entry, _entries(manifest))):
        yield "status.inventory.entries has an entry without an id"
    if problem := history_problem(manifest):
        yield problem
    if id.kind == "Namespace" or app:
        return
    if not isinstance(mapping_at(manifest, "spec", "values").get("objects") or [], list):
        yield "spec.values.objects is not a list"
    if not all(map(_is_named, _installed(manifest))):
        yield "spec.values.objects has a Namespace without a name"
