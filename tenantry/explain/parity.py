"""What differs between two environments: apps that only one of them has, and settings, each with the reason."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tenantry.explain.common import tree_of
from tenantry.explain.variants import Reason, Variant, app_variants, follows, meant, reason_of, tenant_variants
from tenantry.fleet.choice import choice_of_addon, choice_of_app
from tenantry.fleet.fleet import Fleet, clusters_of
from tenantry.fleet.merge import Origin, Value, origin_at
from tenantry.fleet.placement import barrier
from tenantry.messages.data import ABSENT, value_at
from tenantry.messages.errors import Path
from tenantry.messages.masking import masked_pair
from tenantry.messages.text import grouped
from tenantry.plan.plan import Plan
from tenantry.plan.planned_apps import PlannedApp

_OWN = ("management", "after", "extends", "tenants", "variables", "namespace")
"""Keys of an environment that say what it is, or that show in what they are used for."""


@dataclass(frozen=True, slots=True, order=True)
class Subject:
    """An app, an add-on (the tenant is ""), a tenant (the app is "") or the environment itself (both are "")."""

    tenant: str
    app: str = ""


@dataclass(frozen=True, slots=True)
class Found:
    """A value in one environment, with secrets hidden, and the clusters that have it; ABSENT where nothing sets it."""

    value: Any
    clusters: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """What only one environment has. The reason is why the other does not have it."""

    subject: Subject
    only_in: str
    reason: Reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A setting that differs in the same way for all subjects. first, second: what the environments have."""

    subjects: tuple[Subject, ...]
    path: Path
    first: tuple[Found, ...]
    second: tuple[Found, ...]
    reason: Reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Parity:
    """apps: how many are in both environments; equal: how many of them are the same."""

    environments: tuple[str, str]
    missing: tuple[Missing, ...]
    differences: tuple[Difference, ...]
    apps: int
    equal: int

    @property
    def is_equal(self) -> bool:
        return not self.missing and not self.differences


def parity(
    fleet: Fleet, first: Plan, second: Plan, tenants: Collection[str] = (), apps: Collection[str] = ()
) -> Parity:
    """Compare two environments of a fleet. Args: tenants, apps: only these; empty: all. The tenant "" has the add-ons."""
    sides = tuple(_Side(fleet, each, tenants, apps) for each in (first, second))
    one, other = sides
    both = [each for each in one.placed if each in other.placed]
    found = [
        difference
        for subject in both
        for difference in _differences(subject, one.variants(subject), other.variants(subject))
    ]
    equal = len(both) - len({each.subjects for each in found})
    if not apps:
        for tenant in (cluster for cluster in one.clusters if cluster in other.clusters):
            found += _differences(Subject(tenant), *(side.settings(tenant) for side in sides))
        if not tenants or "" in tenants:
            found += _differences(Subject(""), *(each.settings("") for each in sides))
        found += _of_environments(fleet, first.environment, second.environment) if not tenants else ()
    return Parity(
        environments=(first.environment, second.environment),
        missing=(*one.missing_in(other), *other.missing_in(one)),
        differences=tuple(_together(found)),
        apps=len(both),
        equal=equal,
    )


class _Side:
    """One environment: what is placed in it, and what is compared."""

    def __init__(self, fleet: Fleet, plan: Plan, tenants: Collection[str], apps: Collection[str]) -> None:
        self.fleet, self.plan = fleet, plan
        chosen = [app for app in plan.apps if (not tenants or app.tenant in tenants) and (not apps or app.name in apps)]
        self.placed = grouped(chosen, lambda each: Subject(each.tenant, each.name))
        self.clusters: dict[str, list[str]] = {}
        for placement in plan.placements:
            if not tenants or placement.tenant in tenants:
                self.clusters.setdefault(placement.tenant, []).append(placement.cluster)
        self._tenant = ""

    def variants(self, subject: Subject) -> list[Variant]:
        if subject.tenant != self._tenant:
            self._tenant = subject.tenant
            self.fleet.shared.clear()
        return app_variants(self.fleet, self.plan, self.placed[subject])

    def settings(self, tenant: str) -> list[Variant]:
        clusters = self.clusters[tenant] if tenant else clusters_of(self.fleet, self.plan.environment)
        return tenant_variants(self.fleet, self.plan, tenant, clusters)

    def missing_in(self, other: _Side) -> Iterator[Missing]:
        for subject, placed in self.placed.items():
            if subject not in other.placed:
                reason = _absence(self.fleet, other.plan.environment, placed[0])
                yield Missing(subject=subject, only_in=self.plan.environment, reason=reason)


def _absence(fleet: Fleet, environment: str, app: PlannedApp) -> Reason:
    """Why an environment does not have an app: it is kept out, or no cluster there is selected."""
    if kept_out := barrier(fleet, environment, app.at):
        return meant(kept_out.reason, (origin_at(fleet.source, kept_out.at),))
    choice = (
        choice_of_app(fleet, environment, app.tenant, app.name)
        if app.tenant
        else choice_of_addon(fleet, environment, app.name)
    )
    told = {decision.reason: decision.origin for decision in reversed(choice.decisions) if not decision.placed}
    if len(told) == 1:
        ((reason, origin),) = told.items()
        return follows(f"clusters of {environment}: {reason}", (origin,))
    return follows(f"its clusters ({choice.selector}) include none of {environment}", (choice.origin,))


def _differences(subject: Subject, one: Sequence[Variant], other: Sequence[Variant]) -> Iterator[Difference]:
    """What differs, path by path, in the order of the values."""
    if len(one) == len(other) == 1 and one[0].compared == other[0].compared:
        return
    hidden: _Hidden = {}
    for path in dict.fromkeys(path for each in (*one, *other) for path in each.compared):
        texts = [_by_text(side, path) for side in (one, other)]
        if texts[0].keys() == texts[1].keys():
            continue
        own = [
            [variants[0] for text, variants in side.items() if text not in beside or side.keys() < beside.keys()]
            for side, beside in (texts, texts[::-1])
        ]
        hidden = hidden or _masked(one, other)
        yield Difference(
            subjects=(subject,),
            path=path,
            first=_found(texts[0], path, hidden),
            second=_found(texts[1], path, hidden),
            reason=reason_of(path, own[0], own[1]),
        )


def _by_text(variants: Iterable[Variant], path: Path) -> dict[str, list[Variant]]:
    return grouped(variants, lambda each: each.compared.get(path, ""))


_Hidden = Mapping[int, Mapping[Path, Any]]


def _masked(one: Sequence[Variant], other: Sequence[Variant]) -> _Hidden:
    """The values of each variant with secrets hidden, such that different secrets look different."""
    hidden: dict[int, Mapping[Path, Any]] = {}
    for first in one:
        left, right = masked_pair(_tree(first), _tree(other[0]))
        hidden[id(first)] = _by_path(left, first)
        hidden.setdefault(id(other[0]), _by_path(right, other[0]))
    for second in other[1:]:
        hidden[id(second)] = _by_path(masked_pair(_tree(one[0]), _tree(second))[1], second)
    return hidden


def _tree(variant: Variant) -> dict[str, Any]:
    return tree_of((path, variant.shown.get(path, value.value)) for path, value in variant.values.items())


def _by_path(tree: Any, variant: Variant) -> Mapping[Path, Any]:
    return {path: value_at(tree, tuple(map(str, path))) for path in variant.values}


def _found(texts: Mapping[str, Sequence[Variant]], path: Path, hidden: _Hidden) -> tuple[Found, ...]:
    by_count = sorted(texts.values(), key=lambda each: -sum(len(one.clusters) for one in each))
    return tuple(
        Found(
            hidden[id(variants[0])].get(path, ABSENT),
            tuple(cluster for variant in variants for cluster in variant.clusters),
        )
        for variants in by_count
    )


def _of_environments(fleet: Fleet, first: str, second: str) -> Iterable[Difference]:
    """Settings of the environments themselves."""
    sides = []
    for name in (first, second):
        data = fleet.environments[name].model_dump(exclude_none=True)
        values: dict[Path, Value] = {
            (key,): _said(fleet, name, key, value) for key, value in data.items() if key not in _OWN
        }
        sides.append([Variant(values, {path: repr(each.value) for path, each in values.items()})])
    return _differences(Subject(""), sides[0], sides[1])


def _said(fleet: Fleet, environment: str, key: str, value: Any) -> Value:
    at = fleet.said_at(environment, key)
    written = key in fleet.raw(*map(str, at[:2]))
    return Value((key,), value, origin_at(fleet.source, at) if written else None)


def _together(found: Iterable[Difference]) -> Iterator[Difference]:
    """Equal differences as one, with all subjects and all places."""
    for alike in grouped(found, _essence).values():
        places: tuple[Origin, ...] = tuple(dict.fromkeys(origin for each in alike for origin in each.reason.origins))
        subjects = tuple(subject for each in alike for subject in each.subjects)
        first = alike[0]
        reason = replace(first.reason, origins=places)
        yield Difference(subjects=subjects, path=first.path, first=first.first, second=first.second, reason=reason)


def _essence(each: Difference) -> tuple[Any, ...]:
    return each.path, _shown(each.first), _shown(each.second), each.reason.is_meant, each.reason.text


def _shown(side: tuple[Found, ...]) -> tuple[Any, ...]:
    return tuple((repr(each.value), each.clusters if len(side) > 1 else ()) for each in side)
