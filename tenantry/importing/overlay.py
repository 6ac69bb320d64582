"""The values of several places as one: what they share, and overrides for what differs.

Only exact results count: every place gets back the value that was read there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from tenantry.importing.resources import Place
from tenantry.messages.placeholders import PLACEHOLDER
from tenantry.model.flux import FluxBlock
from tenantry.model.strict import Model

Values: TypeAlias = Mapping[Place, Any]
"""What was read in each place."""
Join: TypeAlias = Callable[[Values], Any]


class Differ:
    """The values cannot be one. Distinct from None, which is a value."""


DIFFER = Differ()
_REPLACED = ("ref", "podSecurity")
"""Mappings that an override replaces as a whole."""


@dataclass(slots=True)
class Overlaid:
    """conflicts: places whose value cannot be expressed beside the others."""

    base: dict[str, Any]
    environments: dict[str, dict[str, Any]] = field(default_factory=dict)
    clusters: dict[str, dict[str, Any]] = field(default_factory=dict)
    conflicts: list[Place] = field(default_factory=list)

    def add(self, group: str, key: str, other: Overlaid) -> None:
        """Add an entry of a group such as `sources`."""
        targets = [(self.base, other.base)]
        targets += [(self.environments.setdefault(name, {}), own) for name, own in other.environments.items()]
        targets += [(self.clusters.setdefault(name, {}), own) for name, own in other.clusters.items()]
        for target, value in targets:
            target.setdefault(group, {})[key] = value
        self.conflicts += other.conflicts

    @property
    def overrides(self) -> list[dict[str, Any]]:
        """The list of the file."""
        by_environment = ({"when": {"environments": [name]}, **own} for name, own in self.environments.items())
        by_cluster = ({"when": {"clusters": {"names": [name]}}, **own} for name, own in self.clusters.items())
        return [*by_environment, *by_cluster]

    @property
    def entry(self) -> dict[str, Any]:
        """The base, and `overrides` where places differ."""
        return {**self.base, **({"overrides": self.overrides} if self.overrides else {})}


def overlaid(values: Mapping[Place, dict[str, Any]], join: Join) -> Overlaid:
    """One mapping with overrides for what differs between places.

    Args: join: makes one value of several, or DIFFER; `unified` where placeholders are filled in, `same` elsewhere.
    """
    base, rest = _split(values, join)
    result = Overlaid(base)
    remaining: dict[Place, dict[str, Any]] = {}
    for environment in dict.fromkeys(place.environment for place in rest):
        own = {place: value for place, value in rest.items() if place.environment == environment}
        shared, own_rest = _split(own, join)
        if shared:
            result.environments[environment] = shared
        remaining |= own_rest
    for place, value in remaining.items():
        same_cluster = [other for other in values if other.cluster == place.cluster]
        if value and all(remaining.get(other) == value for other in same_cluster):
            result.clusters[place.cluster] = value
        elif value:
            result.conflicts.append(place)
    return result


def _split(values: Mapping[Place, dict[str, Any]], join: Join) -> tuple[dict[str, Any], dict[Place, dict[str, Any]]]:
    """What all places have in common, with the first place's values where they differ, and the rest of each."""
    base: dict[str, Any] = {}
    rest: dict[Place, dict[str, Any]] = {place: {} for place in values}
    for key in dict.fromkeys(key for value in values.values() for key in value):
        present = {place: value[key] for place, value in values.items() if key in value}
        if len(present) == len(values):
            joined = join(present)
            if joined is not DIFFER:
                base[key] = joined
                continue
            first, *_ = present
            is_merged = isinstance(present[first], dict) and key not in _REPLACED
            if is_merged and all(isinstance(value, dict) and value for value in present.values()):
                shared, below = _split(present, join)
                base |= {key: shared} if shared else {}
                present = {place: value for place, value in below.items() if value}
            elif not is_merged:
                # The base is complete by itself: an override cannot add what an entry requires.
                base[key] = present[first]
                present = {
                    place: value
                    for place, value in present.items()
                    if same({first: present[first], place: value}) is DIFFER
                }
        for place, value in present.items():
            rest[place][key] = value
    return base, rest


def same(values: Values) -> Any:
    """The value, if all places have it; else DIFFER. `1` is not `true`."""
    first, *others = values.values()
    return first if all(type(value) is type(first) and value == first for value in others) else DIFFER


def unified(values: Values) -> Any:
    """One value that every place reads as its own, by `{env}` or `{cluster}`; else DIFFER."""
    if (shared := same(values)) is not DIFFER:
        return shared
    own = list(values.values())
    if all(isinstance(value, str) for value in own):
        return _with_placeholders(values)
    if all(isinstance(value, dict) for value in own) and len({frozenset(value) for value in own}) == 1:
        merged = {key: unified({place: value[key] for place, value in values.items()}) for key in own[0]}
        return DIFFER if any(value is DIFFER for value in merged.values()) else merged
    if all(isinstance(value, list) for value in own) and len({len(value) for value in own}) == 1:
        items = [unified({place: value[index] for place, value in values.items()}) for index in range(len(own[0]))]
        return DIFFER if any(item is DIFFER for item in items) else items
    return DIFFER


_PLACEHOLDERS = {"environment": "{env}", "cluster": "{cluster}"}


def _with_placeholders(values: Mapping[Place, str]) -> str | Differ:
    """A text with a placeholder where the texts hold the name of their place, as a word and not in braces."""
    for marks in (("environment",), ("cluster",), ("environment", "cluster")):
        texts = set()
        for place, text in values.items():
            for mark in marks:
                word = rf"(?<![A-Za-z0-9{{]){re.escape(getattr(place, mark))}(?![A-Za-z0-9}}])"
                text = _replaced(text, word, _PLACEHOLDERS[mark])
            texts.add(text)
        if len(texts) == 1:
            return texts.pop()
    return DIFFER


def _replaced(text: str, word: str, placeholder: str) -> str:
    return re.sub(rf"({PLACEHOLDER})|{word}", lambda match: match[1] or placeholder, text, flags=re.ASCII)


def free_name(taken: Container[str], name: str) -> str:
    """The name, or the name with the first number behind it that is free."""
    free, count = name, 1
    while free in taken:
        count += 1
        free = f"{name}-{count}"
    return free


_FIRST = ("namespace", "namespaces", "serviceAccount", "environments", "clusters", "source", "chart", "version", "path")
_LAST = ("alerts", "receivers", "overrides", "adopt", "state")


def in_order(entry: Mapping[str, Any], model: type[Model]) -> dict[str, Any]:
    """The entry with its keys in order: where it is, what it is in the order of the reference, and exceptions last."""
    own = model.order() if issubclass(model, FluxBlock) else model.model_fields
    middle = [key for key in (*own, *entry) if key not in (*_FIRST, *_LAST)]
    return {key: entry[key] for key in dict.fromkeys((*_FIRST, *middle, *_LAST)) if key in entry}
