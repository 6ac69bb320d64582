"""The same thing in several places to one value: what is the same everywhere, and overrides for what differs.

Only exact results count: every place gets back the value that was found there. Where a part of the file has no overrides, variables
of environments and clusters stand for what differs.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from tenantry.fleet.template import BUILT_IN
from tenantry.importing.resources import Place
from tenantry.messages.placeholders import PLACEHOLDER, is_unfilled, names_in
from tenantry.model.strict import Model

Values: TypeAlias = Mapping[Place, Any]
"""What was found in each place."""
Join: TypeAlias = Callable[[Values], Any]
Variable: TypeAlias = Callable[[Mapping[Place, str], str], str | None]
"""Declares a variable that has the values of a text, given the key where that stands, and gives its placeholder; None: none can."""


class Differ:
    """The values cannot be one. Distinct from None, which is a value."""


DIFFER = Differ()


@dataclass(slots=True)
class Overlaid:
    """conflicts: places whose value cannot be expressed beside the others."""

    base: dict[str, Any]
    environments: dict[str, dict[str, Any]] = field(default_factory=dict)
    clusters: dict[str, dict[str, Any]] = field(default_factory=dict)
    conflicts: list[Place] = field(default_factory=list)

    @property
    def entry(self) -> dict[str, Any]:
        """The base, and `overrides` where places differ."""
        overrides = [{"when": {"environments": [name]}, **own} for name, own in self.environments.items()]
        overrides += [{"when": {"clusters": {"names": [name]}}, **own} for name, own in self.clusters.items()]
        return {**self.base, **({"overrides": overrides} if overrides else {})}


def overlaid(values: Mapping[Place, dict[str, Any]], join: Join) -> Overlaid:
    """One mapping with overrides for what was found in several places.

    Args: join: makes one value of several, or DIFFER; `unified` where placeholders are filled in, `same` elsewhere.
    """
    base, rest = _split(values, join)
    result = Overlaid(base)
    remaining: dict[Place, dict[str, Any]] = {}
    for environment in dict.fromkeys(place.environment for place in rest):
        own = {place: value for place, value in rest.items() if place.environment == environment}
        shared, others = _split(own, join)
        if shared and any(own.values()):
            result.environments[environment] = shared
        remaining |= others
    for place, value in remaining.items():
        beside = [other for other in values if other.cluster == place.cluster]
        if value and all(remaining.get(other) == value for other in beside):
            result.clusters[place.cluster] = value
        elif value:
            result.conflicts.append(place)
    return result


def _split(values: Mapping[Place, dict[str, Any]], join: Join) -> tuple[dict[str, Any], dict[Place, dict[str, Any]]]:
    """What all places have in common, and what is left of each."""
    base: dict[str, Any] = {}
    rest: dict[Place, dict[str, Any]] = {place: {} for place in values}
    for key in dict.fromkeys(key for value in values.values() for key in value):
        present = {place: value[key] for place, value in values.items() if key in value}
        is_everywhere = len(present) == len(values)
        one = join(present) if is_everywhere else DIFFER
        if one is not DIFFER:
            base[key] = one
            continue
        if is_everywhere and all(isinstance(value, dict) and value for value in present.values()):
            shared, present = _split(present, join)
            base |= {key: shared} if shared else {}
            present = {place: value for place, value in present.items() if value}
        for place, value in present.items():
            rest[place][key] = value
    return base, rest


def same(values: Values) -> Any:
    """The one value of all places; else DIFFER. `1` is not `true`."""
    first, *others = values.values()
    return first if all(type(value) is type(first) and value == first for value in others) else DIFFER


def unified(values: Values, variable: Variable | None = None, key: str = "") -> Any:
    """One value that every place reads as its own, by `{env}`, `{cluster}` or a variable; else DIFFER. key: where it stands."""
    if (one := same(values)) is not DIFFER:
        return one
    found = list(values.values())
    if all(isinstance(value, str) for value in found):
        return _text(values) or (variable and variable(values, key)) or DIFFER
    if all(isinstance(value, dict) for value in found) and len({frozenset(value) for value in found}) == 1:
        parts = {part: {place: value[part] for place, value in values.items()} for part in found[0]}
        merged = {part: unified(below, variable, part) for part, below in parts.items()}
        return DIFFER if any(value is DIFFER for value in merged.values()) else merged
    if all(isinstance(value, list) for value in found) and len({len(value) for value in found}) == 1:
        entries = [{place: value[at] for place, value in values.items()} for at in range(len(found[0]))]
        items = [unified(below, variable, key) for below in entries]
        return DIFFER if any(item is DIFFER for item in items) else items
    return DIFFER


_PLACEHOLDERS = {"environment": "{env}", "cluster": "{cluster}"}


def _text(values: Mapping[Place, str]) -> str | None:
    """A text with a placeholder where the texts hold the name of their place, as a word and not in braces; None: there is none."""
    for marks in (("environment",), ("cluster",), ("environment", "cluster")):
        texts = set()
        for place, text in values.items():
            for mark in marks:
                word = rf"(?<![A-Za-z0-9{{]){re.escape(getattr(place, mark))}(?![A-Za-z0-9}}])"
                text = _replaced(text, word, _PLACEHOLDERS[mark])
            texts.add(text)
        if len(texts) == 1:
            return texts.pop()
    return None


def _replaced(text: str, word: str, placeholder: str) -> str:
    return re.sub(rf"({PLACEHOLDER})|{word}", lambda match: match[1] or placeholder, text, flags=re.ASCII)


class Variables:
    """What was declared so far, by environment and by cluster."""

    def __init__(self) -> None:
        self.environments: dict[str, dict[str, str]] = defaultdict(dict)
        self.clusters: dict[str, dict[str, str]] = defaultdict(dict)
        self._names: dict[tuple[tuple[str, str], ...], str] = {}

    def named(self, *parts: str) -> Variable:
        """What declares variables for a part of the file that has no overrides. parts: of their names."""
        return lambda values, key: self._declare(values, *parts, key)

    def used_in(self, *parts: Any) -> None:
        """Drop the variables that no part of the file names."""
        used = {*names_in(json.dumps(parts))}
        for group in (self.environments, self.clusters):
            for owner, values in group.items():
                group[owner] = {name: value for name, value in values.items() if name in used}

    def _declare(self, values: Mapping[Place, str], *parts: str) -> str | None:
        if any(map(is_unfilled, values.values())):
            return None
        for kind, group in (("environment", self.environments), ("cluster", self.clusters)):
            own = {getattr(place, kind): text for place, text in values.items()}
            if all(own[getattr(place, kind)] == text for place, text in values.items()):
                stem = re.sub(r"[^A-Za-z0-9]+", "_", "_".join(filter(None, parts))).strip("_")
                taken = (*BUILT_IN, *self._names.values())
                free = free_name(taken, stem if stem[:1].isalpha() else f"v_{stem}", "_")
                name = self._names.setdefault(tuple(sorted(own.items())), free)
                for owner, text in own.items():
                    group[owner][name] = text
                return f"{{{name}}}"
        return None


def free_name(taken: Container[str], name: str, mark: str = "-") -> str:
    """The name, or the name with the first number behind it that is free."""
    free, count = name, 1
    while free in taken:
        count += 1
        free = f"{name}{mark}{count}"
    return free


_FIRST = ("namespace", "namespaces", "serviceAccount", "environments", "clusters", "source", "chart", "version", "path")
_LAST = ("alerts", "receivers", "overrides", "adopt", "state")


def in_order(entry: Mapping[str, Any], model: type[Model]) -> dict[str, Any]:
    """The entry with its keys in order: where it is, what it is, and exceptions last."""
    fields = list(model.model_fields)

    def rank(key: str) -> tuple[int, int]:
        if key in _FIRST and (key != "namespaces" or "namespace" in fields):
            return 0, _FIRST.index(key)
        if key in _LAST:
            return 3, _LAST.index(key)
        return (1, fields.index(key)) if key in fields else (2, 0)

    return {key: entry[key] for key in sorted(entry, key=rank)}
