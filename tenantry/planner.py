"""How a plan comes about: clusters first, then add-ons, then tenants cluster by cluster.

A part that can not be planned leaves a finding and does not stop the others, so that one run names all problems.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from tenantry import names
from tenantry.accounts import foreign_accounts
from tenantry.errors import Finding, Found, Path
from tenantry.fleet import Fleet, clusters_of, matches
from tenantry.hub import marker, platform_account
from tenantry.kube import KubeObject, Manifest, ObjectId, Owner
from tenantry.model import ChartRepository, ConfigMap, SecretKey
from tenantry.objects.alerts import plan_alerts
from tenantry.objects.apps import app_id
from tenantry.objects.appset import AppSet, PlannedApp, plan_apps
from tenantry.objects.attachments import Attachments
from tenantry.objects.baseline import baseline
from tenantry.objects.dependencies import Dependency
from tenantry.objects.lifecycle import Lifecycle, given_up, in_state, lifecycle
from tenantry.objects.remote import baseline_release, objects_chart, service_account, workload_identity
from tenantry.objects.scope import Scope, on_management
from tenantry.settings import (
    TenantSettings,
    namespace_settings,
    platform_settings,
    selector_of,
    tenant_settings,
    variables_of,
)
from tenantry.template import fill
from tenantry.territory import Territory
from tenantry.wording import name_too_long


@dataclass(frozen=True, slots=True)
class PlannedPlacement:
    """One tenant on one cluster."""

    tenant: str
    cluster: str
    namespace: str
    extra: tuple[str, ...] = ()

    @property
    def namespaces(self) -> tuple[str, ...]:
        """All of the tenant's there, the main one first."""
        return (self.namespace, *self.extra)


class Planner:
    """Gathers the objects and the findings of one environment."""

    def __init__(self, fleet: Fleet, environment: str) -> None:
        self.fleet = fleet
        self.environment = environment
        self.management = fleet.environments[environment].management
        self.platform = fleet.document.platform
        self.settings = platform_settings(fleet)
        self.objects: dict[ObjectId, KubeObject] = {}
        self.placements: list[PlannedPlacement] = []
        self.apps: list[PlannedApp] = []
        self.findings: list[Finding] = []
        self.origins: dict[ObjectId, Path] = {}
        self._charts: dict[str, ObjectId] = {}
        self._alerts: dict[str, tuple[ObjectId, ...]] = {}  # the platform's, by cluster
        self._release_at: dict[tuple[str, str, str], Path] = {}
        self._territory = Territory(fleet, environment)

    def run(self) -> None:
        for cluster in clusters_of(self.fleet, self.environment):
            self._platform_alerts(cluster)
            self._addons(cluster)
        for tenant in self.fleet.document.tenants:
            try:
                settings = tenant_settings(self.fleet, tenant)
            except Found as found:
                self.findings += found.findings
                continue
            for cluster, apps in self._apps_by_cluster(tenant).items():
                try:
                    self._placement(tenant, cluster, apps, settings)
                except Found as found:
                    self.findings += found.findings

    # --- add-ons ------------------------------------------------------------------------------------------------

    def _addons(self, cluster: str) -> None:
        """An add-on is there once: of several environments the first that the cluster names has it."""
        wanted = self._wanted(cluster)
        if not wanted or self.environment != self.fleet.addons_owner(cluster):
            return
        scope = self._platform_scope(cluster)
        scope = replace(scope, base=(*scope.base, *self._alerts.get(cluster, ())))
        variables = variables_of(self.fleet, self.environment, cluster)
        self._add_apps(plan_apps(self.fleet, scope, self.settings, wanted, variables, addons={}))

    def _platform_alerts(self, cluster: str) -> None:
        """They are there once, and tell of all environments' objects for the cluster on this management cluster."""
        beside = [each for each in self.fleet.clusters[cluster].environments if self._is_managed_here(each)]
        if not self.platform.alerts or self.environment != beside[0]:
            return
        there = self._addons_there(cluster)
        if there or (cluster != self.management and self._has_tenants(cluster)):
            addons = {name.removeprefix(names.ADDON_PREFIX): each.id for name, each in there.items()}
            variables = variables_of(self.fleet, self.environment, cluster)
            self._alerts[cluster] = self._add_alerts(self._platform_scope(cluster), addons, variables)

    def _has_tenants(self, cluster: str) -> bool:
        return any(self._apps_on(tenant, cluster) for tenant in self.fleet.document.tenants)

    def _is_managed_here(self, environment: str) -> bool:
        return self.fleet.environments[environment].management == self.management

    def _wanted(self, cluster: str) -> list[str]:
        """The add-ons whose selectors take the cluster."""
        declared = self.fleet.clusters[cluster]
        return [name for name, addon in self.platform.addons.items() if matches(addon.clusters, cluster, declared)]

    def _addons_there(self, cluster: str) -> dict[str, Dependency]:
        """The cluster's add-ons as what apps depend on, whichever environment of this management cluster has them."""
        owner = self.fleet.addons_owner(cluster)
        wanted = self._wanted(cluster)
        if not wanted or not self._is_managed_here(owner):
            return {}
        scope, planned = self._platform_scope(cluster), owner == self.environment
        ids = {name: app_id(scope, name, self.platform.addons[name].kind) for name in wanted}
        return {f"{names.ADDON_PREFIX}{name}": Dependency(id, planned) for name, id in ids.items()}

    def _platform_scope(self, cluster: str) -> Scope:
        """The platform team on one cluster; makes the service account it acts as, if the cluster is a remote."""
        kubeconfig = self._kubeconfig(cluster)
        namespace = self.platform.namespace
        account = platform_account(self.fleet, self.environment, cluster)
        identity = self._identity(cluster, kubeconfig)
        at = ("clusters", cluster)
        base = (self._account(account, kubeconfig.namespace, Owner(), at), *identity) if kubeconfig else ()
        return Scope(
            environment=self.environment,
            cluster=cluster,
            owner=Owner(cluster=cluster),
            home=kubeconfig.namespace if kubeconfig else namespace,
            prefix=(cluster,) if kubeconfig else (),
            namespace=namespace,
            storage=namespace,
            service_account=account,
            kubeconfig=kubeconfig,
            base=base,
        )

    # --- tenants ------------------------------------------------------------------------------------------------

    def _apps_by_cluster(self, tenant: str) -> dict[str, list[str]]:
        """The clusters of this environment where the tenant has apps, in the order of the file."""
        placed: dict[str, list[str]] = {}
        for cluster in clusters_of(self.fleet, self.environment):
            if apps := self._apps_on(tenant, cluster):
                placed[cluster] = apps
        return placed

    def _apps_on(self, tenant: str, cluster: str) -> list[str]:
        """The tenant's apps whose selectors take the cluster."""
        declared = self.fleet.clusters[cluster]
        return [
            app
            for app in self.fleet.document.tenants[tenant].apps
            if (selector := selector_of(self.fleet, tenant, app)) and matches(selector, cluster, declared)
        ]

    def _placement(self, tenant: str, cluster: str, apps: list[str], settings: TenantSettings) -> None:
        namespace = self._territory.main(tenant)
        extra = self._territory.extra(tenant)
        self.placements.append(PlannedPlacement(tenant, cluster, namespace, tuple(extra.values())))
        kubeconfig = self._kubeconfig(cluster)
        scope = Scope(
            environment=self.environment,
            cluster=cluster,
            owner=Owner(tenant, cluster),
            home=kubeconfig.namespace if kubeconfig else namespace,
            prefix=(cluster, namespace) if kubeconfig else (),
            namespace=namespace,
            storage=namespace,
            service_account=namespace if kubeconfig else tenant,
            kubeconfig=kubeconfig,
            namespaces=extra,
        )
        self.findings += foreign_accounts(self.fleet, scope, settings, self._territory.holder)
        base = self._remote_base(scope, settings) if kubeconfig else self._local_base(scope, settings)
        scope = replace(scope, base=base)
        variables = variables_of(self.fleet, self.environment, cluster, tenant=tenant)
        declared = self.fleet.document.tenants[tenant].apps
        ids = {app: app_id(scope, app, declared[app].kind) for app in apps}
        # Before the apps, so that their first failure is told, and after them when they go.
        scope = replace(scope, base=(*base, *self._add_alerts(scope, ids, variables)))
        self._add_apps(plan_apps(self.fleet, scope, settings, apps, variables, self._addons_there(cluster)))

    def _local_base(self, scope: Scope, settings: TenantSettings) -> tuple[ObjectId, ...]:
        state = self._state(scope)
        first, *rest = (in_state(each, state) for each in _in_order(scope.owner, baseline(scope, settings)))
        account = scope.object("v1", "ServiceAccount", scope.service_account, {}, depends_on=(first.id,))
        more = (object for each in self._extra_baselines(scope) for object in _in_order(scope.owner, each))
        extra = [in_state(each, state) for each in more]
        objects = [first, account, *rest, *extra]
        self._add(objects, ("tenants", scope.tenant))
        return tuple(object.id for object in objects)

    def _remote_base(self, scope: Scope, settings: TenantSettings) -> tuple[ObjectId, ...]:
        platform = self._platform_scope(scope.cluster)
        chart = self._objects_chart(platform, scope)
        account = self._account(scope.service_account, scope.home, Owner(scope.tenant), ("tenants", scope.tenant))
        manifests = list(chain(baseline(scope, settings), *self._extra_baselines(scope)))
        alerts = self._alerts.get(scope.cluster, ())
        made = baseline_release(scope, platform, manifests, settings, (chart, *platform.base, *alerts))
        release = in_state(made, self._state(scope))
        self._check_release(release, scope)
        self._add([release], ("tenants", scope.tenant))
        claimed = (scope.cluster, platform.storage, release.manifest["spec"]["releaseName"])
        self._claim_release(claimed, ("tenants", scope.tenant))
        return (release.id, account, *self._identity(scope.cluster, scope.kubeconfig))

    def _state(self, scope: Scope) -> Lifecycle:
        """What holds for a placement as a whole: a tenant that is paused keeps its baseline up to date all the same."""
        tenant = self.fleet.document.tenants[scope.tenant].state
        return lifecycle(self.fleet.clusters[scope.cluster].state, "active" if tenant == "paused" else tenant)

    def _extra_baselines(self, scope: Scope) -> Iterator[list[Manifest]]:
        """A whole baseline for each of the tenant's extra namespaces."""
        declared = self.fleet.document.tenants[scope.tenant].namespaces
        for key, name in scope.namespaces.items():
            first, *rest = baseline(replace(scope, namespace=name), namespace_settings(self.fleet, scope.tenant, key))
            leaves = declared[key].state == "offboarding"
            yield [given_up(first, "offboarding") if leaves else first, *rest]

    def _account(self, name: str, namespace: str, owner: Owner, at: Path) -> ObjectId:
        """A service account beside the kubeconfigs; clusters that keep theirs in one namespace share it."""
        return self._share(service_account(name, namespace, self.environment, owner), at)

    def _identity(self, cluster: str, kubeconfig: SecretKey | ConfigMap | None) -> tuple[ObjectId, ...]:
        """The ConfigMap through which Flux reaches the cluster, if the fleet makes it: without it Flux can remove nothing there."""
        if not isinstance(kubeconfig, ConfigMap) or kubeconfig.provider is None:
            return ()
        made = workload_identity(kubeconfig, self.environment, cluster)
        return (self._share(made, ("clusters", cluster, "kubeconfig")),)

    def _share(self, made: KubeObject, at: Path) -> ObjectId:
        """Plan an object that several others need, once."""
        self.origins.setdefault(made.id, at)
        return self.objects.setdefault(made.id, made).id

    def _objects_chart(self, platform: Scope, scope: Scope) -> ObjectId:
        if platform.cluster not in self._charts:
            chart = self._chart_repository(platform, scope)
            name = names.join("tenantry", *marker(self.fleet, self.environment))
            declared = self.platform.chart
            credentials = declared.credentials if declared else None
            source, built = objects_chart(platform, name, chart, credentials, self.settings.interval)
            attachments = Attachments(self.fleet, platform, {})
            source = attachments.bound(source)
            self._add([*attachments.made.values(), source, built], ("clusters", platform.cluster))
            self._charts[platform.cluster] = built.id
        return self._charts[platform.cluster]

    def _chart_repository(self, platform: Scope, scope: Scope) -> ChartRepository:
        at = ("platform", "chart", "helm")
        if self.platform.chart is None:
            raise Found(
                [
                    Finding(
                        ("clusters", platform.cluster),
                        "no-objects-chart",
                        f"tenant '{scope.tenant}' is placed on remote cluster '{platform.cluster}', but 'platform.chart' does"
                        " not say where the chart lies that installs baselines",
                        fix="publish charts/objects in a Helm repository, and set"
                        " 'platform: {chart: {helm: {url: ..., version: ...}}}'",
                    )
                ]
            )
        variables = variables_of(self.fleet, self.environment, platform.cluster)
        return ChartRepository.model_validate(fill(self.fleet.raw(*at), variables, at))

    # --- names and collisions -----------------------------------------------------------------------------------

    def _kubeconfig(self, cluster: str) -> SecretKey | ConfigMap | None:
        declared = self.fleet.clusters[cluster].kubeconfig
        return declared.resolved if declared and cluster != self.management else None

    def _check_release(self, release: KubeObject, scope: Scope) -> None:
        name = release.manifest["spec"]["releaseName"]
        for what, value, limit in (
            ("release", name, names.MAX_RELEASE),
            ("HelmRelease", release.id.name, names.MAX_LABEL),
        ):
            if len(value) > limit:
                fix = "use a shorter tenant name or namespace template"
                found = name_too_long(what, value, limit, ("tenants", scope.tenant), fix)
                raise Found([replace(found, at_key=True)])

    # --- gathering ----------------------------------------------------------------------------------------------

    def _add_apps(self, planned: AppSet) -> None:
        self.findings += planned.findings
        places = {app.id: app.at for app in planned.apps}
        for object in planned.objects.values():
            tenant = object.owner.tenant
            self._add([object], places.get(object.id, ("tenants", tenant) if tenant else ("platform", "addons")))
        for app in planned.apps:
            self.apps.append(app)
            if app.release:
                self._claim_release(app.release, app.at)

    def _add_alerts(
        self, scope: Scope, apps: Mapping[str, ObjectId], variables: Mapping[str, str]
    ) -> tuple[ObjectId, ...]:
        """Plan the alerts of a scope, and give what is to come after them."""
        made: list[ObjectId] = []
        for at, objects in plan_alerts(self.fleet, scope, apps, variables, self.findings):
            self._add(objects, at)
            made.append(objects[-1].id)
        return tuple(made)

    def _claim_release(self, release: tuple[str, str, str], at: Path) -> None:
        other = self._release_at.setdefault(release, at)
        if other != at:
            cluster, namespace, name = release
            message = f"release '{name}' in namespace '{namespace}' on cluster '{cluster}' is claimed twice"
            self.findings.append(
                Finding(
                    at,
                    "duplicate-release",
                    message,
                    (f"first: {self.fleet.source.line_of(other)}",),
                    "set another 'releaseName'",
                )
            )

    def _add(self, objects: Iterable[KubeObject], at: Path) -> None:
        for object in objects:
            if self.objects.get(object.id) == object:
                continue  # two that need it planned the same one
            if object.id in self.objects:
                first = self.fleet.source.line_of(self.origins.get(object.id, ()))
                message = f"{object.id} would be created twice"
                self.findings.append(Finding(at, "duplicate-name", message, (f"first: {first}",), "rename one of them"))
                continue
            self.objects[object.id] = object
            self.origins[object.id] = at


def _in_order(owner: Owner, manifests: Sequence[Manifest]) -> list[KubeObject]:
    """A baseline on the management cluster: the namespace, and what lies in it after it."""
    first = on_management(manifests[0], owner)
    return [first, *(on_management(manifest, owner, (first.id,)) for manifest in manifests[1:])]
