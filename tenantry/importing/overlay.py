"""The same thing in several places to one value: what is the same everywhere, and what differs where.

Only exact results count: every place gets back the value that was found there. Where a part of the file has no overrides, variables
of environments and clusters stand for what differs.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

from tenantry.fleet.template import BUILT_IN
from tenantry.messages.placeholders import PLACEHOLDER, is_unfilled, names_in
from tenantry.model.strict import Model


class Place(NamedTuple):
    """Where something was found: a cluster, and the environment on whose management cluster its Flux objects are."""

    environment: str
    cluster: str


Found: TypeAlias = Mapping[Place, Any]
"""What was found in each place."""
At: TypeAlias = tuple[str, ...]
"""Keys on the way to a value; those of lists have no part."""
Join: TypeAlias = Callable[[Found], Any]
Variable: TypeAlias = Callable[[Mapping[Place, str], At], str | None]
"""Declares a variable that has the values of a text, and gives its placeholder; None: none is wanted, or none can have them."""


def _none(*_: object) -> str | None:
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


def overlaid(found: Mapping[Place, dict[str, Any]], join: Join) -> Overlaid:
    """One mapping with overrides for what was found in several places.

    Args: join: makes one value of several, or DIFFER; `unified` where placeholders are filled in, `same` elsewhere.
    """
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


def _are_one(value: Any, other: Any) -> bool:
    """Whether two values are written alike: `1` is not `true`."""
    return type(value) is type(other) and value == other


def same(found: Found) -> Any:
    """The one value of all places; else DIFFER."""
    values = list(found.values())
    return values[0] if all(_are_one(value, values[0]) for value in values) else DIFFER


def unified(found: Found, variable: Variable = _none, at: At = ()) -> Any:
    """One value that every place reads as its own, by `{env}`, `{cluster}` or a variable; else DIFFER. at: where it stands."""
    values = list(found.values())
    if all(_are_one(value, values[0]) for value in values):
        return values[0]
    if all(isinstance(each, str) for each in values):
        return _text(found, variable, at)
    if all(isinstance(each, dict) for each in values) and len({frozenset(each) for each in values}) == 1:
        made = {
            key: unified({place: each[key] for place, each in found.items()}, variable, (*at, key)) for key in values[0]
        }
        return DIFFER if DIFFER in made.values() else made
    if all(isinstance(each, list) for each in values) and len({len(each) for each in values}) == 1:
        listed = [
            unified({place: each[index] for place, each in found.items()}, variable, at)
            for index in range(len(values[0]))
        ]
        return DIFFER if any(each is DIFFER for each in listed) else listed
    return DIFFER


def _text(found: Mapping[Place, str], variable: Variable, at: At) -> Any:
    """A text with a placeholder where the texts hold the name of their place."""
    for marks in (("environment",), ("cluster",), ("environment", "cluster")):
        made = {_marked(text, place, marks) for place, text in found.items()}
        if len(made) == 1:
            return made.pop()
    return variable(found, at) or DIFFER


_PLACEHOLDERS = {"environment": "{env}", "cluster": "{cluster}"}


def _marked(text: str, place: Place, marks: Sequence[str]) -> str:
    for mark in marks:
        text = with_placeholder(text, getattr(place, mark), _PLACEHOLDERS[mark])
    return text


def with_placeholder(text: str, name: str, placeholder: str) -> str:
    """The text with a placeholder wherever it holds a name as a word, but in other names in braces."""
    word = rf"(?<![A-Za-z0-9{{]){re.escape(name)}(?![A-Za-z0-9}}])"
    return re.sub(rf"({PLACEHOLDER})|{word}", lambda match: match[1] or placeholder, text, flags=re.ASCII)


def free_name(taken: Container[str], *names: str, mark: str = "-") -> str:
    """The first of some names that is free, or the last of them with a number behind a mark."""
    name, count = next((each for each in names if each not in taken), names[-1]), 1
    while name in taken:
        count += 1
        name = f"{names[-1]}{mark}{count}"
    return name


_Values: TypeAlias = dict[str, str]
"""The values of a variable, by environment or by cluster."""


class Variables:
    """What was declared so far, by environment and by cluster."""

    def __init__(self) -> None:
        self.environments: dict[str, _Values] = defaultdict(dict)
        self.clusters: dict[str, _Values] = defaultdict(dict)
        self._names = set(BUILT_IN)
        self._made: dict[tuple[str, str], list[tuple[str, _Values]]] = defaultdict(list)

    def named(self, *parts: str) -> Variable:
        """What declares variables for a part of the file that has no overrides. parts: of their names, where no key tells one."""
        stem = re.sub(r"[^A-Za-z0-9]+", "_", "_".join(parts)).strip("_")
        stem = stem if stem[:1].isalpha() else f"v_{stem}"
        return lambda values, at: self._declare(at[-1] if at else "", stem, values)

    def used_in(self, *parts: Any) -> None:
        """Drop the variables that no part of the file names."""
        used = {*names_in(json.dumps(parts))}
        for group in (self.environments, self.clusters):
            for owner, values in group.items():
                group[owner] = {name: each for name, each in values.items() if name in used}

    def _declare(self, key: str, stem: str, found: Mapping[Place, str]) -> str | None:
        return next((self._placeholder(kind, key, stem, own) for kind, own in _by_owner(found).items()), None)

    def _placeholder(self, kind: str, key: str, stem: str, values: _Values) -> str:
        """That of a variable with some values: one that was made for the same key, or a new one."""
        made = self._made[kind, key]
        name, known = next((each for each in made if key and _agree(each[1], values)), ("", {}))
        if not name:
            name, known = free_name(self._names, key if key.isidentifier() else stem, stem, mark="_"), {}
            self._names.add(name)
            made.append((name, known))
        known |= values
        group = self.environments if kind == "environment" else self.clusters
        for owner, text in values.items():
            group[owner][name] = text
        return f"{{{name}}}"


def _by_owner(found: Mapping[Place, str]) -> dict[str, _Values]:
    """The texts by environment, or by cluster, where these tell them; empty if no variable can have them."""
    if any(map(is_unfilled, found.values())):
        return {}
    for kind in ("environment", "cluster"):
        own = {getattr(place, kind): text for place, text in found.items()}
        if all(own[getattr(place, kind)] == text for place, text in found.items()):
            return {kind: own}
    return {}


def _agree(one: _Values, other: _Values) -> bool:
    """Whether both have a value for the same owner, and no owner has two."""
    both = one.keys() & other.keys()
    return bool(both) and all(one[each] == other[each] for each in both)


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
