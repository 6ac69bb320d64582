"""What differs between two environments of one file: subjects that only one has, and facts that are written differently."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from tenantry.facts.changes import Change, ChangedValue, Effect, Occurrence, hidden, joined, written
from tenantry.facts.facts import Facts
from tenantry.facts.subjects import CLUSTER, Subject
from tenantry.fleet.fleet import Fleet
from tenantry.fleet.merge import Origin
from tenantry.messages.data import ABSENT
from tenantry.messages.errors import Path
from tenantry.plan.plan import Plan


def between(fleet: Fleet, first: Plan, second: Plan, tenants: Collection[str] = ()) -> tuple[Change, ...]:
    """The differences from the first environment to the second.

    A text with placeholders is compared as it is written, so what only fills in a name or a variable is no difference. Of a value
    that is not the same on all clusters of an environment, all values are compared.

    Args: tenants: only these, "" for the platform; empty: all, and the environments themselves.
    """
    found = _occurrences(Facts(fleet, first), Facts(fleet, second), tenants)
    return tuple(joined(list(found), {}))


def _occurrences(first: Facts, second: Facts, tenants: Collection[str]) -> Iterator[Occurrence]:
    for subject in dict.fromkeys((*first.clusters, *second.clusters)):
        is_wanted = subject.tenant in tenants and (subject.tenant or subject.name) if tenants else True
        if subject == CLUSTER or not is_wanted:
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
    found: Variants = {}
    for cluster in facts.clusters[subject]:
        values = facts.of(subject, cluster)
        shown = hidden(values)
        for path, value in values.items():
            text = written(value, shown[path])
            found.setdefault(path, {}).setdefault(repr(text), (text, value.removed or value.origin))
    return found


def _differing(first: Variants, second: Variants) -> Iterator[ChangedValue]:
    for path in dict.fromkeys((*second, *first)):
        one, other = first.get(path, {}), second.get(path, {})
        if one.keys() != other.keys():
            variants = [
                *(other[key] for key in other.keys() - one.keys()),
                *(one[key] for key in one.keys() - other.keys()),
            ]
            places = dict.fromkeys(place for _, place in variants if place)
            yield ChangedValue(path=path, before=_value(one), after=_value(other), places=tuple(places)[:1])


def _value(variants: dict[str, tuple[Any, Origin | None]]) -> Any:
    """The value, or the list of all where clusters differ."""
    values = [value for value, _ in variants.values()]
    return ABSENT if not values else values[0] if len(values) == 1 else values
