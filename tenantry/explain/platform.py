"""The platform: the settings that add-ons share, everywhere and on each cluster, and where the add-ons are."""

from __future__ import annotations

from dataclasses import dataclass

from tenantry.explain.declared import known_cluster
from tenantry.explain.values import entries_at, platform_namespace, platform_times, shard_of
from tenantry.fleet.choice import Choice, choice_of_addon
from tenantry.fleet.fleet import Fleet, clusters_of
from tenantry.fleet.merge import Layer
from tenantry.fleet.resolve import resolved
from tenantry.fleet.settings import variables_of
from tenantry.fleet.sharing import platform_account
from tenantry.fleet.trace import Value, origin_at, trace
from tenantry.model import ObjectsChart
from tenantry.plan.plan import Plan


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedPlatform:
    """The settings of the platform's add-ons in an environment: everywhere, and on each cluster."""

    environment: str
    settings: tuple[Value, ...]
    clusters: dict[str, tuple[Value, ...]]
    addons: dict[str, Choice]
    alerts: tuple[Value, ...]
    receivers: tuple[Value, ...]


def explain_platform(fleet: Fleet, plan: Plan, cluster: str | None = None) -> ExplainedPlatform:
    """The settings that add-ons share, and where each is. Raises: Refused: the cluster is not declared."""
    known_cluster(fleet, plan.environment, cluster)
    here = [each for each in clusters_of(fleet, plan.environment) if cluster in (None, each)]
    addons = fleet.document.platform.addons
    return ExplainedPlatform(
        environment=plan.environment,
        settings=(platform_namespace(fleet), *platform_times(fleet)),
        clusters={each: _of_cluster(fleet, plan, each) for each in here},
        addons={addon: choice_of_addon(fleet, plan.environment, addon, cluster) for addon in addons},
        alerts=entries_at(fleet, "platform", "alerts"),
        receivers=entries_at(fleet, "platform", "receivers"),
    )


def _of_cluster(fleet: Fleet, plan: Plan, cluster: str) -> tuple[Value, ...]:
    account, shard = _platform_account(fleet, plan, cluster), shard_of(fleet, plan.environment, "", cluster)
    return (account, *shard, *_chart_values(fleet, plan, cluster))


def _platform_account(fleet: Fleet, plan: Plan, cluster: str) -> Value:
    key = "platformServiceAccount"
    at = origin_at(fleet.source, ("clusters", cluster, key)) if key in fleet.raw("clusters", cluster) else None
    return Value((key,), platform_account(fleet, plan.environment, cluster), at)


def _chart_values(fleet: Fleet, plan: Plan, cluster: str) -> tuple[Value, ...]:
    """The source of the objects chart, on a remote cluster with a baseline to install."""
    if cluster == plan.management or all(each.cluster != cluster for each in plan.placements):
        return ()
    at = ("platform", "chart")
    chart = resolved(fleet, at, ObjectsChart, variables_of(fleet, plan.environment, cluster))
    values = trace(fleet.source, [Layer(at, fleet.raw(*at))], chart.model_dump(exclude_none=True))
    return tuple(each.under("chart") for each in values)
