"""Equal changes on several clusters become one. This takes linear time: fleets have hundreds of clusters."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from tenantry.compare.fields import FieldChange
from tenantry.compare.review.items import Item
from tenantry.compare.review.model import Change, Part, Setting
from tenantry.messages.text import grouped


def changes(items: Iterable[Item], of: Callable[[Part], int], order: dict[str, int]) -> list[Change]:
    """The changes of all items. Args: of: on how many clusters a part is; order: of clusters."""
    exact = list(grouped(items, _key).values())
    single = [group for group in exact if len(group) == 1 and len(group[0].clusters) == 1]
    alike = grouped(single, lambda group: _key(_without_cluster(group[0])))
    found: list[Change] = []
    for group in exact:
        if len(group) == 1 and len(group[0].clusters) == 1:
            # Values often contain the name of the cluster.
            others = alike.pop(_key(_without_cluster(group[0])), None)
            if others is None:
                continue
            members = [each for other in others for each in other]
            example = _without_cluster(group[0]) if len(members) > 1 else group[0]
        else:
            members, example = group, group[0]
        found.append(_change(example, members, of, order))
    return found


def _change(example: Item, members: Sequence[Item], of: Callable[[Part], int], order: dict[str, int]) -> Change:
    clusters = sorted({cluster for each in members for cluster in each.clusters}, key=lambda each: order.get(each, 0))
    return Change(
        part=example.part,
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
    return (item.part, item.effect, item.was, tuple(item.sentences), repr(item.settings), repr(item.fields))


def _without_cluster(item: Item) -> Item:
    """The item with `{cluster}` in its values for the name of its cluster."""
    (cluster,) = item.clusters
    if cluster not in repr((item.settings, item.fields)):
        return item
    name = re.compile(rf"(?<![a-zA-Z0-9-]){re.escape(cluster)}(?![a-zA-Z0-9])")
    settings = [Setting(each.key, _filled(each.before, name), _filled(each.after, name)) for each in item.settings]
    fields = [FieldChange(each.path, _filled(each.before, name), _filled(each.after, name)) for each in item.fields]
    return replace(item, settings=settings, fields=fields)


def _filled(value: Any, name: re.Pattern[str]) -> Any:
    if isinstance(value, str):
        return name.sub("{cluster}", value)
    if isinstance(value, dict):
        return {key: _filled(each, name) for key, each in value.items()}
    return [_filled(each, name) for each in value] if isinstance(value, list) else value
