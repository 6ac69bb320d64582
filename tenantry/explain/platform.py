"""The platform: the settings that add-ons share, everywhere and on each cluster, and where the add-ons are."""

from __future__ import annotations

from dataclasses import dataclass

from tenantry.explain.declared import known_cluster
from tenantry.explain.tenant import below
from tenantry.fleet.choice import Choice, choice_of_addon
from tenantry.fleet.fleet import Fleet, clusters_of
from tenantry.fleet.merge import Value
from tenantry.fleet.placed import NOTIFICATIONS, placed_platform, platform_entry, platform_namespace, platform_times
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
    addons, own = fleet.document.platform.addons, platform_entry(fleet)
    # The management cluster needs no release of a baseline.
    installing = {each.cluster for each in plan.placements} - {plan.management}
    return ExplainedPlatform(
        environment=plan.environment,
        settings=(
            platform_namespace(fleet),
            *platform_times(fleet),
            *(each for each in own if each.path[0] not in NOTIFICATIONS),
        ),
        clusters={each: placed_platform(fleet, plan.environment, each, installs=each in installing) for each in here},
        addons={addon: choice_of_addon(fleet, plan.environment, addon, cluster) for addon in addons},
        alerts=below(own, "alerts"),
        receivers=below(own, "receivers"),
    )
