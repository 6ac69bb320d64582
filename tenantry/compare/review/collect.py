"""Every object of a difference becomes part of one item: of its own part, or of what is told of something larger."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from tenantry.compare.diff import Changed
from tenantry.compare.fields import Entry, FieldChange
from tenantry.compare.review.app_words import TIMES
from tenantry.compare.review.delta import Delta, delta_of
from tenantry.compare.review.gather import Both, Gathered
from tenantry.compare.review.grouping import follows
from tenantry.compare.review.items import Item, Items
from tenantry.compare.review.model import Effect, Part, PartKind, Setting
from tenantry.compare.review.naming import kind_and_name
from tenantry.compare.review.parts import Spot
from tenantry.compare.review.renames import Rename
from tenantry.compare.review.states import ACTIVE, State, cluster_states, state_sentences, tenant_states
from tenantry.compare.review.tenant_words import ACCOUNT, ISOLATION
from tenantry.compare.review.wholes import Wholes, named, what_stays
from tenantry.kube.objects import KubeObject
from tenantry.messages.data import ABSENT

_APPS = (PartKind.APP, PartKind.ADDON)


class Collector:
    """Fills `items` with what differs."""

    def __init__(self, found: Gathered, renamed: tuple[Rename, ...]) -> None:
        self.items = Items()
        self._found = found
        self._states = (cluster_states(found.before.plan), cluster_states(found.after.plan))
        self._wholes = Wholes(found, renamed, self._states[0])
        self._left: list[tuple[Spot, Both, Delta | None]] = []
        self._rehomed = {each.cluster for each in found.diff.rehomed}
        self._moved = {(each.tenant, each.cluster) for each in found.diff.moved}

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
        self._lift_times()
        self._lift_namespaces()
        for left in self._left:
            self._leftover(*left)
        for spot, both in without_cluster:
            self._attach(spot, both)

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
        """Settings of an app that change beside what replaces all of its objects: another name, or management cluster."""
        if spot.part.kind not in _APPS or not self._wholes.keeps(spot):
            return
        delta = delta_of(spot, both, self._found)
        if delta.existed and delta.exists:
            names = ((self._found.old_tenants, spot.part.tenant), (self._found.old_clusters, spot.cluster))
            renamed = [(old[name], name) for old, name in names if name in old]
            if settings := [each for each in delta.settings if not follows(each, renamed)]:
                self.items.at(spot).settings += settings

    # --- parts --------------------------------------------------------------------------------------------------------

    def _part(self, spot: Spot, both: Both) -> None:
        delta = delta_of(spot, both, self._found)
        if delta.existed and delta.exists:
            self._both_sided(spot, both, delta)
        elif delta.existed or delta.exists:
            self._one_sided(spot, both, delta)
        elif both.objects:
            self._left.append((spot, both, None))

    def _one_sided(self, spot: Spot, both: Both, delta: Delta) -> None:
        part = spot.part
        if part.kind is PartKind.SETTINGS and part.tenant:
            spot = Spot(Part(PartKind.TENANT, part.tenant, part.tenant), spot.cluster)
        effect = Effect.ADDED if delta.exists else Effect.REMOVED
        item = self.items.at(spot, effect)
        item.objects += both.objects
        item.settings += delta.settings if delta.exists else []
        if part.kind in _APPS:
            item.sentences += self._coming_and_going(spot, delta)
        elif not delta.exists and part.kind is PartKind.NAMESPACE:
            item.sentences.append("everything in it is deleted")

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
        targets = [*self._lifted(spot, delta), *self._isolation(spot, delta)]
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
                self._left.append((spot, both, delta))
            return
        else:
            item = self.items.at(spot)
        if delta.replaced and spot.part.kind in _APPS and not old_name and self._larger(spot, delta) is None:
            item.sentences.append(self._becomes(spot))
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

    def _becomes(self, spot: Spot) -> str:
        one, other = self._found.app_before(spot), self._found.app_after(spot)
        assert one is not None
        assert other is not None
        if one.id.kind == other.id.kind:
            return "it gets another object: Flux deletes what the old one installed"
        return f"it becomes a {other.id.kind} instead of a {one.id.kind}: Flux deletes what the old one installed"

    def _larger(self, spot: Spot, delta: Delta) -> Item | None:
        """What replaces the objects of a part that is the same as before."""
        tenant, cluster = spot.part.tenant, spot.cluster
        if not delta.replaced:
            return None
        if (tenant, cluster) in self._moved:
            return self.items.at(Spot(Part(PartKind.SETTINGS, tenant, ""), cluster))
        if cluster in self._rehomed:
            return self.items.at(Spot(Part(PartKind.CLUSTER, "", cluster), cluster))
        return None

    def _leftover(self, spot: Spot, both: Both, delta: Delta | None = None) -> None:
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
            name = Entry(changed.id.kind if spot.part.kind in _APPS else kind_and_name(changed.id))
            item.fields += [FieldChange((name, *each.path), each.before, each.after) for each in changed.fields]
        if delta is not None and delta.replaced:
            item.sentences.append(self._becomes(spot) if spot.part.kind in _APPS else "its objects are replaced")

    def _belongs_to(self, spot: Spot, changed: Changed | None) -> Item | None:
        """The item that tells why an object changes that has no word of its own."""
        (kind, tenant, _), cluster = spot
        if changed is None:
            return None
        at = {each.path[:2] for each in changed.fields}
        if kind is PartKind.SETTINGS and tenant and at == {("spec", "values")}:
            return self._namespaces.get((tenant, cluster))
        if kind is PartKind.APP and at <= {("spec", "sourceRef"), ("spec", "chartRef")}:
            name = self._found.after.naming.short(changed.after.owner, _source_of(changed.after))
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

    # --- what is told of something larger -----------------------------------------------------------------------------

    @cached_property
    def _tenant_states(self) -> tuple[dict[str, State], dict[str, State]]:
        before, after = self._found.before.plan, self._found.after.plan
        return tenant_states(before, self._states[0]), tenant_states(after, self._states[1])

    def _lifted(self, spot: Spot, delta: Delta) -> Iterator[Item]:
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
        one, other = (states.get(cluster, ACTIVE) for states in self._states)
        if one != other:
            to = Spot(Part(PartKind.CLUSTER, "", cluster), cluster)
            return self.items.say(to, state_sentences(one, other))
        one, other = (states.get(tenant, ACTIVE) for states in self._tenant_states)
        if tenant and one != other and spot.part.kind is not PartKind.NAMESPACE:
            to = Spot(Part(PartKind.TENANT, tenant, tenant), cluster)
            return self.items.say(to, state_sentences(one, other))
        delta.sentences += [each for each in state_sentences(*delta.states) if each not in delta.sentences]
        return None

    def _lift_times(self) -> None:
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

    def _lift_namespaces(self) -> None:
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

    # --- what belongs to no cluster -----------------------------------------------------------------------------------

    def _attach(self, spot: Spot, both: Both) -> None:
        """Service accounts beside kubeconfigs come and go with a tenant or a cluster."""
        effects = {Effect.REMOVED} if both.old else set()
        effects |= {Effect.ADDED} if both.new else set()
        kinds = (PartKind.TENANT, PartKind.SETTINGS) if spot.part.tenant else (PartKind.CLUSTER,)
        every = self.items.all()
        own = [each for each in every if each.part.kind in kinds and each.part.tenant == spot.part.tenant]
        own += [each for each in every if each.part.kind is PartKind.CLUSTER]
        if any(id in self._found.changed for id in both.objects) or not own:
            self._leftover(spot, both)
            self.items.say(spot, [f"{id} is {_fate(effects)}" for id in both.objects if id not in self._found.changed])
        else:
            # Not in the order of the file, so that reordering lines there changes nothing here.
            fitting = [each for each in own if each.effect in effects] or own
            min(fitting, key=lambda each: each.clusters).objects += both.objects


def _fate(effects: set[Effect]) -> str:
    return "replaced" if len(effects) > 1 else next(iter(effects))


def _keys_of(time: str) -> tuple[str, ...]:
    if time == "retryInterval":
        return (
            "kustomize.retryInterval",
            "helm.install.strategy.retryInterval",
            "helm.upgrade.strategy.retryInterval",
        )
    return (f"kustomize.{time}", f"helm.{time}")


def _source_of(object: KubeObject) -> str:
    """The name of the source's object that an app takes."""
    spec = object.manifest["spec"]
    name: str = (spec.get("sourceRef") or spec["chartRef"])["name"]
    return name
