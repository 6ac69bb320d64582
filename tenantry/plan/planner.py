"""One environment from its clusters to its last app."""

from __future__ import annotations

from dataclasses import dataclass

from tenantry.fleet.fleet import Fleet, clusters_of, hub_of
from tenantry.fleet.placement import apps_on
from tenantry.fleet.settings import TenantSettings, settings_layers, tenant_settings
from tenantry.messages.errors import Path, Problems, collecting
from tenantry.plan.gathering import Gathering
from tenantry.plan.namespaces import Territory
from tenantry.plan.placements import PlacementPlanner, PlannedPlacement
from tenantry.plan.platform import PlatformPlanner


@dataclass(frozen=True, slots=True)
class Part:
    """What is planned of an environment. tenant: None for all tenants, "" for none of them; cluster: None for all.

    The add-ons and alerts of its clusters are always planned.
    """

    tenant: str | None = None
    cluster: str | None = None


class _Hub:
    """Plans what one management cluster has of an environment, which may have others."""

    def __init__(self, fleet: Fleet, environment: str, hub: str, findings: Problems, territory: Territory) -> None:
        self.gathered = Gathering(fleet.source, findings)
        self.platform = PlatformPlanner(fleet, environment, hub, self.gathered)
        self.placements = PlacementPlanner(fleet, environment, self.gathered, self.platform, territory)


class Planner:
    """Gathers the objects and the findings of one environment, or of a part of it.

    Each management cluster is planned as if the environment had it alone. So nothing there refers to an object on another one,
    and in an environment with several the name of the cluster becomes part of the identities only at the end.
    """

    def __init__(self, fleet: Fleet, environment: str, part: Part | None = None) -> None:
        self.fleet = fleet
        self.environment = environment
        self.findings = Problems()
        self.hubs = fleet.environments[environment].managements
        part = part or Part()
        clusters, tenants = clusters_of(fleet, environment), fleet.document.tenants
        self._clusters = tuple(cluster for cluster in clusters if part.cluster in (None, cluster))
        self._tenants = tuple(tenant for tenant in tenants if part.tenant in (None, tenant))
        self._settings: dict[tuple[Path, ...], TenantSettings] = {}
        territory = Territory(fleet, environment)
        self._at = {hub: _Hub(fleet, environment, hub, self.findings, territory) for hub in self.hubs}

    def gathered(self) -> tuple[Gathering, list[PlannedPlacement]]:
        """The objects, apps and placements of all management clusters."""
        if len(self._at) == 1:
            only = self._at[self.hubs[0]]
            return only.gathered, only.placements.placements
        every, placements = Gathering(self.fleet.source, self.findings), list[PlannedPlacement]()
        for hub, there in self._at.items():
            every.join(there.gathered, hub)
            placements += (each.at_hub(hub) for each in there.placements.placements)
        return every, placements

    def run(self) -> None:
        for cluster in self._clusters:
            platform = self._on(cluster).platform
            platform.alerts(cluster)
            platform.addons(cluster)
        for tenant in self._tenants:
            with collecting(self.findings):
                self._plan_tenant(tenant)
            self.fleet.shared.clear()

    def _on(self, cluster: str) -> _Hub:
        return self._at[hub_of(self.fleet, self.environment, cluster)]

    def _plan_tenant(self, tenant: str) -> None:
        for cluster, apps in self._apps_by_cluster(tenant).items():
            with collecting(self.findings):
                self._on(cluster).placements.add(tenant, cluster, apps, self._settings_of(tenant, cluster))

    def _settings_of(self, tenant: str, cluster: str) -> TenantSettings:
        """The tenant's settings there. Clusters for which the same parts of the file speak share them: checking them takes time."""
        layers = settings_layers(self.fleet, tenant, self.environment, cluster)
        key = tuple(layer.path for layer in layers)
        if key not in self._settings:
            self._settings[key] = tenant_settings(self.fleet, tenant, self.environment, cluster)
        return self._settings[key]

    def _apps_by_cluster(self, tenant: str) -> dict[str, list[str]]:
        """The clusters of this environment where the tenant is, each with its apps, in the order of the file."""
        placed = {cluster: apps_on(self.fleet, self.environment, tenant, cluster) for cluster in self._clusters}
        return {cluster: apps for cluster, apps in placed.items() if apps}
