"""What happens to a part on one cluster, before equal changes on several clusters become one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from tenantry.compare.fields import FieldChange
from tenantry.compare.review.model import Effect, Part, Setting
from tenantry.compare.review.parts import Spot
from tenantry.kube.objects import ObjectId


@dataclass(slots=True)
class Item:
    """clusters: usually one; of the environment as a whole, all of them."""

    part: Part
    clusters: tuple[str, ...]
    effect: Effect
    was: str = ""
    sentences: list[str] = field(default_factory=list)
    settings: list[Setting] = field(default_factory=list)
    fields: list[FieldChange] = field(default_factory=list)
    objects: list[ObjectId] = field(default_factory=list)


class Items:
    """All items, each once for its part, its cluster and its effect."""

    def __init__(self) -> None:
        self._items: dict[tuple[Spot, Effect], Item] = {}

    def at(self, spot: Spot, effect: Effect = Effect.CHANGED) -> Item:
        """The item of a part on a cluster, made when it is first asked for."""
        key = (spot, effect)
        if key not in self._items:
            self._items[key] = Item(spot.part, (spot.cluster,) if spot.cluster else (), effect)
        return self._items[key]

    def find(self, spot: Spot) -> Item | None:
        """The item of a part that changes on a cluster, if there is one."""
        return self._items.get((spot, Effect.CHANGED))

    def say(self, spot: Spot, sentences: Iterable[str], effect: Effect = Effect.CHANGED) -> Item:
        """The item, with these sentences once."""
        item = self.at(spot, effect)
        item.sentences += [each for each in sentences if each not in item.sentences]
        return item

    def set(self, spot: Spot, setting: Setting) -> Item:
        """The item, with this setting once."""
        item = self.at(spot)
        if setting not in item.settings:
            item.settings.append(setting)
        return item

    def all(self) -> list[Item]:
        """Those that say something, or account for an object."""
        return [each for each in self._items.values() if each.objects or each.settings or each.sentences or each.fields]
