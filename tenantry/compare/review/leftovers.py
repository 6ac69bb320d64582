"""Objects that no setting, state or sentence tells about: with what they belong to, or with their fields as they are."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from tenantry.compare.diff import Changed
from tenantry.compare.fields import Entry, FieldChange
from tenantry.compare.review.gather import Both, Gathered
from tenantry.compare.review.items import Item, Items
from tenantry.compare.review.model import APPS, Effect, Part, PartKind
from tenantry.compare.review.parts import Spot, annotation, kind_and_name
from tenantry.fleet.settings import TIMES
from tenantry.kube.objects import KubeObject, ObjectId
from tenantry.messages.text import grouped
from tenantry.plan.objects.lifecycle import LEAVING

_LEAVING = ("metadata", "annotations", LEAVING)


_HANDED_DOWN = frozenset(
    {("metadata", "annotations"), ("metadata", "labels"), ("spec", "values")}
    | {("spec", key) for key in (*TIMES, "deletionPolicy", "install", "kubeConfig", "patches", "serviceAccountName")}
    | {("spec", key) for key in ("suspend", "upgrade")}
)
"""Fields that follow from what a tenant, the platform or a cluster hands down, and from a state."""


def _given_up(namespace: KubeObject) -> set[str]:
    return set(annotation(namespace.manifest, LEAVING).split(","))


class Leftovers:
    """Takes objects first, and places them when all changes are known."""

    def __init__(self, items: Items, found: Gathered) -> None:
        self.items = items
        self._found = found
        self._left: list[tuple[Spot, Both, bool]] = []

    def take(self, spot: Spot, both: Both, *, replaced: bool = False) -> None:
        """Remember the objects of a part. replaced: whether it has other objects than before."""
        self._left.append((spot, both, replaced))

    def follows(self, objects: Iterable[ObjectId]) -> bool:
        """Whether objects change only where something larger can change them."""
        changed = filter(None, map(self._found.changed.get, objects))
        return all(
            field.path[:2] in _HANDED_DOWN or _is_same_source(field) for each in changed for field in each.fields
        )

    def place(self) -> None:
        """Give all objects to a change."""
        for spot, both, replaced in self._left:
            self._place(spot, both, replaced=replaced)

    def _place(self, spot: Spot, both: Both, *, replaced: bool = False) -> None:
        """Objects of which no word is known: with what they belong to, or with their fields as they are."""
        left = []
        for id in both.objects:
            if larger := self._belongs_to(spot, self._found.changed.get(id)):
                larger.objects.append(id)
            else:
                left.append(id)
        if not left:
            return
        item = self.items.at(spot)
        item.objects += left
        for changed in filter(None, map(self._found.changed.get, left)):
            if [each.path for each in changed.fields] == [_LEAVING]:
                before, after = (", ".join(sorted(_given_up(each))) for each in (changed.before, changed.after))
                item.sentences.append(
                    f"its apps that are marked for removal: {after or 'none'} (before: {before or 'none'})"
                )
                continue
            name = Entry(changed.id.kind if spot.part.kind in APPS else kind_and_name(changed.id))
            item.fields += [FieldChange((name, *field.path), field.before, field.after) for field in changed.fields]
        if replaced:
            item.sentences.append(becomes(spot, self._found) if spot.part.kind in APPS else "its objects are replaced")

    def _belongs_to(self, spot: Spot, changed: Changed | None) -> Item | None:
        """The item that tells why an object changes that has no word of its own."""
        (kind, tenant, _), cluster = spot
        if changed is None:
            return None
        at = {field.path[:2] for field in changed.fields}
        if kind is PartKind.SETTINGS and tenant and at == {("spec", "values")}:
            return self._namespaces.get((tenant, cluster))
        if kind is PartKind.SETTINGS and tenant and [each.path for each in changed.fields] == [_LEAVING]:
            # The Namespace names the apps that were given up, each of which tells it.
            names = _given_up(changed.before) ^ _given_up(changed.after)
            apps = (Spot(Part(PartKind.APP, tenant, name), cluster) for name in sorted(names))
            return next(filter(None, map(self.items.find, apps)), None)
        if at == {("spec", "serviceAccountName")} or (kind is PartKind.SETTINGS and at == {("spec", "chartRef")}):
            return self.items.find(Spot(Part(PartKind.SETTINGS, tenant if kind is PartKind.APP else "", ""), cluster))
        if kind is PartKind.APP and at <= {("spec", "sourceRef"), ("spec", "chartRef")}:
            name = self._found.after.short(changed.after, _source_of(changed.after))
            return self.items.find(Spot(Part(PartKind.SOURCE, tenant, name), cluster))
        if kind is PartKind.ADDON and at == {("spec", "chartRef")}:
            return self.items.find(Spot(Part(PartKind.SETTINGS, "", ""), cluster))
        return None

    @cached_property
    def _namespaces(self) -> dict[tuple[str, str], Item]:
        """For each placement, a change of one of its other namespaces."""
        found: dict[tuple[str, str], Item] = {}
        for item in self.items.all():
            if item.part.kind is PartKind.NAMESPACE:
                found.setdefault((item.part.tenant, item.clusters[0]), item)
        return found

    @cached_property
    def _of_owner(self) -> dict[str, list[Item]]:
        return grouped(self.items.all(), lambda each: each.part.tenant)

    def attach(self, spot: Spot, both: Both) -> None:
        """Service accounts beside kubeconfigs come and go with a tenant or a cluster."""
        effects = {Effect.REMOVED} if both.old else set()
        effects |= {Effect.ADDED} if both.new else set()
        kinds = (PartKind.TENANT, PartKind.SETTINGS) if spot.part.tenant else (PartKind.CLUSTER,)
        own = [each for each in self._of_owner.get(spot.part.tenant, ()) if each.part.kind in kinds]
        own += [each for each in self._of_owner.get("", ()) if each.part.kind is PartKind.CLUSTER]
        if any(id in self._found.changed for id in both.objects) or not own:
            self._place(spot, both)
            fate = "replaced" if len(effects) > 1 else next(iter(effects))
            self.items.say(spot, [f"{id} is {fate}" for id in both.objects if id not in self._found.changed])
        else:
            # Not in the order of the file, so that reordering lines there changes nothing here.
            fitting = [each for each in own if each.effect in effects] or own
            min(fitting, key=lambda each: each.clusters).objects += both.objects


def becomes(spot: Spot, found: Gathered) -> str:
    """What it means that an app stays on its cluster with another object."""
    one, other = found.app_before(spot), found.app_after(spot)
    assert one is not None
    assert other is not None
    if one.id.kind == other.id.kind:
        return "it gets another object: Flux deletes what the old one installed"
    return f"it becomes a {other.id.kind} instead of a {one.id.kind}: Flux deletes what the old one installed"


def _is_same_source(field: FieldChange) -> bool:
    """Whether a reference moves to another object of one source: a shared one has another name if the shard is another."""
    names = (str(field.before), str(field.after))
    is_shared = field.path[1:] in (("sourceRef", "name"), ("chartRef", "name")) and all("." in name for name in names)
    return is_shared and len({name.rpartition(".")[0] for name in names}) == 1


def _source_of(object: KubeObject) -> str:
    """The name of the source's object that an app takes."""
    spec = object.manifest["spec"]
    name: str = (spec.get("sourceRef") or spec["chartRef"])["name"]
    return name
