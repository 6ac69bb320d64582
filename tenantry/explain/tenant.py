"""A tenant: its namespaces, settings and alerts, and where its apps are."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tenantry.explain.declared import known, known_cluster
from tenantry.explain.values import alerts_at, namespace_of, settings_of
from tenantry.fleet.fleet import Fleet
from tenantry.fleet.placement import Choice, choice_of_app
from tenantry.fleet.trace import Value
from tenantry.plan.plan import Plan


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedTenant:
    """A tenant in an environment; the paths of `namespaces` are clusters, the keys of `apps` and first parts of `alerts` names."""

    tenant: str
    environment: str
    namespaces: tuple[Value, ...]
    settings: tuple[Value, ...]
    apps: dict[str, Choice]
    alerts: tuple[Value, ...]


def explain_tenant(fleet: Fleet, plan: Plan, tenant: str, cluster: str | None = None) -> ExplainedTenant:
    """The settings of a tenant, and where its apps are. Raises: Refused: the tenant or the cluster is not declared."""
    known("tenant", tenant, fleet.document.tenants, fleet.source.file)
    known_cluster(fleet, plan.environment, cluster)
    return ExplainedTenant(
        tenant=tenant,
        environment=plan.environment,
        namespaces=tuple(
            replace(namespace_of(fleet, plan, tenant, each.cluster), path=(each.cluster,))
            for each in plan.placements
            if each.tenant == tenant and cluster in (None, each.cluster)
        ),
        settings=settings_of(fleet, tenant),
        apps={
            app: choice_of_app(fleet, plan.environment, tenant, app, cluster)
            for app in fleet.document.tenants[tenant].apps
        },
        alerts=alerts_at(fleet, "tenants", tenant, "alerts"),
    )
