"""One tenant on one cluster: its baseline, directly or by a release, then its alerts, its apps, and its receivers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain

from tenantry.fleet.fleet import Fleet
from tenantry.fleet.rules.values import disagreements
from tenantry.fleet.settings import (
    TenantSettings,
    namespace_settings,
    setting_origin,
    tenant_settings,
    tenant_states,
    variables_of,
)
from tenantry.kube.acceptance import refusals
from tenantry.kube.names import ADDON_PREFIX
from tenantry.kube.objects import KubeObject, Manifest, ObjectId, Owner, marked
from tenantry.messages.errors import Path, Problem, raise_invalid
from tenantry.plan.apps import plan_apps
from tenantry.plan.declared_objects import (
    DeclaredObject,
    claim_of,
    cluster_objects,
    cluster_rights,
    declared_objects,
)
from tenantry.plan.dependencies import placement_after
from tenantry.plan.namespaces import Territory, foreign_accounts
from tenantry.plan.notifications import plan_receivers
from tenantry.plan.objects.apps import Dependency, app_id, awaited, edges
from tenantry.plan.objects.baseline import account, baseline, objects_release, service_account
from tenantry.plan.objects.lifecycle import given_up, in_state, lifecycle, with_given_up_apps
from tenantry.plan.objects.scope import CLUSTER_LABEL, Scope, on_management, unawaited
from tenantry.plan.planned_apps import Gathering
from tenantry.plan.platform import PlatformPlanner


@dataclass(frozen=True, slots=True)
class PlannedPlacement:
    """One tenant on one cluster.

    wide: where its cluster-scoped objects are written.
    """

    tenant: str
    cluster: str
    namespace: str
    extra: tuple[str, ...] = ()
    wide: Mapping[tuple[str, str, str, str], Path] = field(default_factory=dict)

    @property
    def namespaces(self) -> tuple[str, ...]:
        """All of the tenant's there, the main one first."""
        return (self.namespace, *self.extra)


@dataclass(slots=True)
class PlacementPlanner:
    """Plans the tenants' part of one environment on a management cluster, placement by placement."""

    fleet: Fleet
    environment: str
    _gathering: Gathering
    _platform: PlatformPlanner
    _territory: Territory
    placements: list[PlannedPlacement] = field(default_factory=list)

    def add(self, tenant: str, cluster: str, apps: Sequence[str]) -> None:
        """Plan one placement. Raises: InvalidPart: it cannot be planned."""
        settings = tenant_settings(self.fleet, tenant, self.environment, cluster)
        scope = self._scope(tenant, cluster)
        declared = self.fleet.document.tenants[tenant]
        namespaces = tuple(scope.namespaces.values())
        addons = {f"{ADDON_PREFIX}{name}": addon for name, addon in self._platform.addons_there(cluster).items()}
        after = tuple(dict.fromkeys(placement_after(self.fleet, scope, settings, addons, self._gathering.findings)))
        self._gathering.findings += disagreements(self.fleet, tenant, cluster)
        variables = variables_of(self.fleet, self.environment, cluster, tenant=tenant)
        own = cluster_objects(scope, declared.clusterObjects, variables)
        wide = {claim_of(cluster, declared.manifest): declared.at for declared in own}
        self.placements.append(PlannedPlacement(tenant, cluster, scope.namespace, namespaces, wide))
        own = [
            declared
            for declared in own
            if self._gathering.claim_cluster_wide(claim_of(cluster, declared.manifest), declared.at)
        ]
        self._gathering.findings += foreign_accounts(self.fleet, scope, settings, self._territory.holder)
        base = self._base(scope, settings, after, own)
        scope = replace(scope, base=base)
        ids = {app: app_id(scope, app, declared.apps[app].kind) for app in apps}
        # Before the apps, so that their first failure is reported; they are removed after the apps.
        if alerts := self._platform.add_alerts(scope, ids, variables):
            scope = replace(scope, base=(*base, *alerts))
        planned = plan_apps(self.fleet, scope, settings, apps, variables, addons)
        self._gathering.add_apps(planned)
        for id in scope.made_home:
            made = self._gathering.objects[id]
            self._gathering.objects[id] = with_given_up_apps(made, planned.objects.values())
        for at, objects in plan_receivers(self.fleet, scope, planned, variables, self._gathering.findings):
            self._gathering.add(objects, at)

    def _scope(self, tenant: str, cluster: str) -> Scope:
        namespace, extra = self._territory.of(tenant)
        kubeconfig = self._platform.kubeconfig(cluster)
        own = self.fleet.document.tenants[tenant].namespaces
        return Scope(
            environment=self.environment,
            cluster=cluster,
            owner=Owner(tenant, cluster),
            home=kubeconfig.namespace if kubeconfig else namespace,
            prefix=(cluster, namespace) if kubeconfig else (),
            namespace=namespace,
            storage=namespace,
            service_account=namespace if kubeconfig else self._account(tenant),
            kubeconfig=kubeconfig,
            namespaces=extra,
            shard=self.fleet.clusters[cluster].shard,
            common=(namespace,) if kubeconfig else (),
            # Flux objects for a remote cluster are in one namespace, so only its account is needed.
            accounts=() if kubeconfig else tuple(name for key, name in extra.items() if own[key].serviceAccount),
        )

    def _account(self, tenant: str) -> str:
        """The name of the tenant's service account in its own namespaces."""
        declared = self.fleet.document.tenants[tenant]
        account = declared.serviceAccount
        return account.name if account and account.name else tenant

    def _accounts(self, scope: Scope) -> Iterator[Manifest]:
        """The service accounts in the tenant's namespaces: for Flux on the management cluster, and for pods if the file says so."""
        declared = self.fleet.document.tenants[scope.tenant].serviceAccount
        namespaces = (scope.namespace, *(scope.namespaces.values() if declared else scope.accounts))
        for namespace in namespaces if declared or not scope.kubeconfig else ():
            yield account(replace(scope, namespace=namespace), self._account(scope.tenant), declared)

    def _base(
        self, scope: Scope, settings: TenantSettings, after: Sequence[Dependency], wide: Sequence[DeclaredObject]
    ) -> tuple[ObjectId, ...]:
        """Plan what the placement's apps come after; a release installs it on a remote cluster. wide: cluster-scoped objects."""
        declared, at = self.fleet.document.tenants[scope.tenant], ("tenants", scope.tenant)
        # A tenant that is paused keeps its baseline up to date all the same.
        states = tenant_states(self.fleet, scope.tenant, scope.cluster)
        own_states = ("active" if state == "paused" else state for state in states)
        state = lifecycle(self.fleet.clusters[scope.cluster].state, *own_states)
        self._gathering.awaited |= awaited(after, "HelmRelease" if scope.kubeconfig else "Namespace")
        first = self._before_release(scope) if scope.kubeconfig else ()
        own, *extras = baselines = self._baselines(scope, settings)
        self._refuse(scope, settings, baselines)
        rest, accounts = [*own[1:], *chain(*extras)], list(self._accounts(scope))
        rights = list(cluster_rights(scope, declared.clusterRoles))
        fleets = [own[0], *rest, *accounts, *rights]
        inside = list(self._objects(scope, settings, fleets))
        if scope.kubeconfig:
            # Clusters whose kubeconfigs lie in one namespace share the account.
            account = service_account(scope.service_account, scope.home, self.environment, Owner(scope.tenant))
            shared, platform = self._gathering.share(account, at), self._platform.scope(scope.cluster)
            manifests = [*fleets, *(written.manifest for written in (*wide, *inside))]
            release = objects_release(
                scope, platform, "baseline", manifests, settings, first, after, state, adopt=declared.adopt
            )
            self._gathering.add([release], at)
            return (release.id, shared)

        def here(manifest: Manifest) -> KubeObject:
            namespace = manifest["metadata"].get("namespace")
            before = (ObjectId("v1", "Namespace", "", namespace),) if namespace else edges(after)
            return on_management(manifest, scope.owner, before)

        objects = [in_state(here(own[0]), state), here(accounts[0])]
        objects += [in_state(here(manifest), state) for manifest in rest]
        objects += [*map(here, accounts[1:]), *(in_state(here(right), state) for right in rights)]
        self._gathering.add(objects, at)
        for written in (*inside, *wide):
            objects.append(in_state(unawaited(here(written.manifest)), state))
            self._gathering.add(objects[-1:], written.at)
        return tuple(object.id for object in objects)

    def _before_release(self, scope: Scope) -> tuple[ObjectId, ...]:
        """Plan what the release of a baseline comes after: the chart, the platform's account and its alerts."""
        self._platform.plan_access(scope.cluster)
        platform = self._platform.scope(scope.cluster)
        chart = self._platform.objects_chart(platform, f"tenant '{scope.tenant}' is placed")
        return (chart, *platform.base, *self._platform.planned_alerts[scope.cluster])

    def _objects(self, scope: Scope, settings: TenantSettings, base: Sequence[Manifest]) -> Iterator[DeclaredObject]:
        """The platform team's own objects in all namespaces of the tenant. base: the fleet's there."""
        tenant = self.fleet.document.tenants[scope.tenant]
        variables = variables_of(self.fleet, self.environment, scope.cluster, tenant=scope.tenant)
        for key, name in {"": scope.namespace, **scope.namespaces}.items():
            own = settings
            if key:
                own = namespace_settings(self.fleet, scope.tenant, scope.environment, scope.cluster, key)
            if not own.objects:
                continue
            yield from declared_objects(
                replace(scope, namespace=name),
                own.objects,
                variables,
                partial(self._origin, scope, key),
                [manifest for manifest in base if manifest["metadata"].get("namespace") == name],
                self._territory.holder,
                cluster_admin=tenant.clusterAdmin,
                network=own.network,
            )

    def _refuse(self, scope: Scope, settings: TenantSettings, baselines: Sequence[Sequence[Manifest]]) -> None:
        """Check the baselines of the main namespace and of the extra ones, once for equal settings: of those of a remote cluster
        only a label says which it is.

        Raises: InvalidPart: an API server would refuse a part.
        """

        def refuse() -> None:
            findings: list[Problem] = []
            for key, manifests in zip(("", *scope.namespaces), baselines, strict=True):
                for problem in chain.from_iterable(map(refusals, manifests)):
                    findings.append(replace(problem, path=self._origin(scope, key, problem.path)))
            raise_invalid(findings)

        self.fleet.once(("refusals", scope.tenant, scope.kubeconfig is None), (settings,), refuse)

    def _origin(self, scope: Scope, namespace: str, path: Path) -> Path:
        return setting_origin(self.fleet, scope.tenant, scope.environment, scope.cluster, *path, namespace=namespace)

    def _baselines(self, scope: Scope, settings: TenantSettings) -> list[list[Manifest]]:
        """A whole baseline for each of the tenant's namespaces. Only a label says of which remote cluster it is."""

        def made() -> Iterator[list[Manifest]]:
            yield baseline(scope, settings)
            declared = self.fleet.document.tenants[scope.tenant].namespaces
            for key, name in scope.namespaces.items():
                own = namespace_settings(self.fleet, scope.tenant, scope.environment, scope.cluster, key)
                first, *rest = baseline(replace(scope, namespace=name), own)
                state = declared[key].state
                yield [first if state == "active" else given_up(first, state), *rest]

        alike = self.fleet.once(("baselines", *scope.together), (settings,), lambda: list(made()))
        here = {CLUSTER_LABEL: scope.cluster}
        return [[marked(manifest, labels=here) for manifest in manifests] for manifests in alike]
