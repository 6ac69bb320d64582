"""The objects of a difference by part and cluster, with both of their sides."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from tenantry.compare.diff import Changed, Diff
from tenantry.compare.review.model import Part, PartKind
from tenantry.compare.review.parts import Side, Spot, is_shared, label, part_of
from tenantry.compare.review.renames import Rename
from tenantry.kube.objects import KubeObject, Manifest, ObjectId, object_id
from tenantry.messages.data import mapping_at
from tenantry.plan.objects.scope import APP_LABEL, WATCHED
from tenantry.plan.planned_apps import PlannedApp


@dataclass(slots=True)
class Both:
    """What differs of a part on a cluster.

    old, new: manifests in namespaces, those that releases install included; before, after: all other objects.
    objects: those that this part accounts for.
    """

    before: list[KubeObject] = field(default_factory=list)
    after: list[KubeObject] = field(default_factory=list)
    old: list[Manifest] = field(default_factory=list)
    new: list[Manifest] = field(default_factory=list)
    objects: list[ObjectId] = field(default_factory=list)


class Gathered:
    """spots: in the order of the plans. changed: the changed objects by identity.

    moved: placements whose main namespace is another one. rehomed: clusters whose objects move to another namespace.
    """

    def __init__(self, diff: Diff, before: Side, after: Side, renamed: Sequence[Rename]) -> None:
        self.diff = diff
        self.before = before
        self.after = after
        self.changed: dict[ObjectId, Changed] = {each.id: each for each in diff.changed}
        self.moved = {(each.tenant, each.cluster) for each in diff.moved}
        self.rehomed = {each.cluster for each in diff.rehomed}
        self.spots: dict[Spot, Both] = {}
        self.renamed: dict[tuple[PartKind, str, str], str] = {
            (each.kind, each.tenant, each.before): each.after
            for each in renamed
            if each.kind in (PartKind.APP, PartKind.ADDON)
        }
        self.old_names: dict[tuple[object, ...], str] = {
            (kind, tenant, new): old for (kind, tenant, old), new in self.renamed.items()
        }
        self.old_tenants = {each.after: each.before for each in renamed if each.kind is PartKind.TENANT}
        self.old_clusters = {each.after: each.before for each in renamed if each.kind is PartKind.CLUSTER}
        self.new_tenants = {old: new for new, old in self.old_tenants.items()}
        self.new_clusters = {old: new for new, old in self.old_clusters.items()}
        self._gather()
        self._touch_dependents()

    def app_before(self, spot: Spot) -> PlannedApp | None:
        """The app as it was, under the former names of itself, its tenant and its cluster."""
        kind, tenant, name = spot.part
        name = self.old_names.get((kind, tenant, name), name)
        return self.before.apps.get((*self.placement_before(spot), name))

    def placement_before(self, spot: Spot) -> tuple[str, str]:
        """The tenant and the cluster of a part, under their former names."""
        tenant, cluster = spot.part.tenant, spot.cluster
        return self.old_tenants.get(tenant, tenant), self.old_clusters.get(cluster, cluster)

    def app_after(self, spot: Spot) -> PlannedApp | None:
        return self.after.apps.get((spot.part.tenant, spot.cluster, spot.part.name))

    def _gather(self) -> None:
        diff = self.diff
        for changed in diff.changed:
            if is_shared(changed.after):
                continue
            old, new = self._old_spot(changed.before), self.after.spot_of(changed.after)
            before, after = _installed(changed.before), _installed(changed.after)
            if before and after:
                before, after = _changed_manifests(before, after)
            self._put_before(changed.before, old, before)
            self._put_after(changed.after, new, after)
            self.at(new).objects.append(changed.id)
            self._touch_users(changed.after)
        told: set[ObjectId] = set()
        for object in diff.added.objects:
            if is_shared(object):
                continue
            spot = self.after.spot_of(object)
            self._put_after(object, spot, _installed(object))
            self.at(spot).objects.append(object.id)
            told.add(object.id)
        for object in diff.removed.objects:
            if is_shared(object):
                continue
            spot = self._old_spot(object)
            self._put_before(object, spot, _installed(object))
            if object.id not in told:  # on another management cluster everything is removed and added
                self.at(spot).objects.append(object.id)
        self._gather_shared()

    def _gather_shared(self) -> None:
        """What clusters share has another name with another content. On each cluster it is the same part with both sides."""
        diff = self.diff
        differing = {each.id for each in (*diff.added.objects, *diff.removed.objects)} | self.changed.keys()
        old_spots = {self._renamed(spot): objects for spot, objects in self.before.shared.items()}
        for spot in dict.fromkeys((*old_spots, *self.after.shared)):
            before, after = old_spots.get(spot, []), self.after.shared.get(spot, [])
            ids = dict.fromkeys(each.id for each in (*after, *before))
            told = [id for id in ids if id in differing]
            moved = before and after and {each.id for each in before} != {each.id for each in after}
            former = self.old_clusters.get(spot.cluster, spot.cluster)
            is_known = spot.cluster in self.after.clusters and former in self.before.clusters
            if told or moved or not is_known:
                both = self.at(spot)
                both.before += before
                both.after += after
                both.objects += told

    def _put_before(self, object: KubeObject, spot: Spot, manifests: list[Manifest]) -> None:
        if is_plain(object):
            self.at(spot).old.append(object.manifest)
            return
        self.at(spot).before.append(object)
        placement = self.placement_before(spot)
        for manifest in manifests:
            self.at(_spot_within(manifest, spot, self.before, placement)).old.append(manifest)

    def _put_after(self, object: KubeObject, spot: Spot, manifests: list[Manifest]) -> None:
        if is_plain(object):
            self.at(spot).new.append(object.manifest)
            return
        self.at(spot).after.append(object)
        for manifest in manifests:
            self.at(_spot_within(manifest, spot, self.after, (spot.part.tenant, spot.cluster))).new.append(manifest)

    def _old_spot(self, object: KubeObject) -> Spot:
        """The part that the object belonged to, under the names that the part, its tenant and its cluster have now."""
        return self._renamed(self.before.spot_of(object))

    def _renamed(self, spot: Spot) -> Spot:
        (kind, tenant, name), cluster = spot
        part = Part(kind, self.new_tenants.get(tenant, tenant), self.renamed.get((kind, tenant, name), name))
        return Spot(part, self.new_clusters.get(cluster, cluster))

    def at(self, spot: Spot) -> Both:
        return self.spots.setdefault(spot, Both())

    def _touch_dependents(self) -> None:
        """Flux orders objects of one kind only, so another dependency may change no object of the app itself."""
        for where, placement in self.after.placements.items():
            was = self.before.placements.get(where)
            if was is not None and list(was.after) != list(placement.after):
                self.at(Spot(Part(PartKind.SETTINGS, placement.tenant, ""), placement.cluster))
        for key, app in self.after.apps.items():
            before = self.before.apps.get(key)
            if before is not None and list(before.after) != list(app.after):
                self.at(Spot(part_of(app), app.cluster))

    def _touch_users(self, object: KubeObject) -> None:
        """Several apps can take one chart. It is accounted for with the first, and its settings are those of all."""
        if object.id.kind == "HelmChart":
            for app in self.after.users.get(object.id, ()):
                self.at(Spot(part_of(app), app.cluster))


def is_plain(object: KubeObject) -> bool:
    """Whether an object is none of Flux's, and holds no credentials or config for Flux."""
    of_flux = ".toolkit.fluxcd.io/" in object.id.api_version
    return not of_flux and not is_attached(object)


def is_attached(object: KubeObject) -> bool:
    """Whether an object holds credentials or a config, and was not declared under `objects`."""
    if object.id.kind not in ("Secret", "ConfigMap"):
        return False
    (key,) = WATCHED
    return object.secret is not None or bool(label(object.manifest, key))


def _installed(object: KubeObject) -> list[Manifest]:
    """The objects that a release of the chart of baselines installs."""
    if object.id.kind != "HelmRelease" or label(object.manifest, APP_LABEL):
        return []
    objects: list[Manifest] = mapping_at(object.manifest, "spec", "values").get("objects", [])
    return objects


def _changed_manifests(before: Iterable[Manifest], after: Iterable[Manifest]) -> tuple[list[Manifest], list[Manifest]]:
    """The manifests of each side that the other side lacks, or has with another content."""
    old, new = ({object_id(each): each for each in side} for side in (before, after))
    differ = {id for id in old.keys() & new.keys() if repr(old[id]) == repr(new[id])}
    return [each for id, each in old.items() if id not in differ], [
        each for id, each in new.items() if id not in differ
    ]


def _spot_within(manifest: Manifest, spot: Spot, side: Side, placement: tuple[str, str]) -> Spot:
    """The part that an installed object belongs to: a tenant's release installs the objects of all of its namespaces.

    Args: placement: the tenant and the cluster as that side calls them.
    """
    if spot.part.kind is not PartKind.SETTINGS:
        return spot
    name = (
        manifest["metadata"]["name"] if manifest["kind"] == "Namespace" else manifest["metadata"].get("namespace", "")
    )
    return Spot(side.namespace_part(*placement, name)._replace(tenant=spot.part.tenant), spot.cluster)
