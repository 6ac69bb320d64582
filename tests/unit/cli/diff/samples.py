"""Reviews made by hand, so that the formats are tested apart from what builds reviews."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tenantry.compare.diff import Diff, diff
from tenantry.compare.review.model import (
    Change,
    Danger,
    DangerKind,
    Effect,
    EnvironmentReview,
    Part,
    PartKind,
    Review,
    Setting,
    TenantReview,
)
from tenantry.plan.plan import Plan

CLUSTERS = tuple(f"edge-{number}" for number in range(501))


def an_app(tenant: str = "rocky", name: str = "web", **given: Any) -> Change:
    kept = {"effect": Effect.CHANGED, "clusters": CLUSTERS[:479], "of": 501}
    return Change(part=Part(PartKind.APP, tenant, name), **(kept | given))


def a_tenant(*changes: Change, tenant: str = "rocky", **given: Any) -> TenantReview:
    return TenantReview(tenant=tenant, changes=changes, **({"effect": Effect.CHANGED} | given))


def environment(*tenants: TenantReview, name: str = "prod", total: int = 501, **given: Any) -> EnvironmentReview:
    compared = no_difference(name)
    return EnvironmentReview(
        environment=name, status=compared.status, diff=compared, total=total, tenants=tenants, **given
    )


def no_difference(name: str) -> Diff:
    empty = Plan(name, ("hub",), (), (), ())
    return diff(empty, empty)


def review(*environments: EnvironmentReview, unchanged: tuple[str, ...] = ()) -> Review:
    return Review(environments=environments, unchanged=unchanged)


BUMP = Setting("helm.version", "1.2.0", "1.3.0")
ADMIN = Danger(
    kind=DangerKind.RIGHTS,
    text="tenant 'rocky' gives cluster-admin in its namespaces on edge-1 to its apps",
    tenants=("rocky",),
    clusters=("edge-1",),
)
BUMPED = review(environment(a_tenant(an_app(settings=(BUMP,)))), unchanged=("dev", "test"))


def quota(tenant: str, cluster: str, before: str = "40", after: str = "50") -> TenantReview:
    part = Part(PartKind.SETTINGS, tenant, "")
    value = Setting("quota.pods", before, after)
    changed = Change(part=part, effect=Effect.CHANGED, clusters=(cluster,), of=1, settings=(value,))
    return a_tenant(changed, tenant=tenant)


def renamed(review: EnvironmentReview, name: str) -> EnvironmentReview:
    return replace(review, environment=name)
