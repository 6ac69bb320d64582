"""Which namespaces go with their data when they are removed: those that were off-boarded before. All others stay."""

from __future__ import annotations

from tenantry.guard.kubeconfigs import held_by
from tenantry.plan.plan import Plan


def given_up(plan: Plan) -> frozenset[tuple[str, str, str]]:
    """Namespaces as (tenant, cluster, name); the tenant is "" for those of add-ons."""
    there = held_by(plan)
    own = {key for key, leaving in there.namespaces.items() if leaving}
    return frozenset(own | {("", *key) for key, leaving in there.addon_namespaces.items() if leaving})
