"""Why a setting differs between two environments, and whether the file means it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tenantry.explain.variants import IMAGES_IN, Variant
from tenantry.fleet.merge import Origin, Value, placeholders
from tenantry.messages.errors import Path
from tenantry.messages.text import listed

_ENVIRONMENT, _CLUSTER = ("environment ", "environment"), ("cluster ", "cluster")
_WHERE = ("where ", "clusters with")


@dataclass(frozen=True, slots=True)
class Reason:
    """is_meant: whether the file writes the difference for an environment. origins: the places that decide."""

    is_meant: bool
    text: str
    origins: tuple[Origin, ...] = ()


def meant(text: str, origins: tuple[Origin, ...]) -> Reason:
    """A reason that the file writes for an environment."""
    return Reason(is_meant=True, text=text, origins=origins)


def follows(text: str, origins: tuple[Origin, ...]) -> Reason:
    """A reason that is not written for an environment."""
    return Reason(is_meant=False, text=text, origins=origins)


def reason_of(path: Path, one: Sequence[Variant], other: Sequence[Variant]) -> Reason:
    """Why the values at a path differ. Args: one, other: what one environment has and the other does not."""
    sides = [[(each, each.values[path]) for each in side if path in each.values] for side in (one, other)]
    origins = [tuple(dict.fromkeys(_origins(each for _, each in side))) for side in sides]
    if origins[0] and set(origins[0]) == set(origins[1]):
        return _by_placeholders(sides[0] + sides[1], origins[0])
    if path[0] == IMAGES_IN[0] and bool(sides[0]) != bool(sides[1]):
        listed_at = (variant.values.get(IMAGES_IN) for side in sides for variant, _ in side)
        if only := tuple(dict.fromkeys(value.origin for value in listed_at if value and value.origin)):
            return meant("only in its 'environments'", only)
    places = (*origins[0], *(each for each in origins[1] if each not in origins[0]))
    own = [each for each in places if not (each in origins[0] and each in origins[1])]
    for prefix, words in (_ENVIRONMENT, _CLUSTER, _WHERE):
        if deciding := [each for each in own if each.level.startswith(prefix)]:
            make = meant if prefix == _ENVIRONMENT[0] else follows
            return make(f"set for {_names(deciding, prefix, words)}", tuple(deciding))
    if path[0] == "source":
        return follows("another source", places)
    return follows("it follows from another setting", places)


def _origins(values: Iterator[Value] | Sequence[Value]) -> Iterator[Origin]:
    for each in values:
        yield from filter(None, (each.origin, each.removed))


def _by_placeholders(found: Sequence[tuple[Variant, Value]], origins: tuple[Origin, ...]) -> Reason:
    """The same text on both sides: its placeholders make the difference."""
    names = dict.fromkeys(name for _, value in found for name in placeholders(value.written))
    differing = [name for name in names if len({variant.variables.get(name) for variant, _ in found}) > 1]
    differing = [each for each in differing if each != "cluster"] or list(names)
    placed = [place for variant, _ in found for name in differing if (place := variant.declared.get(name))]
    words = f"placeholder {listed(f'{{{each}}}' for each in differing)}"
    prefix, noun = _ENVIRONMENT
    if deciding := [each for each in dict.fromkeys(placed) if each.level.startswith(prefix)]:
        return meant(f"{words}, set for {_names(deciding, prefix, noun)}", tuple(deciding))
    if placed:
        return follows(f"{words}, a variable of clusters or groups", tuple(dict.fromkeys(placed)))
    if differing:
        return follows(words, origins)
    return follows("it follows from another setting", origins)


def _names(origins: Sequence[Origin], prefix: str, words: str) -> str:
    return f"{words} {listed(each.level.removeprefix(prefix) for each in origins)}"
