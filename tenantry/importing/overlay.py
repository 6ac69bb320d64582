"""The same thing in several places to one value: what is the same everywhere, and what differs where.

Only exact results count: every place gets back the value that was found there. Where a part of the file has no overrides, variables
of environments and clusters stand for what differs.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

from tenantry.model.strict import Model


class Place(NamedTuple):
    """Where something was found: a cluster, and the environment on whose management cluster its Flux objects are."""

    environment: str
    cluster: str


Found: TypeAlias = Mapping[Place, Any]
"""What was found in each place."""
Join: TypeAlias = Callable[[Found], Any]
Variable: TypeAlias = Callable[[Mapping[Place, str]], str | None]
"""Declares a variable that has these values, and gives its placeholder; None: no variable can have them."""


def _none(_: Mapping[Place, str]) -> str | None:
    return None


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


def overlaid(found: Mapping[Place, dict[str, Any]], join: Join | None = None) -> Overlaid:
    """One mapping with overrides for what was found in several places.

    Args: join: makes one value of several, or DIFFER; `unified` where placeholders are filled in, `same` elsewhere.
    """
    join = join or unified
    base, rest = _split(found, join)
    result = Overlaid(base)
    left: dict[Place, dict[str, Any]] = {}
    for environment in dict.fromkeys(each.environment for each in rest):
        own = {place: value for place, value in rest.items() if place.environment == environment}
        shared, others = _split(own, join)
        if shared and any(own.values()):
            result.environments[environment] = shared
        left |= others
    for place, value in left.items():
        beside = [each for each in found if each.cluster == place.cluster]
        if not value:
            continue
        if all(left.get(each) == value for each in beside):
            result.clusters[place.cluster] = value
        else:
            result.conflicts.append(place)
    return result


def _split(found: Mapping[Place, dict[str, Any]], join: Join) -> tuple[dict[str, Any], dict[Place, dict[str, Any]]]:
    """What all places have in common, and what is left of each."""
    base: dict[str, Any] = {}
    rest: dict[Place, dict[str, Any]] = {place: {} for place in found}
    for key in dict.fromkeys(key for value in found.values() for key in value):
        here = {place: value[key] for place, value in found.items() if key in value}
        one = join(here) if len(here) == len(found) else DIFFER
        if one is not DIFFER:
            base[key] = one
        elif len(here) == len(found) and all(isinstance(each, dict) and each for each in here.values()):
            shared, others = _split(here, join)
            if shared:
                base[key] = shared
            for place, value in others.items():
                if value:
                    rest[place][key] = value
        else:
            for place, value in here.items():
                rest[place][key] = value
    return base, rest


def same(found: Found) -> Any:
    """The one value of all places; else DIFFER."""
    values = list(found.values())
    return values[0] if all(type(value) is type(values[0]) and value == values[0] for value in values) else DIFFER


def unified(found: Found, variable: Variable = _none) -> Any:
    """One value that every place reads as its own, by `{env}`, `{cluster}` or a variable; else DIFFER."""
    values = list(found.values())
    if all(type(value) is type(values[0]) and value == values[0] for value in values):
        return values[0]
    if all(isinstance(each, str) for each in values):
        return _text(found, variable)
    if all(isinstance(each, dict) for each in values) and len({frozenset(each) for each in values}) == 1:
        made = {key: unified({at: each[key] for at, each in found.items()}, variable) for key in values[0]}
        return DIFFER if DIFFER in made.values() else made
    if all(isinstance(each, list) for each in values) and len({len(each) for each in values}) == 1:
        listed = [unified({at: each[index] for at, each in found.items()}, variable) for index in range(len(values[0]))]
        return DIFFER if any(each is DIFFER for each in listed) else listed
    return DIFFER


def _text(found: Mapping[Place, str], variable: Variable) -> Any:
    """A text with a placeholder where the texts hold the name of their place."""
    for marks in (("environment",), ("cluster",), ("environment", "cluster")):
        made = {_marked(text, place, marks) for place, text in found.items()}
        if len(made) == 1:
            return made.pop()
    return variable(found) or DIFFER


_PLACEHOLDERS = {"environment": "{env}", "cluster": "{cluster}"}


def _marked(text: str, place: Place, marks: Sequence[str]) -> str:
    for mark in marks:
        word = re.escape(getattr(place, mark))
        text = re.sub(rf"(?<![A-Za-z0-9{{]){word}(?![A-Za-z0-9}}])", _PLACEHOLDERS[mark], text)
    return text


class Variables:
    """What was declared so far, by environment and by cluster."""

    def __init__(self) -> None:
        self.environments: dict[str, dict[str, str]] = defaultdict(dict)
        self.clusters: dict[str, dict[str, str]] = defaultdict(dict)
        self._names: set[str] = set()

    def named(self, *parts: str) -> Variable:
        """What declares variables for a part of the file; parts: of their names."""
        stem = re.sub(r"[^A-Za-z0-9]+", "_", "_".join(parts)).strip("_")
        stem = stem if stem[:1].isalpha() else f"v_{stem}"
        return lambda values: self._declare(stem, values)

    def _declare(self, stem: str, values: Mapping[Place, str]) -> str | None:
        if any(each in text for text in values.values() for each in "{}"):
            return None
        for group, key in ((self.environments, "environment"), (self.clusters, "cluster")):
            found: dict[str, set[str]] = defaultdict(set)
            for place, text in values.items():
                found[getattr(place, key)].add(text)
            if all(len(each) == 1 for each in found.values()):
                name = self._free(stem)
                for owner, texts in found.items():
                    group[owner][name] = texts.pop()
                return f"{{{name}}}"
        return None

    def _free(self, stem: str) -> str:
        name, count = stem, 1
        while name in self._names:
            count += 1
            name = f"{stem}_{count}"
        self._names.add(name)
        return name


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
