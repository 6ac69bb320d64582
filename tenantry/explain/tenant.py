"""A tenant, and the platform: namespaces, settings, alerts and receivers, on each cluster, and where the apps are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from tenantry.explain.common import Keeper, keeper, known, known_cluster
from tenantry.fleet.choice import Choice, choice_of_addon, choice_of_app
from tenantry.fleet.fleet import Fleet, clusters_of
from tenantry.fleet.merge import Value
from tenantry.fleet.placed import (
    NOTIFICATIONS,
    namespace_of,
    placed_platform,
    placed_tenant,
    platform_entry,
    platform_namespace,
    platform_times,
    tenant_entry,
)
from tenantry.plan.placements import PlannedPlacement
from tenantry.plan.plan import Plan


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedTenant:
    """A tenant in an environment. The paths of `namespaces` are clusters; the keys of `apps`, and the first parts of the paths of
    `alerts` and `receivers`, are names.

    order: by cluster, the add-ons that everything of the tenant there waits for, and who keeps that order.
    """

    tenant: str
    environment: str
    namespaces: tuple[Value, ...]
    settings: tuple[Value, ...]
    differing: dict[str, tuple[Value, ...]]
    order: Mapping[str, Mapping[str, Keeper]]
    apps: dict[str, Choice]
    alerts: tuple[Value, ...]
    receivers: tuple[Value, ...]


def explain_tenant(fleet: Fleet, plan: Plan, tenant: str, cluster: str | None = None) -> ExplainedTenant:
    """The settings of a tenant, and where its apps are. Raises: Refused: the tenant or the cluster is not declared."""
    known("tenant", tenant, fleet.document.tenants, fleet.source.file)
    known_cluster(fleet, plan.environment, cluster)
    placements = [
        placement
        for placement in plan.placements
        if placement.tenant == tenant and cluster in (None, placement.cluster)
    ]
    shared = placed_tenant(fleet, plan.environment, tenant, cluster)
    # As written: placeholders differ between clusters.
    own = tenant_entry(fleet, plan.environment, tenant, None)
    namespace = namespace_of(fleet, plan.environment, tenant)
    return ExplainedTenant(
        tenant=tenant,
        environment=plan.environment,
        namespaces=tuple(replace(namespace, path=(each.cluster,)) for each in placements),
        settings=(*shared, *(each for each in own if each.path[0] not in NOTIFICATIONS)),
        differing={
            each.cluster: values
            for each in placements
            if (values := _differing(shared, placed_tenant(fleet, plan.environment, tenant, each.cluster)))
        },
        order={each.cluster: _order(plan, each) for each in placements if each.after},
        apps={
            app: choice_of_app(fleet, plan.environment, tenant, app, cluster)
            for app in fleet.document.tenants[tenant].apps
        },
        alerts=below(own, "alerts"),
        receivers=below(own, "receivers"),
    )


def below(values: Iterable[Value], key: str) -> tuple[Value, ...]:
    """The values under a key, with their paths from there."""
    return tuple(replace(value, path=value.path[1:]) for value in values if value.path[0] == key)


def _differing(shared: tuple[Value, ...], there: tuple[Value, ...]) -> tuple[Value, ...]:
    """The settings on a cluster that are not those of the environment; None: a setting that the cluster does not have."""
    gone = {each.path for each in shared} - {each.path for each in there}
    removed = (Value(each.path, None) for each in shared if each.path in gone)
    return (*(each for each in there if each not in shared), *removed)


def _order(plan: Plan, placement: PlannedPlacement) -> dict[str, Keeper]:
    kind = "Namespace" if placement.cluster == plan.management else "HelmRelease"
    objects = {planned.id: planned for planned in plan.objects if planned.id in placement.after.values()}
    return {name: keeper(kind, id, objects.get(id)) for name, id in placement.after.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedPlatform:
    """The settings of the platform's add-ons in an environment: everywhere, and on each cluster."""

    environment: str
    settings: tuple[Value, ...]
    clusters: dict[str, tuple[Value, ...]]
    addons: dict[str, Choice]
    alerts: tuple[Value, ...]


def explain_platform(fleet: Fleet, plan: Plan, cluster: str | None = None) -> ExplainedPlatform:
    """The settings that add-ons share, and where each is. Raises: Refused: the cluster is not declared."""
    known_cluster(fleet, plan.environment, cluster)
    here = [each for each in clusters_of(fleet, plan.environment) if cluster in (None, each)]
    addons, own = fleet.document.platform.addons, platform_entry(fleet)
    # A management cluster needs no release of a baseline.
    installing = {placement.cluster for placement in plan.placements} - {plan.management}
    return ExplainedPlatform(
        environment=plan.environment,
        settings=(
            platform_namespace(fleet),
            *platform_times(fleet),
            *(each for each in own if each.path[0] != "alerts"),
        ),
        clusters={each: placed_platform(fleet, plan.environment, each, installs=each in installing) for each in here},
        addons={addon: choice_of_addon(fleet, plan.environment, addon, cluster) for addon in addons},
        alerts=below(own, "alerts"),
    )
