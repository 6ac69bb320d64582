"""A tenant: its namespaces, settings, alerts and receivers, and where its apps are."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tenantry.explain.declared import known, known_cluster
from tenantry.explain.values import entries_at, namespace_of, settings_of
from tenantry.fleet.choice import Choice, choice_of_app
from tenantry.fleet.fleet import Fleet
from tenantry.fleet.trace import Value
from tenantry.plan.plan import Plan


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedTenant:
    """A tenant in an environment. The paths of `namespaces` are clusters; the keys of `apps`, and the first parts of the paths of
    `alerts` and `receivers`, are names.
    """

    tenant: str
    environment: str
    namespaces: tuple[Value, ...]
    settings: tuple[Value, ...]
    apps: dict[str, Choice]
    alerts: tuple[Value, ...]
    receivers: tuple[Value, ...]


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
        alerts=entries_at(fleet, "tenants", tenant, "alerts"),
        receivers=entries_at(fleet, "tenants", tenant, "receivers"),
    )
