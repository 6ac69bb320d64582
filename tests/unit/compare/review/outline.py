"""A review as compact text for tests, and the reviews of two texts."""

from __future__ import annotations

from collections.abc import Iterator

from tenantry.compare.diff import diff_all
from tenantry.compare.review.build import review
from tenantry.compare.review.model import Change, EnvironmentReview, Review
from tenantry.compare.review.parts import Planned
from tenantry.compare.review.words import key_of
from tenantry.load import plan_all
from tenantry.messages.data import ABSENT
from tests.unit.texts import fleet

SIGNS = {"added": "+", "removed": "-", "changed": "~", "renamed": ">"}


def reviewed(before: str, after: str) -> Review:
    one, other = planned(before), planned(after)
    return review(diff_all(one.plans, other.plans), one, other)


def planned(text: str) -> Planned:
    there = fleet(text)
    return Planned(there, plan_all(there))


def lines(environment: EnvironmentReview) -> Iterator[str]:
    for change in environment.clusters:
        yield from _change(change)
    for tenant in environment.tenants:
        was = f" (was {tenant.was})" if tenant.was else ""
        yield f"{SIGNS[tenant.effect]} {tenant.tenant or 'platform'}{was}"
        for text in tenant.sentences:
            yield f"  {text}"
        for change in tenant.changes:
            yield from (f"  {line}" for line in _change(change))


def _change(change: Change) -> Iterator[str]:
    was = f" (was {change.was})" if change.was else ""
    part = f"{change.part.kind} {change.part.name}".rstrip()
    on = f" on {', '.join(change.clusters)} of {change.of}" if change.clusters else ""
    yield f"{SIGNS[change.effect]} {part}{was}{on}: {len(change.objects)}"
    yield from (f"  {text}" for text in change.sentences)
    yield from (f"  {each.key}: {_value(each.before)} -> {_value(each.after)}" for each in change.settings)
    yield from (f"  ({key_of(each.path)}: {_value(each.before)} -> {_value(each.after)})" for each in change.fields)


def _value(value: object) -> str:
    return "-" if value is ABSENT else str(value)
