"""Every object of a difference becomes part of one item: of its own part, or of what is told of something larger."""

from __future__ import annotations

from collections.abc import Iterator

from tenantry.compare.review.delta import APPS, Delta
from tenantry.compare.review.deltas import app_delta, object_delta
from tenantry.compare.review.gather import Both, Gathered
from tenantry.compare.review.grouping import follows
from tenantry.compare.review.items import Item, Items
from tenantry.compare.review.leftovers import Leftovers, becomes
from tenantry.compare.review.lifting import Lifting
from tenantry.compare.review.model import Effect, Part, PartKind
from tenantry.compare.review.parts import Spot
from tenantry.compare.review.renames import Rename
from tenantry.compare.review.untold import ACCOUNT
from tenantry.compare.review.wholes import Wholes, named, what_stays


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
