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
            if not lacking and all(isinstance(each, dict) for each in values) and (part := _common(values)):
                shared[key] = part
                _drop_empty(blocks, key)
        elif values.count(most) >= _FEWEST and values.count(most) > 2 * lacking + 1:
            shared[key] = most
            for block in blocks:
                if key not in block:
                    block[key] = None
                elif block[key] == most:
                    del block[key]
    return shared


def _common(values: list[Block]) -> Block:
    """What all of several mappings have, taken out of them."""
    common: Block = {}
    for key in list(values[0]) if len(values) >= _FEWEST else ():
        there: list[Any] = [value.get(key) for value in values]
        if all(each == there[0] and each is not None for each in there):
            common[key] = there[0]
        elif all(isinstance(each, dict) for each in there) and (part := _common(there)):
            common[key] = part
            _drop_empty(values, key)
    for value in values:
        for key in [key for key in common if value.get(key) == common[key]]:
            del value[key]
    return common


def _drop_empty(blocks: list[Block], key: str) -> None:
    for block in blocks:
        if key in block and not block[key]:
            del block[key]


def plan_the_same(before: Block, after: Block) -> bool:
    def objects(data: Block) -> dict[str, Any]:
        return {name: {each.id: each.manifest for each in plan.objects} for name, plan in planned(data).items()}

    try:
        return objects(before) == objects(after)
    except InvalidFleet:
        return False
