"""Finds out what a management cluster holds of an environment.

In a tenant's namespace the Namespace says whose everything is, and the plan and the stack's state say what the fleet has there. The
labels of the objects say nothing: the tenant can change them, and can make others like them. Elsewhere the labels count.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tenantry.guard.held import READ, Held, HeldApp, HeldNamespace, Mark, Reference
from tenantry.guard.places import Places, TenantsPlace, Whose, label, whose
from tenantry.guard.reinstalls import history_problem, live_target
from tenantry.kube.objects import Manifest, ObjectId, labels_of, readable_id
from tenantry.messages.data import mapping_at, value_at
from tenantry.messages.text import printable
from tenantry.plan.objects.lifecycle import KEEP, STATE_LABEL, is_given_up, is_marked
from tenantry.plan.objects.scope import APP_LABEL
from tenantry.plan.plan import Plan


@dataclass(frozen=True, slots=True)
class Known:
    """What the fleet itself has. planned: the objects of the whole environment's plan.

    in_state: whether the states of the stacks that run it have an object. proven: whether no tenant can have given an object the
    labels that it has. Both are asked only about what labels and the plan leave open.
    """

    planned: Collection[ObjectId]
    in_state: Callable[[ObjectId], bool]
    proven: Callable[[Manifest], bool] = lambda _: False


def held(manifests: Iterable[Manifest], environment: str, known: Known | None = None) -> Held:
    """What Namespaces, Kustomizations and HelmReleases of an environment stand for; of others only who they are.

    Args: manifests: with all Namespaces, because these say whose the other objects are.
          known: None: the objects are a plan's or files, which no tenant writes, so their labels count everywhere.
    """
    objects = list(manifests)
    reading = _Reading(environment, Places(objects), known)
    for manifest in objects:
        reading.add(manifest)
    return reading.found


def namespaces_of(plan: Plan) -> dict[tuple[str, str, str], str]:
    """The namespaces of a plan, by (tenant, cluster, name); without a tenant, with the add-on."""
    of_addons = {key: namespace.addon for key, namespace in held_by(plan).namespaces.items() if not key[0]}
    return dict.fromkeys(plan.namespaces, "") | of_addons


def held_by(plan: Plan) -> Held:
    """What the management cluster holds once a plan is applied."""
    if "held" not in plan.derived:
        objects = (planned.manifest for planned in plan.objects if planned.id.kind in READ)
        plan.derived["held"] = held(objects, plan.environment)
    by_plan: Held = plan.derived["held"]
    return by_plan


@dataclass(slots=True)
class _Reading:
    """Collects what objects say. Whatever is malformed is noted, and the rest is read."""

    environment: str
    places: Places
    known: Known | None
    found: Held = field(default_factory=Held)

    def add(self, manifest: Manifest) -> None:
        id, labels = readable_id(manifest), whose(manifest)
        if id is None:
            self.found.malformed.add("an object without a kind or name")
            return
        place = self.places.tenants(manifest)
        if place and place.whose.environment == self.environment:
            self._add_tenants(id, manifest, labels, place)
        elif labels.environment != self.environment:
            self._add_stranger(id, manifest)
            if id.kind in READ and labels.cluster and self.places.puts(manifest, labels):
                _note_kubeconfig(id, manifest, labels.cluster, self.found.others_kubeconfigs)
        elif id.kind not in READ or not labels.cluster:
            return
        elif id.kind == "Namespace" or self.places.puts(manifest, labels):
            self._read(id, manifest, labels)
        else:
            self.found.misplaced.add(id)

    def _add_tenants(self, id: ObjectId, manifest: Manifest, labels: Whose, place: TenantsPlace) -> None:
        """An object in a tenant's namespace, with labels that prove nothing."""
        is_labelled = labels.environment == self.environment
        if id.kind not in READ:
            if not is_labelled and not self._is_known(id):
                self._add_stranger(id, manifest)
        elif self._stands_for_an_app(id, manifest, labels):
            # The object of an app is called like the app here.
            leaving, suspended = place.gives_up(id.name), _has_suspend(manifest)
            self._note_app(id, manifest, place.whose, id.name, leaving=leaving, suspended=suspended)
            self._note_target(id, manifest, leaving=leaving)
        elif not is_labelled:
            self._add_stranger(id, manifest)
        else:
            self.found.misplaced.add(id)

    def _stands_for_an_app(self, id: ObjectId, manifest: Manifest, labels: Whose) -> bool:
        is_alike = self.places.puts(manifest, labels)
        if self.known is None:
            return is_alike
        if (is_alike and id in self.known.planned) or self._is_known(id):
            return True
        # A run that was interrupted has made it, and this one would delete it.
        return is_alike and self.known.proven(manifest)

    def _is_known(self, id: ObjectId) -> bool:
        return self.known is not None and self.known.in_state(id)

    def _add_stranger(self, id: ObjectId, manifest: Manifest) -> None:
        self.found.strangers.add(id)
        self._note_target(id, manifest, leaving=is_given_up(manifest))

    def _read(self, id: ObjectId, manifest: Manifest, labels: Whose) -> None:
        _, tenant, cluster = labels
        leaving, suspended = is_marked(manifest), _has_suspend(manifest) and not _is_decommissioned(manifest)
        if id.kind != "Namespace" and (app := label(labels_of(manifest), APP_LABEL)):
            self._note_app(id, manifest, labels, app, leaving=leaving, suspended=suspended)
            self._note_target(id, manifest, leaving=leaving)
        else:
            self._note_problems(id, manifest, "")
            for namespace in (manifest,) if id.kind == "Namespace" else _installed_namespaces(manifest):
                if _is_named(namespace):
                    self._note_namespace(id, manifest, namespace, labels)
            if tenant and suspended:
                self.found.frozen.add((tenant, cluster))
            self._note_target(id, manifest, leaving=is_given_up(manifest))
        _note_kubeconfig(id, manifest, cluster, self.found.kubeconfigs)

    def _note_app(
        self, id: ObjectId, manifest: Manifest, whose: Whose, name: str, *, leaving: bool, suspended: bool
    ) -> None:
        self._note_problems(id, manifest, name)
        self.found.apps[id] = HeldApp(
            tenant=whose.tenant,
            cluster=whose.cluster,
            name=name,
            leaving=leaving,
            suspended=suspended,
            installed=_installed_in(manifest),
            unapplied=has_applied_nothing(manifest),
        )

    def _note_namespace(self, id: ObjectId, manifest: Manifest, namespace: Manifest, labels: Whose) -> None:
        """What a Namespace, or a release that installs one, says of it. It is given up, or marked, if everything says so."""
        _, tenant, cluster = labels
        name = namespace["metadata"]["name"]
        before = self.found.namespaces.get((tenant, cluster, name), HeldNamespace(leaving=True, marked=True))
        self.found.namespaces[tenant, cluster, name] = HeldNamespace(
            leaving=before.leaving and (is_given_up(manifest) or is_given_up(namespace)),
            marked=before.marked and (is_marked(manifest) or is_marked(namespace)),
            addon="" if tenant else label(labels_of(namespace), APP_LABEL),
            mark=before.mark if id.kind == "Namespace" else _mark_of(manifest, namespace),
        )
        reference = _kubeconfig_of(id, manifest)
        if reference and not (_is_decommissioned(manifest) and _has_suspend(manifest)):
            self.found.installers.setdefault((reference, name), set()).add(id)

    def _note_problems(self, id: ObjectId, manifest: Manifest, app: str) -> None:
        self.found.malformed.update(f"{id}: {printable(problem)}" for problem in _problems_of(id, manifest, app))

    def _note_target(self, id: ObjectId, manifest: Manifest, *, leaving: bool) -> None:
        if id.kind in READ and (target := live_target(manifest)):
            self.found.targets[id] = replace(target, leaving=leaving)


# --- what a single object says ------------------------------------------------------------------------------------------


def _note_kubeconfig(
    id: ObjectId, manifest: Manifest, cluster: str, kubeconfigs: dict[tuple[str, Reference], bool]
) -> None:
    """Take what an object of a cluster says into `Held.kubeconfigs`."""
    if reference := _kubeconfig_of(id, manifest):
        abandoned = _is_decommissioned(manifest) and _has_suspend(manifest)
        kubeconfigs[cluster, reference] = kubeconfigs.get((cluster, reference), True) and abandoned


def _kubeconfig_of(id: ObjectId, manifest: Manifest) -> Reference | None:
    references = mapping_at(manifest, "spec", "kubeConfig")
    named = mapping_at(references, "secretRef") or mapping_at(references, "configMapRef")
    name = named.get("name")
    return Reference(id.namespace, name) if isinstance(name, str) else None


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


def _installed_namespaces(manifest: Manifest) -> Iterator[Manifest]:
    """The Namespaces among the objects that a baseline installs."""
    objects = mapping_at(manifest, "spec", "values").get("objects")
    for manifest in objects if isinstance(objects, list) else ():
        if isinstance(manifest, dict) and manifest.get("kind") == "Namespace":
            yield manifest


def _mark_of(release: Manifest, namespace: Manifest) -> Mark:
    status = mapping_at(dict(release), "status")
    # Flux has looked at the release, and Helm has never installed it.
    has_installed_nothing = not _is_written(release) and "conditions" in status and not status.get("history")
    if _is_decommissioned(release) or has_installed_nothing:
        return Mark(is_kept=True, is_freed=True)
    keeps = KEEP.items() <= mapping_at(dict(namespace), "metadata", "annotations").items()
    settled = is_settled(release)
    return Mark(is_kept=settled and keeps, is_freed=settled and not keeps)


def _is_written(manifest: Manifest) -> bool:
    """Whether the object is in a plan or in a file, and not on a cluster."""
    return "generation" not in mapping_at(dict(manifest), "metadata")


_NOTHING: tuple[Any, ...] = (None, {}, {"entries": None}, {"entries": []})
"""Inventories of a Kustomization that has applied nothing."""


def has_applied_nothing(manifest: Manifest) -> bool:
    """Whether Flux's status proves that it has tried to apply the object, that this failed, and that it recorded nothing for it.

    Flux deletes with an object what the status lists, so the deletion of this one deletes nothing else. A status that is missing
    or cannot be read proves nothing. Nor does that of an attempt under way: Flux records only afterwards what that has applied.
    """
    status = mapping_at(dict(manifest), "status")
    if _readiness(status) != ["False"]:
        return False
    if manifest.get("kind") == "HelmRelease":
        return not any(status.get(key) for key in ("history", "lastAppliedRevision", "lastReleaseRevision"))
    # Its history lists failed attempts too.
    return status.get("inventory") in _NOTHING and not status.get("lastAppliedRevision")


def is_settled(manifest: Manifest) -> bool:
    """Whether Flux is done with an object: it is ready as it is written, or not on a cluster."""
    status, metadata = (mapping_at(dict(manifest), key) for key in ("status", "metadata"))
    if _is_written(manifest):
        return True
    return "True" in _readiness(status) and status.get("observedGeneration") == metadata["generation"]


def _readiness(status: Mapping[str, Any]) -> list[Any]:
    """The states of the conditions of type Ready, of which there is one; empty if the conditions are malformed."""
    conditions = status.get("conditions")
    if not isinstance(conditions, list) or not all(isinstance(condition, dict) for condition in conditions):
        return []
    return [condition.get("status") for condition in conditions if condition.get("type") == "Ready"]


def _is_named(manifest: Manifest) -> bool:
    return isinstance(mapping_at(manifest, "metadata").get("name"), str)


_MAPPINGS = (("metadata", "labels"), ("spec",), ("spec", "kubeConfig"), ("status",), ("status", "inventory"))


def _problems_of(id: ObjectId, manifest: Manifest, app: str) -> Iterator[str]:
    """What the guard cannot read of an object."""
    for path in _MAPPINGS if manifest.get("status") else _MAPPINGS[:3]:
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
    if not all(map(_is_named, _installed_namespaces(manifest))):
        yield "spec.values.objects has a Namespace without a name"
