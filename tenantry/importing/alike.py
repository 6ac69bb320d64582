"""What most apps of one kind say becomes what all of them have: `platform.kustomize`, `platform.helm`, and those of `defaults`.

The result plans the same objects, which is checked. Otherwise the draft stays as it is.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from copy import deepcopy
from dataclasses import replace
from typing import Any, TypeAlias

from tenantry.importing.model import Draft
from tenantry.importing.settle import planned
from tenantry.messages.data import mapping_at
from tenantry.messages.errors import InvalidFleet
from tenantry.model import HelmOfAddons, HelmOfApps, KustomizeOfAddons, KustomizeOfApps
from tenantry.model.flux import FluxBlock

_FEWEST = 3
"""Apps that say the same, from which on one place is shorter."""
Block: TypeAlias = dict[str, Any]


def with_shared_blocks(draft: Draft) -> Draft:
    """The draft with each value that most apps of a kind have in one place."""
    data = deepcopy(dict(draft.data))
    addons = list(mapping_at(data, "platform", "addons").values())
    apps = [app for tenant in mapping_at(data, "tenants").values() for app in mapping_at(tenant, "apps").values()]
    models: Mapping[str, tuple[tuple[str, list[Any], type[FluxBlock]], ...]] = {
        "kustomize": (("platform", addons, KustomizeOfAddons), ("defaults", apps, KustomizeOfApps)),
        "helm": (("platform", addons, HelmOfAddons), ("defaults", apps, HelmOfApps)),
    }
    found = False
    for kind, levels in models.items():
        for level, entries, model in levels:
            allowed = model.model_fields.keys() - {path.partition(".")[0] for path in model.owned}
            if shared := _taken_out([each[kind] for each in entries if kind in each], allowed):
                data[level] = _before_entries({**data.get(level, {}), kind: shared})
                found = True
    return replace(draft, data=data) if found and plan_the_same(dict(draft.data), data) else draft


def _before_entries(level: Block) -> Block:
    """The platform's entry with its add-ons last, which are many."""
    addons = {key: level.pop(key) for key in ("addons",) if key in level}
    return {**level, **addons}


def _taken_out(blocks: list[Block], allowed: Collection[str]) -> Block:
    """What most blocks have. It is taken out of these, and `null` removes it from those that lack it."""
    shared: Block = {}
    for key in dict.fromkeys(key for block in blocks for key in block if key in allowed):
        values = [block[key] for block in blocks if key in block]
        most = max(values, key=values.count)
        lacking = len(blocks) - len(values)
        if isinstance(most, dict) and values.count(most) < len(values):
            # Mappings merge, so a part that all have can be shared, and nothing else.
            if not lacking and len(values) >= _FEWEST and (part := taken_out(blocks, (key,))):
                shared |= part
        elif values.count(most) >= _FEWEST and values.count(most) > 2 * lacking + 1:
            shared[key] = most
            for block in blocks:
                if key not in block:
                    block[key] = None
                elif block[key] == most:
                    del block[key]
    return shared


def taken_out(entries: list[Block], keys: Collection[str], whole: Collection[str] = ()) -> Block:
    """What all entries say at some keys, taken out of them. Args: whole: keys that are not divided."""
    shared: Block = {}
    for key in [each for each in entries[0] if each in keys]:
        there = [each.get(key) for each in entries]
        if there[0] is not None and all(each == there[0] for each in there):
            shared[key] = there[0]
            for each in entries:
                del each[key]
        elif key not in whole and all(isinstance(each, dict) and each for each in there):
            below = [mapping_at(each, key) for each in entries]
            if part := taken_out(below, below[0].keys(), whole):
                shared[key] = part
            for each in entries:
                if not each[key]:
                    del each[key]
    return shared


def plan_the_same(before: Block, after: Block) -> bool:
    def objects(data: Block) -> dict[str, Any]:
        return {name: {each.id: each.manifest for each in plan.objects} for name, plan in planned(data).items()}

    try:
        return objects(before) == objects(after)
    except InvalidFleet:
        return False
