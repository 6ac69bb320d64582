"""Finds out what a management cluster holds of an environment.

In a tenant's namespace the Namespace says whose everything is, and the plan and the stack's state say what the fleet has there. The
labels of the objects say nothing: the tenant can change them, and can make others like them. Elsewhere the labels count.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field, replace

from tenantry.guard.facts import (
    has_applied_nothing,
    has_suspend,
    installed_in,
    installed_namespaces,
    is_decommissioned,
    is_named,
    is_suspended,
    kubeconfig_of,
    mark_of,
    namespaces_in,
    note_kubeconfig,
    problems_of,
)
from tenantry.guard.held import READ, Held, HeldApp
from tenantry.guard.places import Places, TenantsPlace, Whose, label, whose
from tenantry.guard.targets import live_target
from tenantry.kube.objects import Manifest, ObjectId, labels_of, readable_id
from tenantry.messages.text import printable
from tenantry.plan.objects.lifecycle import is_given_up, is_marked
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
    reading.found.marked.update(key for key, is_marked in reading.marked.items() if is_marked)
    return reading.found


def held_by(plan: Plan) -> Held:
    """What the management cluster holds once a plan is applied."""
    if "held" not in plan.derived:
        objects = (planned.manifest for planned in plan.objects if planned.id.kind in READ)
        plan.derived["held"] = held(objects, plan.environment)
    by_plan: Held = plan.derived["held"]
    return by_plan


@dataclass(slots=True)
class _Reading:
    """Collects what objects say. Whatever is malformed is noted, and the rest is read.

    marked: of namespaces, whether all that says something of one lets a run remove it.
    """

    environment: str
    places: Places
    known: Known | None
    found: Held = field(default_factory=Held)
    marked: dict[tuple[str, str, str], bool] = field(default_factory=dict)

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
                note_kubeconfig(id, manifest, labels.cluster, self.found.others_kubeconfigs)
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
            self._read_app(id, manifest, place)
        elif not is_labelled:
            self._add_stranger(id, manifest)
        elif self.known and self.places.puts(manifest, labels):
            self.found.unknown[id] = place.whose.tenant
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

    def _read_app(self, id: ObjectId, manifest: Manifest, place: TenantsPlace) -> None:
        """In a tenant's namespace the object of an app is called like the app."""
        self.found.malformed.update(f"{id}: {printable(problem)}" for problem in problems_of(id, manifest, id.name))
        leaving = place.gives_up(id.name)
        self._note_app(id, manifest, place.whose, id.name, leaving=leaving, suspended=has_suspend(manifest))
        self._note_target(id, manifest, leaving=leaving)

    def _read(self, id: ObjectId, manifest: Manifest, labels: Whose) -> None:
        _, tenant, cluster = labels
        app = "" if id.kind == "Namespace" else label(labels_of(manifest), APP_LABEL)
        self.found.malformed.update(f"{id}: {printable(problem)}" for problem in problems_of(id, manifest, app))
        leaving, suspended = is_marked(manifest), is_suspended(manifest)
        if app:
            self._note_app(id, manifest, labels, app, leaving=leaving, suspended=suspended)
        else:
            self._note_namespaces(id, manifest, labels)
            if tenant and suspended:
                self.found.frozen.add((tenant, cluster))
        self._note_target(id, manifest, leaving=leaving if app else is_given_up(manifest))
        for namespace in () if app else (manifest,) if id.kind == "Namespace" else installed_namespaces(manifest):
            if is_named(namespace):
                self._note_namespace(id, manifest, namespace, labels)
        note_kubeconfig(id, manifest, cluster, self.found.kubeconfigs)

    def _note_app(
        self, id: ObjectId, manifest: Manifest, whose: Whose, name: str, *, leaving: bool, suspended: bool
    ) -> None:
        self.found.apps[id] = HeldApp(
            tenant=whose.tenant,
            cluster=whose.cluster,
            name=name,
            leaving=leaving,
            suspended=suspended,
            installed=installed_in(manifest),
            unapplied=has_applied_nothing(manifest),
        )

    def _note_namespaces(self, id: ObjectId, manifest: Manifest, labels: Whose) -> None:
        for name, own in namespaces_in(id, manifest):
            key = (labels.tenant, labels.cluster, name)
            gone = is_given_up(manifest) or is_given_up(own)
            self.marked[key] = self.marked.get(key, True) and (is_marked(manifest) or is_marked(own))
            if labels.tenant:
                self.found.namespaces[key] = self.found.namespaces.get(key, True) and gone
            else:
                self.found.addon_namespaces[key[1:]] = gone

    def _note_namespace(self, id: ObjectId, manifest: Manifest, namespace: Manifest, labels: Whose) -> None:
        """What a Namespace, or a release that installs one, says of it."""
        place = (labels.cluster, namespace["metadata"]["name"])
        if id.kind != "Namespace":
            self.found.marks[place] = mark_of(manifest, namespace)
        if not labels.tenant:
            self.found.addons[place] = label(labels_of(namespace), APP_LABEL)
        reference = kubeconfig_of(id, manifest)
        if reference and not (is_decommissioned(manifest) and has_suspend(manifest)):
            self.found.installers.setdefault((reference, place[1]), set()).add(id)

    def _note_target(self, id: ObjectId, manifest: Manifest, *, leaving: bool) -> None:
        if id.kind in READ and (target := live_target(manifest)):
            self.found.targets[id] = replace(target, leaving=leaving)
