"""One environment from its clusters to its last app."""

from __future__ import annotations

from dataclasses import dataclass

from tenantry.fleet.fleet import Fleet, clusters_of
from tenantry.fleet.placement import apps_by_cluster, matches, tenant_barrier
from tenantry.fleet.settings import tenant_states
from tenantry.grants.grants import is_filled
from tenantry.messages.errors import Problems, collecting
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


class Planner:
    """Gathers the objects and the findings of one environment, or of a part of it."""

    def __init__(self, fleet: Fleet, environment: str, part: Part | None = None) -> None:
        self.fleet = fleet
        self.environment = environment
        self.findings = Problems()
        part = part or Part()
        clusters, tenants = clusters_of(fleet, environment), fleet.document.tenants
        self._clusters = tuple(cluster for cluster in clusters if part.cluster in (None, cluster))
        self._tenants = tuple(tenant for tenant in tenants if part.tenant in (None, tenant))
        self.gathered = Gathering(fleet.source, self.findings)
        self._platform = PlatformPlanner(fleet, environment, self.gathered)
        territory = Territory(fleet, environment)
        self._placements = PlacementPlanner(fleet, environment, self.gathered, self._platform, territory)

    @property
    def placements(self) -> list[PlannedPlacement]:
        return self._placements.placements

    def run(self) -> None:
        for cluster in self._clusters:
            self._platform.alerts(cluster)
            self._platform.addons(cluster)
        for tenant in self._tenants:
            with collecting(self.findings):
                placed = apps_by_cluster(self.fleet, self.environment, tenant, self._clusters)
                for cluster in self._clusters:
                    if cluster in placed or self._is_given_up(tenant, cluster):
                        with collecting(self.findings):
                            self._placements.add(tenant, cluster, placed.get(cluster, []))
            self.fleet.shared.clear()

    def _is_given_up(self, tenant: str, cluster: str) -> bool:
        """Whether a tenant without apps is placed for its namespaces' sake, which go with their data."""
        declared, at = self.fleet.document.tenants[tenant], ("tenants", tenant, "clusters")
        if declared.apps or declared.clusters is None or is_filled(self.fleet, at):
            return False
        takes = matches(declared.clusters, cluster, self.fleet.clusters[cluster])
        is_offboarded = "offboarding" in tenant_states(self.fleet, tenant, cluster)
        return takes and is_offboarded and not tenant_barrier(self.fleet, self.environment, tenant)
