"""What the platform team has on each cluster: its account, its way in, add-ons, alerts, receivers, and the chart of baselines."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from graphlib import CycleError, TopologicalSorter

from tenantry.fleet.apps import CHART, source_layers
from tenantry.fleet.fleet import Fleet, environment_part, platform_account
from tenantry.fleet.placement import addons_on, apps_by_cluster, by_rank
from tenantry.fleet.settings import platform_settings, resolved_once, variables_of
from tenantry.grants.wall import Wall, below
from tenantry.kube import names
from tenantry.kube.objects import KubeObject, ObjectId, Owner
from tenantry.messages.errors import InvalidPart, Problem, collecting
from tenantry.messages.placeholders import Variables
from tenantry.messages.text import grouped
from tenantry.model import ConfigMap, ObjectsChart, SecretKey
from tenantry.plan.apps import plan_apps
from tenantry.plan.dependencies import circle_of
from tenantry.plan.namespaces import addon_owners, addons_objects
from tenantry.plan.notifications import plan_alerts
from tenantry.plan.objects.apps import Dependency, app_id, chart_object, source_object
from tenantry.plan.objects.baseline import chart_of_objects, objects_release, service_account
from tenantry.plan.objects.lifecycle import in_state, lifecycle
from tenantry.plan.objects.scope import Scope, on_management, unawaited
from tenantry.plan.planned_apps import Gathering
from tenantry.plan.shared import key_of_address, shared, shared_chart
from tenantry.plan.sources import Attachments, place_in_source

_PUBLISH = (
    "copy the chart into a Git repository with `tenantry bootstrap --chart charts/objects`, and set"
    " 'platform: {chart: {git: {url: ..., ref: {branch: main}, path: charts/objects}}}'; or push this copy to a registry with"
    " `helm package` and `helm push`, and set"
    " 'platform: {chart: {oci: {url: \"oci://HOST/PATH/tenantry-objects\", ref: {digest: ...}}}}'"
)


class PlatformPlanner:
    """Plans the platform's part of one environment on a management cluster, and gives tenants what theirs is to come after.

    planned_alerts: by cluster.
    """

    def __init__(self, fleet: Fleet, environment: str, gathering: Gathering) -> None:
        self.fleet = fleet
        self.environment = environment
        self.management = fleet.environments[environment].management
        self._platform = fleet.document.platform
        self._settings = platform_settings(fleet)
        self._gathering = gathering
        self._charts: dict[str, ObjectId] = {}
        self._scopes: dict[str, Scope] = {}
        self._there: dict[str, dict[str, Dependency]] = {}
        self.planned_alerts: defaultdict[str, tuple[ObjectId, ...]] = defaultdict(tuple)

    def alerts(self, cluster: str) -> None:
        """Plan the platform's alerts, once for a cluster: they report all environments' objects for it on this management cluster.

        The sources that clusters share are each environment's own, and so are the alerts that report them.
        """
        if not self._platform.alerts:
            return
        beside, addons = self._beside(cluster), self.addons_there(cluster)
        if self.environment != beside[0]:
            if cluster != self.management and self._has_tenants(cluster, [self.environment]):
                scope = self.scope(cluster)
                self.planned_alerts[cluster] = self.add_alerts(scope, {}, self._variables(cluster), own=False)
        elif addons or (cluster != self.management and self._has_tenants(cluster, beside)):
            self.plan_access(cluster)
            scope = self.scope(cluster)
            # An Alert hears of its own namespace only.
            for home in dict.fromkeys((scope.home, *(dependency.id.namespace for dependency in addons.values()))):
                inside = {name: addon.id for name, addon in addons.items() if addon.id.namespace == home}
                made = self.add_alerts(replace(scope, home=home), inside, self._variables(cluster))
                self.planned_alerts[cluster] += made

    def addons(self, cluster: str) -> None:
        """An add-on is there once, for the first environment that the cluster names and the add-on admits."""
        mine = [addon for addon, owner in addons_on(self.fleet, cluster).items() if owner == self.environment]
        if mine:
            self.plan_access(cluster)
        there = self.addons_there(cluster)
        for wanted in grouped(mine, lambda addon: self._platform.addons[addon].namespace).values():
            others = {name: dependency for name, dependency in there.items() if name not in wanted}
            scope = self._scope_of(wanted[0], cluster)
            scope = replace(scope, base=(*scope.base, *self.planned_alerts[cluster]))
            before = {addon: self._namespaces_of(addon, scope) for addon in wanted}
            scope = replace(scope, namespaces={name: name for name in addon_owners(self.fleet, cluster)})
            variables = self._variables(cluster)
            planned = plan_apps(self.fleet, scope, self._settings, wanted, variables, others, before)
            self._gathering.add_apps(planned)
        self._refuse_circles(there)

    def _refuse_circles(self, addons_on_cluster: Mapping[str, Dependency]) -> None:
        """Add-ons of one namespace are sorted when they are planned; these lie in several."""
        addons = {dependency.id: name for name, dependency in addons_on_cluster.items()}
        if len({id.namespace for id in addons}) > 1:
            after = {
                addons[planned.id]: [addons[id] for id in planned.depends_on if id in addons]
                for planned in self._gathering.objects.values()
                if planned.id in addons
            }
            try:
                TopologicalSorter(after).prepare()
            except CycleError as cycle:
                chain = list(reversed(cycle.args[1]))
                at = ("platform", "addons", min(chain), "dependsOn")
                self._gathering.findings.append(circle_of(chain, at))

    def _scope_of(self, addon: str, cluster: str) -> Scope:
        """The scope of an add-on, which may lie in a namespace of its own."""
        scope, declared = self.scope(cluster), self._platform.addons[addon]
        if not declared.namespace:
            return scope
        home = scope.home if scope.kubeconfig else declared.namespace
        return replace(scope, home=home, storage=declared.namespace)

    def _namespaces_of(self, addon: str, scope: Scope) -> tuple[Dependency, ...]:
        """Plan the namespaces that an add-on owns on a cluster, and give what the add-on comes after.

        Those of a paused add-on are kept up to date all the same.
        """
        at, declared = ("platform", "addons", addon, "namespaces"), self._platform.addons[addon]
        cluster, own = self.fleet.clusters[scope.cluster].state, declared.state
        state = lifecycle(cluster, "active" if own == "paused" else own)
        with collecting(self._gathering.findings):
            made, inside = addons_objects(self.fleet, scope, addon)
            if made and scope.kubeconfig:
                made += [written.manifest for written in inside]
                first = (self.objects_chart(scope, f"add-on '{addon}' owns namespaces"), *scope.base)
                key, settings = names.join(addon, "namespaces"), self._settings
                release = objects_release(scope, scope, key, made, settings, first, (), state, adopt=declared.adopt)
                self._gathering.add([release], at)
                return (Dependency(release.id),)
            objects = [in_state(on_management(namespace, scope.owner), state) for namespace in made]
            self._gathering.add(objects, at)
            spaces = {object.id.name: object.id for object in objects}
            for written in inside:
                planned = unawaited(on_management(written.manifest, scope.owner, (spaces[written.namespace],)))
                objects.append(in_state(planned, state))
                self._gathering.add(objects[-1:], written.at)
            return tuple(Dependency(object.id) for object in objects)
        return ()

    def addons_there(self, cluster: str) -> dict[str, Dependency]:
        """The cluster's add-ons by name, as what apps depend on, whichever environment of this management cluster has them."""
        if cluster not in self._there:
            self._there[cluster] = {
                name: Dependency(
                    app_id(self._scope_of(name, cluster), name, self._platform.addons[name].kind),
                    owner == self.environment,
                )
                for name, owner in addons_on(self.fleet, cluster).items()
                if self._is_managed_here(owner)
            }
        return self._there[cluster]

    def add_alerts(
        self, scope: Scope, apps: Mapping[str, ObjectId], variables: Variables, *, own: bool = True
    ) -> tuple[ObjectId, ...]:
        """Plan the alerts of a scope, a tenant's too, and give what is to come after them. own: as for `plan_alerts`."""
        made: list[ObjectId] = []
        for at, objects in plan_alerts(self.fleet, scope, apps, variables, self._gathering.findings, own=own):
            self._gathering.add(objects, at)
            made.append(objects[-1].id)
        return tuple(made)

    def scope(self, cluster: str) -> Scope:
        """The platform team on one cluster. Its `base` is what `plan_access` plans."""
        if cluster not in self._scopes:
            kubeconfig, namespace = self.kubeconfig(cluster), self._platform.namespace
            prefix = (cluster,) if kubeconfig else ()
            # This separates an environment's ConfigMaps on a cluster, and its Secrets on the management cluster, from all others.
            # Names of tenants have three parts, a cluster, a namespace and a key. With four, no tenant can name the platform's.
            apart = () if self.environment == self._beside(cluster)[0] else (self.environment, "platform")
            access = self._access(cluster)
            common = (namespace, *environment_part(self.fleet, self.environment, self.management))
            self._scopes[cluster] = Scope(
                environment=self.environment,
                cluster=cluster,
                owner=Owner(cluster=cluster),
                home=kubeconfig.namespace if kubeconfig else namespace,
                prefix=prefix,
                namespace=namespace,
                storage=namespace,
                service_account=platform_account(self.fleet, self.environment, cluster),
                kubeconfig=kubeconfig,
                base=(access.id,) if access else (),
                shard=self.fleet.clusters[cluster].shard,
                attached=(*prefix, *apart),
                common=common if kubeconfig else (),
            )
        return self._scopes[cluster]

    def _access(self, cluster: str) -> KubeObject | None:
        """The service account with which Flux acts as the platform team on a remote cluster."""
        if not (kubeconfig := self.kubeconfig(cluster)):
            return None
        account = platform_account(self.fleet, self.environment, cluster)
        return service_account(account, kubeconfig.namespace, self.environment, Owner())

    def plan_access(self, cluster: str) -> None:
        """Plan what Flux needs to act as the platform team on a cluster."""
        if access := self._access(cluster):
            self._gathering.share(access, ("clusters", cluster))

    def kubeconfig(self, cluster: str) -> SecretKey | ConfigMap | None:
        """Where the kubeconfig of a remote cluster lies; None: it is the management cluster."""
        declared = self.fleet.clusters[cluster].kubeconfig
        return declared.resolved if declared and cluster != self.management else None

    def objects_chart(self, platform: Scope, why: str) -> ObjectId:
        """The chart that installs baselines on a cluster, planned for the first that needs it there.

        platform: as `scope` gives it; why: who needs it, for a message.
        Raises: InvalidPart: the file does not say where the chart lies.
        """
        cluster = platform.cluster
        if cluster not in self._charts:
            layers = source_layers(self.fleet, CHART, self.environment, cluster)
            if not any(layer.data for layer in layers):
                where = "'platform.chart' does not say where the chart lies that installs baselines"
                message = f"{why} on remote cluster '{cluster}', but {where}"
                raise InvalidPart([Problem(("clusters", cluster), "no-objects-chart", message, fix=_PUBLISH)])
            declared, helm = chart_of_objects(resolved_once(self.fleet, layers, ObjectsChart, self._variables(cluster)))
            source = source_object(platform, key_of_address(declared), declared, CHART, is_chart=helm is None)
            block, wall = (*CHART, declared.kind), Wall(self.fleet, platform, self._variables(cluster))
            wall.refuse(source.id.kind, source.manifest["spec"], partial(place_in_source, layers, block))
            attachments = Attachments(self.fleet, platform, {})
            source = shared(self.fleet, platform, attachments.bound(source), key_of_address(declared))
            taken = [source]
            if helm:
                own = chart_object(platform, source, "", helm, self._settings.interval)
                wall.refuse("HelmChart", own.manifest["spec"], below(*block))
                taken.append(shared_chart(self.fleet, platform, own, source))
            self._gathering.add([*attachments.made.values(), *taken], ("clusters", cluster))
            self._charts[cluster] = taken[-1].id
        return self._charts[cluster]

    def _has_tenants(self, cluster: str, environments: Iterable[str]) -> bool:
        tenants = self.fleet.document.tenants
        return any(
            apps_by_cluster(self.fleet, environment, tenant, [cluster])
            for environment in environments
            for tenant in tenants
        )

    def _beside(self, cluster: str) -> list[str]:
        """The environments of a cluster that this management cluster runs Flux for, the one that has shared things first."""
        return [environment for environment in by_rank(self.fleet, cluster) if self._is_managed_here(environment)]

    def _is_managed_here(self, environment: str) -> bool:
        return self.fleet.environments[environment].management == self.management

    def _variables(self, cluster: str) -> Variables:
        return variables_of(self.fleet, self.environment, cluster)
