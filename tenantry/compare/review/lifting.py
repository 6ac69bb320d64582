"""What is told of a whole cluster, a whole tenant or all of its apps, and not of each part again."""

from __future__ import annotations

from collections.abc import Iterator

from tenantry.compare.review.delta import Delta
from tenantry.compare.review.gather import Gathered
from tenantry.compare.review.items import Item, Items
from tenantry.compare.review.model import Effect, Part, PartKind, Setting
from tenantry.compare.review.parts import Spot
from tenantry.compare.review.states import state_of_cluster, state_of_tenant, state_sentences
from tenantry.compare.review.untold import ISOLATION
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
