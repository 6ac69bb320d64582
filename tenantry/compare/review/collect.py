"""Every object of a difference becomes part of one item: of its own part, or of what is told of something larger.

What is told of a whole cluster, a whole tenant or all of its apps is not told of each part again.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tenantry.compare.moves import Place
from tenantry.compare.review.deltas import Delta, app_delta, object_delta
from tenantry.compare.review.gather import Both, Gathered
from tenantry.compare.review.items import Item, Items, follows
from tenantry.compare.review.leftovers import Leftovers, becomes
from tenantry.compare.review.model import APPS, Effect, Part, PartKind
from tenantry.compare.review.parts import ACTIVE, Side, Spot, State, state_at, state_of_tenant, state_sentences
from tenantry.compare.review.renames import Rename
from tenantry.compare.review.untold import ISOLATION
from tenantry.compare.review.wholes import Wholes, named, what_stays
from tenantry.compare.review.words import Path, changed_keys, changed_settings, said
from tenantry.fleet.settings import TIMES
from tenantry.messages.data import ABSENT


class Larger:
    """What changes of the cluster, the tenant or the platform that a part belongs to. It is told there, and not of the part."""

    def __init__(self, items: Items, found: Gathered) -> None:
        self.items = items
        self._found = found
        self._known: dict[tuple[str, str], tuple[dict[Path, Any], dict[Path, Any]]] = {}

    def keys(self, spot: Spot) -> set[str]:
        """The keys that differ of what is handed down to a part: by the tenant or the platform, and by its cluster."""
        (of_cluster, of_tenant) = self._states(spot)
        state = {"state"} if of_cluster[0] != of_cluster[1] or of_tenant[0] != of_tenant[1] else set()
        return changed_keys(*self._handed_down(spot)) | state

    def _states(self, spot: Spot) -> tuple[tuple[State, State], tuple[State, State]]:
        """The states of the cluster, and those of the tenant there."""
        before, after = self._found.before, self._found.after
        (old_tenant, old_cluster), tenant = self._found.placement_before(spot), spot.part.tenant
        of_cluster = (state_at(before, "clusters", old_cluster), state_at(after, "clusters", spot.cluster))
        if not tenant:
            return of_cluster, (ACTIVE, ACTIVE)
        return of_cluster, (
            state_of_tenant(before, old_tenant, old_cluster),
            state_of_tenant(after, tenant, spot.cluster),
        )

    def _handed_down(self, spot: Spot) -> tuple[dict[Path, Any], dict[Path, Any]]:
        key = (spot.part.tenant, spot.cluster)
        if key not in self._known:
            before = _handed_down(self._found.before, *self._found.placement_before(spot))
            self._known[key] = (before, _handed_down(self._found.after, *key))
        return self._known[key]

    def tell(self, spot: Spot, delta: Delta) -> Iterator[Item]:
        """Tells what is handed down to a part, where it belongs: items for objects of which nothing else is told."""
        (kind, tenant, _), cluster = spot
        of_cluster = Spot(Part(PartKind.CLUSTER, "", cluster), cluster)
        of_owner = Spot(Part(PartKind.SETTINGS, tenant, ""), cluster)
        states = self._states(spot)
        if told := state_sentences(*states[0]):
            yield self.items.say(of_cluster, told)
        elif kind is not PartKind.NAMESPACE and (told := state_sentences(*states[1])):
            yield self.items.say(Spot(Part(PartKind.TENANT, tenant, tenant), cluster), told)
        else:
            of_namespaces = kind in (PartKind.NAMESPACE, PartKind.TENANT)
            delta.sentences += state_sentences(*delta.states, has_data=of_namespaces)
        for setting in changed_settings(*self._handed_down(spot)):
            if setting.key == "shard":
                self.items.say(of_cluster, (_moved_to(setting.after),))
            yield self.items.set(of_owner if setting.key in TIMES else of_cluster, setting)

    def isolation(self, spot: Spot, delta: Delta) -> Item | None:
        """The network policy of a namespace changes when the tenant gets its first other namespace, or loses the last one."""
        (kind, tenant, _), cluster = spot
        if kind is not PartKind.SETTINGS or not delta.fields or not tenant:
            return None
        one, other = (side.placements[tenant, cluster].extra for side in (self._found.before, self._found.after))
        if bool(one) == bool(other):
            return None
        delta.fields = [field for field in delta.fields if field.path[0] != ISOLATION]
        effect = Effect.ADDED if other else Effect.REMOVED
        return self.items.at(Spot(Part(PartKind.NAMESPACE, tenant, (other or one)[0]), cluster), effect)

    def lift_namespaces(self) -> None:
        """What changes in all namespaces of a tenant is told of the tenant."""
        for item in self.items.all():
            (kind, tenant, _), cluster = item.part, item.clusters[0] if item.clusters else ""
            own = self.items.find(Spot(Part(PartKind.SETTINGS, tenant, ""), cluster))
            if kind is not PartKind.NAMESPACE or item.effect is not Effect.CHANGED or own is None:
                continue
            item.settings = [setting for setting in item.settings if setting not in own.settings]
            item.fields = [field for field in item.fields if field not in own.fields]
            if not (item.settings or item.fields or item.sentences):
                own.objects += item.objects
                item.objects = []


def _handed_down(side: Side, tenant: str, cluster: str) -> dict[Path, Any]:
    if not side.declares(tenant, cluster):
        return {}
    return said({**side.documents.handed_down(tenant, cluster), **side.documents.cluster(cluster)})


def _moved_to(shard: Any) -> str:
    """What another label means. Flux keeps what it knows of an object in the object's status, which all shards read."""
    controllers = "without a shard" if shard is ABSENT else f"of shard {shard}"
    return f"Flux's controllers {controllers} take over: nothing is deleted, and sources are fetched again"


class Collector:
    """Fills `items` with what differs."""

    def __init__(self, found: Gathered, renamed: tuple[Rename, ...]) -> None:
        self.items = Items()
        self._found = found
        self._larger = Larger(self.items, found)
        self._leftovers = Leftovers(self.items, found)
        self._wholes = Wholes(found, renamed)

    def run(self) -> None:
        """Collect everything that belongs to a cluster, and then the rest."""
        without_cluster: list[tuple[Spot, Both]] = []
        for spot, both in self._found.spots.items():
            if whole := self._wholes.of(spot):
                self._whole(*whole, both)
                self._beside_whole(spot, both)
            elif spot.cluster:
                self._part(spot, both)
            else:
                without_cluster.append((spot, both))
        self._larger.lift_namespaces()
        self._leftovers.place()
        for spot, both in without_cluster:
            self._leftovers.attach(spot, both)

    # --- wholes -------------------------------------------------------------------------------------------------------

    def _whole(self, whole: Spot, effect: Effect, both: Both) -> None:
        # A cluster may bring no object of its own: what it needs, others have already.
        comes_or_goes = whole.part.kind is PartKind.CLUSTER and effect in (Effect.ADDED, Effect.REMOVED)
        if not both.objects and not comes_or_goes:
            return
        item = self.items.at(whole, effect)
        if not (item.objects or item.sentences):
            item.was = self._wholes.was(whole.part)
            item.sentences += self._wholes.sentences(whole, effect)
        item.objects += both.objects

    def _beside_whole(self, spot: Spot, both: Both) -> None:
        """Settings that change beside what replaces all objects: another name, or for apps another management cluster."""
        names = ((self._found.old_tenants, spot.part.tenant), (self._found.old_clusters, spot.cluster))
        renamed = [(old[name], name) for old, name in names if name in old]
        if not self._wholes.keeps(spot) or not (renamed or spot.part.kind in APPS):
            return
        delta = self._delta_of(spot, both)
        settings = [setting for setting in delta.settings if not follows(setting, renamed)]
        if delta.existed and delta.exists and settings:
            self.items.at(spot).settings += settings

    def _delta_of(self, spot: Spot, both: Both) -> Delta:
        keys = self._larger.keys(spot)
        if spot.part.kind in APPS:
            return app_delta(spot, both, self._found, keys)
        return object_delta(spot, both, self._found, keys)

    # --- parts --------------------------------------------------------------------------------------------------------

    def _part(self, spot: Spot, both: Both) -> None:
        delta = self._delta_of(spot, both)
        if delta.existed and delta.exists:
            self._both_sided(spot, both, delta)
        elif delta.existed or delta.exists:
            self._one_sided(spot, both, delta)
        elif both.objects:
            self._leftovers.take(spot, both)

    def _one_sided(self, spot: Spot, both: Both, delta: Delta) -> None:
        part = spot.part
        if part.kind is PartKind.SETTINGS and part.tenant:
            spot = Spot(Part(PartKind.TENANT, part.tenant, part.tenant), spot.cluster)
        effect = Effect.ADDED if delta.exists else Effect.REMOVED
        item = self.items.at(spot, effect)
        item.objects += both.objects
        item.settings += delta.settings if delta.exists else []
        if part.kind in APPS:
            item.sentences += self._coming_and_going(spot, delta)
        elif part.kind is PartKind.NAMESPACE:
            item.sentences += self._namespace(spot, exists=delta.exists)

    def _namespace(self, spot: Spot, *, exists: bool) -> Iterator[str]:
        if not exists:
            goes = Place(spot.part.tenant, spot.cluster, spot.part.name) in self._wholes.given_up
            yield "everything in it is deleted" if goes else "it is no longer managed, and stays with its data"

    def _coming_and_going(self, spot: Spot, delta: Delta) -> Iterator[str]:
        if delta.exists:
            if origin := self._wholes.came_from(spot):
                yield f"it moves here from {origin}"
            yield from self._shortened(spot)
            return
        app = self._found.app_before(spot)
        assert app is not None
        if target := self._wholes.goes_to(spot):
            yield f"it moves to {target}"
        stays = what_stays(self._found.before.objects[app.id].manifest)
        yield stays or "Flux deletes what it installed"

    def _shortened(self, spot: Spot) -> Iterator[str]:
        """The names of a new app that are too long, without that of the cluster, so that clusters are told of together."""
        app = self._found.app_after(spot)
        for whole in app.shortened.values() if app else ():
            name = whole.replace(f"{spot.cluster}-", "<cluster>-", 1) if whole != spot.part.name else whole
            yield f"the name '{name}' is too long and is shortened: `tenantry explain` shows both"

    def _both_sided(self, spot: Spot, both: Both, delta: Delta) -> None:
        isolation = self._larger.isolation(spot, delta)
        larger = list(self._larger.tell(spot, delta))
        old_name = self._found.old_names.get(tuple(spot.part))
        if old_name:
            item = self.items.at(spot, Effect.RENAMED)
            item.was = old_name
            item.sentences.append(
                f"what it installed as {old_name} is deleted, and installed again as {spot.part.name}"
            )
            item.sentences += self._shortened(spot) if spot.part.kind in APPS else ()
        elif delta.says_nothing:
            if not both.objects:
                return
            target = isolation or self._moved(spot, delta)
            if target is None and larger and self._leftovers.follows(both.objects):
                target = larger[0]
            if target:
                target.objects += both.objects
            else:
                self._leftovers.take(spot, both, replaced=delta.replaced)
            return
        else:
            item = self.items.at(spot)
        if delta.replaced and spot.part.kind in APPS and not old_name and self._moved(spot, delta) is None:
            item.sentences.append(becomes(spot, self._found))
        item.settings += delta.settings
        item.fields += delta.fields
        item.sentences += delta.sentences
        item.objects += both.objects
        if spot.part.kind is PartKind.SOURCE and (users := self._users(spot.part.tenant, both)):
            item.sentences.append(f"{named('app', users)} {'uses' if len(users) == 1 else 'use'} it")

    def _users(self, tenant: str, both: Both) -> list[str]:
        """The apps of a tenant that take a source, or its charts."""
        uses = (app for each in both.after for app in self._found.after.users.get(each.id, ()))
        return list(dict.fromkeys(app.name for app in uses if app.tenant == tenant))

    def _moved(self, spot: Spot, delta: Delta) -> Item | None:
        """What replaces the objects of a part that is the same as before."""
        tenant, cluster = spot.part.tenant, spot.cluster
        if not delta.replaced:
            return None
        if (tenant, cluster) in self._found.moved:
            return self.items.at(Spot(Part(PartKind.SETTINGS, tenant, ""), cluster))
        if cluster in self._found.rehomed:
            return self.items.at(Spot(Part(PartKind.CLUSTER, "", cluster), cluster))
        return None
