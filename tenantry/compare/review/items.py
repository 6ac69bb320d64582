"""What happens to a part on one cluster; and equal changes on several clusters, which become one in linear time."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tenantry.compare.fields import FieldChange
from tenantry.compare.review.model import Change, Effect, Part, PartKind, Setting
from tenantry.compare.review.parts import Spot
from tenantry.kube.objects import ObjectId
from tenantry.messages.data import with_texts
from tenantry.messages.text import grouped, listed


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
        item.sentences += [sentence for sentence in sentences if sentence not in item.sentences]
        return item

    def set(self, spot: Spot, setting: Setting) -> Item:
        """The item, with this setting once."""
        item = self.at(spot)
        if setting not in item.settings:
            item.settings.append(setting)
        return item

    def all(self) -> list[Item]:
        """Those that say something, or account for an object."""
        return [item for item in self._items.values() if item.objects or item.settings or item.sentences or item.fields]


def changes(items: Iterable[Item], of: Callable[[Part], int], order: dict[str, int]) -> list[Change]:
    """The changes of all items. Args: of: on how many clusters a part is; order: of clusters."""
    found: dict[object, tuple[Item, list[Item]]] = {}
    for key, group in grouped(items, _key).items():
        example = group[0]
        at: object = key
        if len(group) == 1 and len(example.clusters) == 1:
            # Values often contain the name of the cluster.
            filled = _without_cluster(example)
            at = ("filled", key if filled is example else _key(filled))
            if at in found:
                found[at] = (filled, found[at][1])
                found[at][1].append(example)
                continue
        found[at] = (example, list(group))
    told: set[ObjectId] = set()
    made = [_change(example, members, of, order) for example, members in found.values()]
    return [_once(change, told) for change in made]


def _once(change: Change, told: set[ObjectId]) -> Change:
    """The change without objects that an earlier one accounts for: clusters share some. told: is added to."""
    own = tuple(id for id in change.objects if id not in told)
    told.update(own)
    return change if own == change.objects else replace(change, objects=own)


def _change(example: Item, members: Sequence[Item], of: Callable[[Part], int], order: dict[str, int]) -> Change:
    clusters = sorted(
        {cluster for member in members for cluster in member.clusters}, key=lambda each: order.get(each, 0)
    )
    part = _part(example)
    if part.kind is PartKind.CLUSTER and not part.name:
        part = part._replace(name=listed(clusters))
    return Change(
        part=part,
        effect=example.effect,
        was=example.was,
        clusters=tuple(clusters),
        of=max(of(example.part), len(clusters)),
        sentences=tuple(example.sentences),
        settings=tuple(example.settings),
        fields=tuple(example.fields),
        objects=tuple(dict.fromkeys(id for each in members for id in each.objects)),
    )


def _key(item: Item) -> tuple[object, ...]:
    """What is the same in equal changes."""
    return (_part(item), item.effect, item.was, tuple(item.sentences), repr(item.settings), repr(item.fields))


def _part(item: Item) -> Part:
    """The part, but for a cluster: those to which the same happens are told together."""
    return item.part._replace(name="") if item.part.kind is PartKind.CLUSTER and not item.was else item.part


def _without_cluster(item: Item) -> Item:
    """The item with `{cluster}` in its values for the name of its cluster."""
    (cluster,) = item.clusters
    if cluster not in repr((item.settings, item.fields)):
        return item
    name = _pattern(cluster)
    settings = [
        Setting(setting.key, _filled(setting.before, name), _filled(setting.after, name)) for setting in item.settings
    ]
    fields = [FieldChange(field.path, _filled(field.before, name), _filled(field.after, name)) for field in item.fields]
    return replace(item, settings=settings, fields=fields)


def follows(setting: Setting, renamed: Iterable[tuple[str, str]]) -> bool:
    """Whether a value changes only because it contains a name that changes. renamed: names before and after."""
    before, after = setting.before, setting.after
    for old, new in renamed:
        before, after = _filled(before, _pattern(old)), _filled(after, _pattern(new))
    return bool(before == after)


def _pattern(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![a-zA-Z0-9-]){re.escape(name)}(?![a-zA-Z0-9])")


def _filled(value: Any, name: re.Pattern[str]) -> Any:
    return with_texts(value, lambda text: name.sub("{cluster}", text))
