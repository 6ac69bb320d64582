"""The facts that differ between two sides of an environment, or two environments; equal changes of several subjects are one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from tenantry.facts.facts import (
    CLUSTER,
    ENVIRONMENT,
    THE_PLATFORM,
    Facts,
    Homes,
    Kind,
    Subject,
    Values,
    Where,
    together,
)
from tenantry.facts.objects import is_same
from tenantry.fleet.fleet import Fleet
from tenantry.fleet.merge import Origin, Value, placeholders
from tenantry.messages.data import ABSENT, value_at
from tenantry.messages.errors import Path
from tenantry.messages.masking import masked_pair
from tenantry.plan.plan import Plan


class Effect(StrEnum):
    """What happens to a subject on a cluster."""

    REMOVED = "removed"
    CHANGED = "changed"
    ADDED = "added"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedValue:
    """before, after: or ABSENT, with secrets masked; where the author changed a text with placeholders, the text as written.

    places: the one that decides, and those of the variables that differ. Of a removed value, the place where it stood.
    """

    path: Path
    before: Any
    after: Any
    places: tuple[Origin, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What happens to all of these subjects on these clusters."""

    effect: Effect
    where: Where
    values: tuple[ChangedValue, ...] = ()


class Occurrence(NamedTuple):
    """What happens to one subject on one cluster. values: of one that is added, those that it did not have elsewhere before."""

    subject: Subject
    cluster: str
    effect: Effect
    values: tuple[ChangedValue, ...]


Spot = tuple[Subject, str]


def occurrences(before: Facts | None, after: Facts, wanted: Mapping[Subject, Iterable[str]]) -> Iterator[Occurrence]:
    """What differs of the wanted subjects on their clusters. Args: before: None: the environment was not declared."""
    for subject, clusters in wanted.items():
        old, new = (dict.fromkeys(side.clusters.get(subject, ()) if side else ()) for side in (before, after))
        # Where a subject was that comes to another cluster.
        former = next(filter(new.__contains__, old), next(iter(old), None)) if subject != CLUSTER else None
        for cluster in clusters:
            if cluster in old and cluster in new:
                if values := tuple(_values(before, after, subject, (cluster, cluster))):
                    yield Occurrence(subject, cluster, Effect.CHANGED, values)
            elif subject == THE_PLATFORM or (not cluster and subject != ENVIRONMENT):
                continue  # the platform has the same values on another cluster, and a tenant on none is nowhere
            elif cluster not in new:
                yield Occurrence(subject, cluster, Effect.REMOVED, ())
            elif former is None:
                yield Occurrence(subject, cluster, Effect.ADDED, tuple(_values(None, after, subject, ("", cluster))))
            else:
                values = tuple(_values(before, after, subject, (former, cluster)))
                yield Occurrence(subject, cluster, Effect.ADDED, values)


def _values(before: Facts | None, after: Facts, subject: Subject, clusters: tuple[str, str]) -> Iterator[ChangedValue]:
    """What differs of a subject. Args: before: None: all of it is new; clusters: the one before and the one after."""
    old, new = before.of(subject, clusters[0]) if before else {}, after.of(subject, clusters[1])
    paths = [path for path in dict.fromkeys((*new, *old)) if _differs(old.get(path), new.get(path), clusters)]
    shown = _masked(old, new) if paths else {}
    for path in paths:
        values, (was, now) = (old.get(path), new.get(path)), shown[path]
        places = tuple(_places(before, after, subject, clusters, *values))
        was, now = _as_written((values[0], was), (values[1], now))
        yield ChangedValue(path=path, before=was, after=now, places=places)


def _as_written(*sides: tuple[Value | None, Any]) -> tuple[Any, Any]:
    """Both sides as the author wrote them, or, of the same text with other variables, what it becomes.

    So is a default that a text without placeholders replaces: no author wrote it.
    """
    before, after = (
        written(fact, shown) if fact and (fact.origin or (opposite and placeholders(opposite.written))) else shown
        for (fact, shown), (opposite, _) in zip(sides, sides[::-1], strict=True)
    )
    return (sides[0][1], sides[1][1]) if is_same(before, after) else (before, after)


def written(value: Value, shown: Any) -> Any:
    """A value as its author wrote it, with placeholders, unless a secret is hidden in it. Args: shown: without secrets."""
    return value.written if value.written is not None and is_same(shown, value.value) else shown


def _differs(before: Value | None, after: Value | None, clusters: tuple[str, str]) -> bool:
    """Whether a reader has to know. A default that comes or goes follows from something that is written."""
    if before is None or after is None:
        value = before or after
        return value is not None and bool(value.origin or value.removed)
    if clusters[0] != clusters[1] and after.written is not None and is_same(before.written, after.written):
        return False  # the same text on another cluster
    return not is_same(before.value, after.value)


def _places(
    before: Facts | None,
    after: Facts,
    subject: Subject,
    clusters: tuple[str, str],
    old: Value | None,
    new: Value | None,
) -> Iterator[Origin]:
    """The place that decides, and of the same text with other variables their places."""
    yield from [place for fact in (new, old) if fact and (place := fact.removed or fact.origin)][:1]
    if before and old and new and new.written is not None and is_same(old.written, new.written):
        sides = [side.variables(subject, at) for side, at in zip((before, after), clusters, strict=True)]
        for name in placeholders(new.written):
            place = after.variable(subject, clusters[1], name)
            if place and sides[0].get(name, ABSENT) != sides[1].get(name, ABSENT):
                yield place


# --- secrets --------------------------------------------------------------------------------------------------------


def _masked(old: Values, new: Values) -> dict[Path, tuple[Any, Any]]:
    """Both sides of every path without secrets. The keys around one say what it means, so all values are looked at."""
    old_tree, new_tree = (tree_of((fact.path, fact.value) for fact in side.values()) for side in (old, new))
    shown = masked_pair(old_tree, new_tree)
    masked_values = {}
    for path in dict.fromkeys((*new, *old)):
        before, after = (old_tree, new_tree) if is_name(path) else shown
        keys = tuple(map(str, path))
        masked_values[path] = (value_at(before, keys, ABSENT), value_at(after, keys, ABSENT))
    return masked_values


def hidden(values: Values) -> dict[Path, Any]:
    """Every value without secrets."""
    return {path: after for path, (_, after) in _masked({}, values).items()}


def is_name(path: Path) -> bool:
    """Whether a value names credentials or a kubeconfig, which is no secret."""
    return path[0] == "kubeconfig" or (path[-1] == "credentials" and "values" not in path)


def tree_of(values: Iterable[tuple[Path, Any]]) -> dict[str, Any]:
    """Values by path as nested mappings, in which an index of a list is a key."""
    tree: dict[str, Any] = {}
    for path, value in values:
        below = tree
        for part in path[:-1]:
            below = below.setdefault(str(part), {})
        below[str(path[-1])] = value
    return tree


# --- equal changes --------------------------------------------------------------------------------------------------


def joined(changes_by_cluster: Sequence[Occurrence], homes: Homes) -> list[Change]:
    """The changes, each once for all subjects and clusters that have it: what is removed, what changes, what is added."""
    changes_by_cluster = list(_own(changes_by_cluster))
    keys: dict[Any, tuple[Occurrence, ChangedValue | None]] = {}
    lines: list[tuple[Any, Subject, str]] = []
    for occurrence in changes_by_cluster:
        for value in occurrence.values or (None,):
            key = (_rank(occurrence), repr(value))
            keys.setdefault(key, (occurrence, value))
            lines.append((key, occurrence.subject, occurrence.cluster))
    by_where: dict[tuple[Any, Where], list[Any]] = {}
    for key, where in together(lines, homes):
        by_where.setdefault((key[0], where), []).append(key)
    changes = []
    for (_, where), own in sorted(by_where.items(), key=lambda group: group[0][0]):
        values = tuple(value for key in own if (value := keys[key][1]))
        changes.append(Change(effect=keys[own[0]][0].effect, where=where, values=values))
    return changes


def _own(changes: Sequence[Occurrence]) -> Iterator[Occurrence]:
    """The changes without what a subject takes over from its tenant, the platform or the cluster, which has the same change."""
    handed_down: dict[Spot, set[str]] = {
        (change.subject, change.cluster): {_essence(value) for value in change.values if value.places}
        for change in changes
        if not change.subject.name
    }
    for change in changes:
        subject, cluster = change.subject, change.cluster
        above = [CLUSTER] if subject.name or subject.tenant else []
        above += [Subject(Kind.TENANT, subject.tenant) if subject.tenant else THE_PLATFORM] if subject.name else []
        known = set[str]().union(*(handed_down.get((holder, cluster), ()) for holder in above))
        values = tuple(value for value in change.values if _essence(value) not in known)
        if values or change.effect is not Effect.CHANGED:
            yield change._replace(values=values)


def _essence(value: ChangedValue) -> str:
    """What is equal in a value and what takes it over, maybe under another path."""
    return repr((value.before, value.after, value.places))


_WHOLES = (ENVIRONMENT, THE_PLATFORM, CLUSTER)
_EFFECTS = list(Effect)


def _rank(occurrence: Occurrence) -> tuple[int, int]:
    """The order of changes: those of whole clusters come before those of their tenants."""
    subject = occurrence.subject
    whole = _WHOLES.index(subject) if subject in _WHOLES else len(_WHOLES)
    return whole, _EFFECTS.index(occurrence.effect)


# --- two environments of one file ----------------------------------------------------------------------------------


def between(fleet: Fleet, first: Plan, second: Plan) -> tuple[Change, ...]:
    """The differences from the first environment to the second.

    A text with placeholders is compared as it is written, so what only fills in a name or a variable is no difference. Of a value
    that is not the same on all clusters of an environment, all values are compared.
    """
    return tuple(joined(list(_between(Facts(fleet, first), Facts(fleet, second))), {}))


def _between(first: Facts, second: Facts) -> Iterator[Occurrence]:
    for subject in dict.fromkeys((*first.clusters, *second.clusters)):
        if subject == CLUSTER:
            continue
        if subject not in second.clusters:
            yield Occurrence(subject, "", Effect.REMOVED, ())
        elif subject not in first.clusters:
            yield Occurrence(subject, "", Effect.ADDED, ())
        elif values := tuple(_differing(_variants(first, subject), _variants(second, subject))):
            yield Occurrence(subject, "", Effect.CHANGED, values)


Variants = dict[Path, dict[str, tuple[Any, Origin | None]]]
"""The values of each path on the clusters of an environment, each once by its text, with a place."""


def _variants(facts: Facts, subject: Subject) -> Variants:
    variants: Variants = {}
    for cluster in facts.clusters[subject]:
        values = facts.of(subject, cluster)
        shown = hidden(values)
        for path, value in values.items():
            text = written(value, shown[path])
            variants.setdefault(path, {}).setdefault(repr(text), (text, value.removed or value.origin))
    return variants


def _differing(first: Variants, second: Variants) -> Iterator[ChangedValue]:
    for path in dict.fromkeys((*second, *first)):
        old_values, new_values = first.get(path, {}), second.get(path, {})
        if old_values.keys() != new_values.keys():
            variants = (
                side[key]
                for side, rest in ((new_values, old_values), (old_values, new_values))
                for key in side
                if key not in rest
            )
            places = dict.fromkeys(place for _, place in variants if place)
            yield ChangedValue(
                path=path, before=_one_or_all(old_values), after=_one_or_all(new_values), places=tuple(places)[:1]
            )


def _one_or_all(variants: dict[str, tuple[Any, Origin | None]]) -> Any:
    """The value, or the list of all where clusters differ."""
    values = [value for value, _ in variants.values()]
    return ABSENT if not values else values[0] if len(values) == 1 else values
