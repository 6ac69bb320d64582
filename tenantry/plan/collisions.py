"""Compares plans of several environments: an object that two of them would create belongs to neither stack."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator

from tenantry.fleet.fleet import Fleet
from tenantry.messages.errors import Finding, Path
from tenantry.plan.plan import Plan


def collisions(fleet: Fleet, plans: Iterable[Plan]) -> Iterator[Finding]:
    """What environments claim that another claims too; one finding for each tenant, cluster or add-ons, as more would follow."""
    plans = tuple(plans)
    if len(plans) < 2:
        return
    first: dict[Hashable, tuple[str, Path]] = {}
    told: set[tuple[Path, str, str]] = set()
    for plan in plans:
        for claim, what, at in _claims(plan):
            other, place = first.setdefault(claim, (plan.environment, at))
            key = (at[:2], other, plan.environment)
            if other != plan.environment and key not in told:
                told.add(key)
                yield Finding(
                    at,
                    "planned-twice",
                    f"environments '{other}' and '{plan.environment}' would both create {what}",
                    (f"first: {fleet.source.line_of(place)}",),
                    fix="rename one of them, or change the 'namespace' of one environment",
                )


def _claims(plan: Plan) -> Iterator[tuple[Hashable, str, Path]]:
    """What the environment takes for itself: a key, words for it, and its place in the document."""
    for object in plan.objects:
        yield (plan.management, object.id), f"{object.id} on cluster '{plan.management}'", plan.origins[object.id]
    for each in plan.placements:
        what = f"namespace '{each.namespace}' on cluster '{each.cluster}'"
        yield (each.cluster, each.namespace), what, ("tenants", each.tenant)
