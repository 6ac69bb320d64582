"""The facts of one environment: every value of every subject on each cluster, with its place in the file."""

from __future__ import annotations

from collections.abc import Mapping

from tenantry.facts.subjects import CLUSTER, ENVIRONMENT, THE_PLATFORM, Kind, Subject, subject_of
from tenantry.fleet.fleet import Fleet, clusters_of
from tenantry.fleet.merge import Layer, Origin, Value, merge, origin_at, trace
from tenantry.fleet.placed import (
    cluster_entry,
    environment_values,
    namespace_of,
    placed_app,
    placed_platform,
    placed_tenant,
    platform_entry,
    platform_namespace,
    platform_times,
    tenant_entry,
)
from tenantry.fleet.settings import variable_at, variables_of
from tenantry.messages.errors import InvalidPart, Path
from tenantry.messages.placeholders import Variables
from tenantry.plan.plan import Plan
from tenantry.plan.planned_apps import PlannedApp

Values = Mapping[Path, Value]


class Facts:
    """The facts of an environment. They are made when they are asked for, because a fleet has millions.

    clusters: those of each subject in the order of the plan; "" for the environment, and for a tenant that is on none.
    """

    def __init__(self, fleet: Fleet, plan: Plan) -> None:
        self._fleet, self._plan = fleet, plan
        self._known: dict[tuple[Subject, str], Values] = {}
        self._apps: dict[tuple[Subject, str], PlannedApp] = {(subject_of(app), app.cluster): app for app in plan.apps}
        self.clusters: dict[Subject, list[str]] = {ENVIRONMENT: [""]}
        clusters = clusters_of(fleet, plan.environment)
        self.clusters |= {CLUSTER: clusters, THE_PLATFORM: clusters}
        for placement in plan.placements:
            self.clusters.setdefault(Subject(Kind.TENANT, placement.tenant), []).append(placement.cluster)
        for subject, cluster in self._apps:
            self.clusters.setdefault(subject, []).append(cluster)
        for tenant in fleet.document.tenants:
            self.clusters.setdefault(Subject(Kind.TENANT, tenant), [""])

    def of(self, subject: Subject, cluster: str) -> Values:
        """The values of a subject on a cluster that it is on."""
        key = (subject, cluster)
        if key not in self._known:
            self._known[key] = {value.path: value for value in self._values(subject, cluster)}
        return self._known[key]

    def _values(self, subject: Subject, cluster: str) -> tuple[Value, ...]:
        fleet, environment = self._fleet, self._plan.environment
        match subject.kind:
            case Kind.ENVIRONMENT:
                return environment_values(fleet, environment)
            case Kind.CLUSTER:
                return (*cluster_entry(fleet, cluster), *self._of_platform(cluster))
            case Kind.PLATFORM:
                # The chart of baselines is a fact of the clusters on which it installs some.
                entry = (value for value in platform_entry(fleet, environment, cluster) if value.path[0] != "chart")
                return (platform_namespace(fleet), *platform_times(fleet), *entry)
            case Kind.TENANT:
                return (
                    namespace_of(fleet, environment, subject.tenant),
                    *placed_tenant(fleet, environment, subject.tenant, cluster or None),
                    *tenant_entry(fleet, environment, subject.tenant, cluster or None),
                    *grant_values(fleet, subject.tenant),
                )
        return placed_app(fleet, environment, self._apps[subject, cluster].at, cluster)

    def _of_platform(self, cluster: str) -> tuple[Value, ...]:
        """What the platform has on a cluster, with the chart of baselines wherever it could install some."""
        environment, remote = self._plan.environment, cluster != self._plan.management
        try:
            return placed_platform(self._fleet, environment, cluster, installs=remote)
        except InvalidPart:  # nothing needs the chart, so nothing has checked whether it fits
            return placed_platform(self._fleet, environment, cluster, installs=False)

    def variables(self, subject: Subject, cluster: str) -> Variables:
        """What the placeholders of a subject's values become on a cluster; nothing for what is on none."""
        if not cluster:
            return {}
        names = {"tenant": subject.tenant} if subject.tenant else {}
        names |= {"app": subject.name} if subject.name else {}
        return variables_of(self._fleet, self._plan.environment, cluster, **names)

    def variable(self, subject: Subject, cluster: str, name: str) -> Origin | None:
        """Where the value of a placeholder stands; None for a built-in one."""
        at = variable_at(self._fleet, self._plan.environment, cluster, name, subject.tenant)
        return origin_at(self._fleet.source, at) if at else None


def grant_values(fleet: Fleet, tenant: str) -> tuple[Value, ...]:
    """What the main file grants to the tenant's included file, or would."""
    layers = [Layer(("tenants", tenant, "grants"), fleet.raw("tenants", tenant, "grants"))]
    return tuple(value.under("grants") for value in trace(fleet.source, layers, merge(layers)))
