"""Every object of a difference becomes part of one item: of its own part, or of what is told of something larger.

What is told of a whole cluster, a whole tenant or all of its apps is not told of each part again.
"""

from __future__ import annotations

from collections.abc import Iterator

from tenantry.compare.review.deltas import Delta, app_delta, object_delta
from tenantry.compare.review.gather import Both, Gathered
from tenantry.compare.review.items import Item, Items, follows
from tenantry.compare.review.leftovers import ACCOUNT, ISOLATION, Leftovers, becomes
from tenantry.compare.review.model import APPS, Effect, Part, PartKind, Setting
from tenantry.compare.review.parts import Spot, state_of_cluster, state_of_tenant, state_sentences
from tenantry.compare.review.renames import Rename
from tenantry.compare.review.wholes import Wholes, named, what_stays
from tenantry.fleet.settings import TIMES
from tenantry.messages.data import ABSENT


class Lifting:
    """Finds the change of something larger that a part belongs to."""

    def __init__(self, items: Items, found: Gathered) -> None:
        self.items = items
        self._found = found

    def targets(self, spot: Spot, delta: Delta) -> Iterator[Item]:
        """The changes that tell a part of the difference, and account for the objects if nothing else differs."""
        yield from self._isolation(spot, delta)
        tenant, cluster = spot.part.tenant, spot.cluster
        of_cluster = Spot(Part(PartKind.CLUSTER, "", cluster), cluster)
        if delta.states[0] != delta.states[1] and (target := self._state(spot, delta)):
            yield target
        if delta.kubeconfigs[0] != delta.kubeconfigs[1]:
            yield self.items.set(of_cluster, Setting("kubeconfig", *(each or ABSENT for each in delta.kubeconfigs)))
        if delta.accounts[0] != delta.accounts[1] and not delta.replaced:
            yield self._account(spot, *delta.accounts)
        if delta.has_other_chart:
            yield self.items.at(Spot(Part(PartKind.SETTINGS, "", ""), cluster))
        if delta.shards[0] != delta.shards[1]:
            to = Spot(Part(PartKind.SETTINGS, tenant, ""), cluster) if tenant else of_cluster
            self.items.say(to, (_moved_to(delta.shards[1]),))
            yield self.items.set(to, Setting("shard", *(each or ABSENT for each in delta.shards)))

    def _account(self, spot: Spot, before: str, after: str) -> Item:
        """Apps run as their tenant, add-ons and baselines as the platform."""
        if spot.part.kind is PartKind.APP:
            return self.items.at(Spot(Part(PartKind.SETTINGS, spot.part.tenant, ""), spot.cluster))
        of_cluster = Spot(Part(PartKind.CLUSTER, "", spot.cluster), spot.cluster)
        return self.items.set(of_cluster, Setting("platformServiceAccount", before, after))

    def _isolation(self, spot: Spot, delta: Delta) -> Iterator[Item]:
        """The network policy of a namespace changes when the tenant gets its first other namespace, or loses the last one."""
        (kind, tenant, _), cluster = spot
        if kind is not PartKind.SETTINGS or not delta.fields or not tenant:
            return
        one, other = (side.placements[tenant, cluster].extra for side in (self._found.before, self._found.after))
        if bool(one) != bool(other):
            delta.fields = [each for each in delta.fields if each.path[0] != ISOLATION]
            effect = Effect.ADDED if other else Effect.REMOVED
            yield self.items.at(Spot(Part(PartKind.NAMESPACE, tenant, (other or one)[0]), cluster), effect)

    def _state(self, spot: Spot, delta: Delta) -> Item | None:
        """Tells another state where it belongs; None: it is the part's own."""
        tenant, cluster = spot.part.tenant, spot.cluster
        sides = (self._found.before, self._found.after)
        one, other = (state_of_cluster(side, cluster) for side in sides)
        if one != other:
            to = Spot(Part(PartKind.CLUSTER, "", cluster), cluster)
            return self.items.say(to, state_sentences(one, other))
        one, other = (state_of_tenant(side, tenant, cluster) for side in sides)
        if tenant and one != other and spot.part.kind is not PartKind.NAMESPACE:
            to = Spot(Part(PartKind.TENANT, tenant, tenant), cluster)
            return self.items.say(to, state_sentences(one, other))
        delta.sentences += [each for each in state_sentences(*delta.states) if each not in delta.sentences]
        return None

    def lift_times(self) -> None:
        """A tenant's interval changes all of its apps: it is told once."""
        own: dict[tuple[str, str], list[Item]] = {}
        for item in self.items.all():
            if item.part.kind is PartKind.APP and item.effect is Effect.CHANGED:
                own.setdefault((item.part.tenant, item.clusters[0]), []).append(item)
        for (tenant, cluster), apps in own.items():
            target = Spot(Part(PartKind.SETTINGS, tenant, ""), cluster)
            for time in TIMES:
                self._lift_time(time, apps, target)

    def _lift_time(self, time: str, apps: list[Item], target: Spot) -> None:
        keys = _keys_of(time)
        found = [each for item in apps for each in item.settings if each.key in keys]
        values = {(repr(each.before), repr(each.after)) for each in found}
        with_it = [item for item in apps if any(each.key in keys for each in item.settings)]
        if len(values) != 1 or len(with_it) < 2:
            return
        shared = self.items.set(target, Setting(time, found[0].before, found[0].after))
        for item in with_it:
            item.settings = [each for each in item.settings if each.key not in keys]
            if not (item.settings or item.fields or item.sentences):
                shared.objects += item.objects
                item.objects = []

    def lift_namespaces(self) -> None:
        """What changes in all namespaces of a tenant is told of the tenant."""
        for item in self.items.all():
            (kind, tenant, _), cluster = item.part, item.clusters[0] if item.clusters else ""
            own = self.items.find(Spot(Part(PartKind.SETTINGS, tenant, ""), cluster))
            if kind is not PartKind.NAMESPACE or item.effect is not Effect.CHANGED or own is None:
                continue
            item.settings = [each for each in item.settings if each not in own.settings]
            item.fields = [each for each in item.fields if each not in own.fields]
            if not (item.settings or item.fields or item.sentences):
                own.objects += item.objects
                item.objects = []


def _moved_to(shard: str) -> str:
    """What another label means. Flux keeps what it knows of an object in the object's status, which all shards read."""
    controllers = f"of shard {shard}" if shard else "without a shard"
    return f"Flux's controllers {controllers} take over: nothing is deleted, and sources are fetched again"


def _keys_of(time: str) -> tuple[str, ...]:
    return (f"kustomize.{time}", f"helm.{time}", time)


class Collector:
    """Fills `items` with what differs."""

    def __init__(self, found: Gathered, renamed: tuple[Rename, ...]) -> None:
        self.items = Items()
        self._found = found
        self._lifting = Lifting(self.items, found)
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
        self._lifting.lift_times()
        self._lifting.lift_namespaces()
        self._leftovers.place()
        for spot, both in without_cluster:
            self._leftovers.attach(spot, both)

    # --- wholes -------------------------------------------------------------------------------------------------------

    def _whole(self, whole: Spot, effect: Effect, both: Both) -> None:
        if not both.objects:
            return
        item = self.items.at(whole, effect)
        if not item.objects:
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
        settings = [each for each in delta.settings if not follows(each, renamed)]
        if delta.existed and delta.exists and settings:
            self.items.at(spot).settings += settings

    def _delta_of(self, spot: Spot, both: Both) -> Delta:
        return app_delta(spot, self._found) if spot.part.kind in APPS else object_delta(spot, both, self._found)

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
        elif not delta.exists and part.kind is PartKind.NAMESPACE:
            goes = (part.tenant, spot.cluster, part.name) in self._wholes.given_up
            item.sentences.append(
                "everything in it is deleted" if goes else "it is no longer managed, and stays with its data"
            )

    def _coming_and_going(self, spot: Spot, delta: Delta) -> Iterator[str]:
        if delta.exists:
            if origin := self._wholes.came_from(spot):
                yield f"it moves here from {origin}"
            return
        app = self._found.app_before(spot)
        assert app is not None
        if target := self._wholes.goes_to(spot):
            yield f"it moves to {target}"
        stays = what_stays(self._found.before.uses.objects[app.id].manifest)
        yield stays or "Flux deletes what it installed"

    def _both_sided(self, spot: Spot, both: Both, delta: Delta) -> None:
        targets = list(self._lifting.targets(spot, delta))
        old_name = self._found.old_names.get(tuple(spot.part))
        if old_name:
            item = self.items.at(spot, Effect.RENAMED)
            item.was = old_name
            item.sentences.append(
                f"what it installed as {old_name} is deleted, and installed again as {spot.part.name}"
            )
        elif delta.says_nothing:
            if not both.objects:
                return
            if targets or (target := self._larger(spot, delta)):
                (targets[0] if targets else target).objects += both.objects  # type: ignore[union-attr]
            else:
                self._leftovers.take(spot, both, replaced=delta.replaced)
            return
        else:
            item = self.items.at(spot)
        if delta.replaced and spot.part.kind in APPS and not old_name and self._larger(spot, delta) is None:
            item.sentences.append(becomes(spot, self._found))
        item.settings += delta.settings
        if any(each.key == "serviceAccount.name" for each in delta.settings):
            delta.fields = [each for each in delta.fields if each.path[0] != ACCOUNT]
        item.fields += delta.fields
        item.sentences += delta.sentences
        item.objects += both.objects
        if spot.part.kind is PartKind.SOURCE and (users := self._users(both)):
            item.sentences.append(f"{named('app', users)} {'uses' if len(users) == 1 else 'use'} it")

    def _users(self, both: Both) -> list[str]:
        """The apps that take a source, or its charts."""
        uses = self._found.after.uses.users
        return list(dict.fromkeys(app.name for each in both.after for app in uses.get(each.id, ())))

    def _larger(self, spot: Spot, delta: Delta) -> Item | None:
        """What replaces the objects of a part that is the same as before."""
        tenant, cluster = spot.part.tenant, spot.cluster
        if not delta.replaced:
            return None
        if (tenant, cluster) in self._found.moved:
            return self.items.at(Spot(Part(PartKind.SETTINGS, tenant, ""), cluster))
        if cluster in self._found.rehomed:
            return self.items.at(Spot(Part(PartKind.CLUSTER, "", cluster), cluster))
        return None
