"""One environment: which apps there are, whose they are, on which cluster, and what each tenant has there."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from tenantry.importing.blocks import Named, chart_of, has_shared_interval, source_entry, source_of
from tenantry.importing.clusters import Remotes
from tenantry.importing.owners import Territory, is_platforms, territories, without_environment
from tenantry.importing.resources import APPS, FLUX, App, Place, Resource, World
from tenantry.importing.settings import namespace_of_addon
from tenantry.kube.names import join
from tenantry.kube.objects import readable_id
from tenantry.messages.data import mapping_at
from tenantry.messages.errors import Path
from tenantry.messages.text import grouped
from tenantry.plan.objects.remote import OBJECTS_CHART
from tenantry.plan.objects.scope import APP_LABEL, CLUSTER_LABEL, TENANT_LABEL


class Survey:
    """What was found in one environment. `apps` have no content yet.

    baselines: what Tenantry installs on a remote cluster, by its place. charts: the releases that do it, of all clusters;
    releases: those of a tenant in a place.
    """

    def __init__(self, world: World, taken: dict[str, Any], decisions: dict[Path, list[str]]) -> None:
        """taken: the clusters of all environments so far. decisions: the comments in the file."""
        self.world = world
        self.remotes = Remotes(world, taken, decisions)
        self.platform = world.platform
        self.territories = {territory.tenant: territory for territory in territories(world)}
        self._holders = {name: own for own in self.territories.values() for name in own.namespaces}
        self.baselines: defaultdict[Place, list[Resource]] = defaultdict(list)
        self.charts: list[Resource] = []
        self.releases: defaultdict[tuple[str, Place], list[Resource]] = defaultdict(list)
        self.named: dict[tuple[str, str], Named] = {}
        apps = [app for resource in world.of(*APPS) if (app := self._app(resource))]
        self.keep([app for app in apps if not self._was_before(app)])
        self._name_apart()

    def keep(self, apps: list[App]) -> None:
        """Go on with some of the apps."""
        self.apps = apps
        self.by_name = {app.resource.key[1:]: app for app in apps}

    @property
    def clusters(self) -> list[str]:
        """The management cluster and the remote ones."""
        return [self.world.management, *self.remotes.entries]

    def applied_by(self, namespace: str, name: str) -> list[App]:
        """The apps that a Kustomization applies."""
        return [app for app in self.apps if app.resource.applied_by == (namespace, name)]

    def names_of(self, app: App) -> Named:
        """The Secrets and ConfigMaps of an app's owner on its cluster."""
        return self._names(app.tenant, app.place.cluster, app.main)

    def _names(self, tenant: str, cluster: str, main: str) -> Named:
        """main: the main namespace of a tenant."""
        prefixes: tuple[str, ...] = ("",)
        if cluster != self.world.management and tenant:
            prefixes = (f"{cluster}.{main}.", f"{main}.")
        elif cluster != self.world.management:
            # Where several environments share a management cluster, the name may hold the environment's.
            prefixes = (f"{cluster}.", f"{self.platform}.{self.world.environment}.", f"{self.platform}.")
        return self.named.setdefault((tenant, cluster), Named(self.world, *prefixes))

    def account(self, tenant: str) -> str:
        """The service account of a tenant's apps on the management cluster."""
        own = (app for app in self.apps if app.tenant == tenant and app.place.cluster == self.world.management)
        accounts = Counter(app.resource.account for app in own if app.resource.account)
        return accounts.most_common(1)[0][0] if accounts else tenant

    def platform_account(self, cluster: str) -> str:
        """Whom Flux acts as for most of what Tenantry made on a remote cluster for the platform team: add-ons can name others."""
        ours = [
            resource for resource in self.world.of(*APPS) if resource.is_ours and self.remotes.name(resource) == cluster
        ]
        addons = (resource for resource in ours if TENANT_LABEL not in resource.labels)
        named = Counter(
            str(resource.account) for resource in [resource for resource in ours if resource in self.charts] or addons
        )
        return next((name for name, _ in named.most_common()), "tenantry-platform").removesuffix(
            f"-{self.world.environment}"
        )

    # --- what Tenantry made ---------------------------------------------------------------------------------------

    @cached_property
    def shared_charts(self) -> Mapping[tuple[str, str], list[Resource]]:
        """The charts that Tenantry made with the interval of their owner, by tenant and cluster."""
        shared = filter(has_shared_interval, self.world.of("HelmChart"))
        return grouped(shared, lambda chart: (chart.tenant, str(chart.labels.get(CLUSTER_LABEL))))

    def objects_chart(self) -> dict[str, Any]:
        """Where the chart for baselines is, if Tenantry has made some."""
        for release in self.charts:
            chart, reference = chart_of(self.world, release)
            source = self.world.get(str(reference.get("kind")), release.namespace, str(reference.get("name")))
            cluster = self.remotes.name(release) or self.world.management
            if source is not None and source.kind == "OCIRepository":
                entry = source_entry(self.world, source, self._names("", cluster, ""))
                return {key: value for key, value in entry.items() if key != "metadata"}
            if source is None or source.kind not in ("HelmRepository", "GitRepository"):
                continue
            url, credentials = source.spec.get("url"), self._names("", cluster, "").credentials_of(source)
            if source.kind == "GitRepository":
                return {"git": {"url": url, "ref": source.spec.get("ref"), "path": chart.get("chart")}, **credentials}
            kind = {"type": "oci"} if source.spec.get("type") == "oci" else {}
            return {"helm": {"url": url, "version": str(chart.get("version")), **kind}, **credentials}
        return {}

    def namespaces_of(self, addon: App) -> dict[str, Any]:
        """The namespaces that an add-on of Tenantry's owns in its place, by name."""
        is_local = addon.place.cluster == self.world.management
        present = self.world.resources if is_local else self.baselines[addon.place]
        own = (
            resource
            for resource in present
            if resource.kind == "Namespace" and resource.is_ours and not resource.tenant
        )
        return {
            space.name: namespace_of_addon(space, present, (*addon.path, "namespaces"))
            for space in own
            if space.labels.get(APP_LABEL) == addon.key
        }

    def awaited_by_baseline(self, tenant: str, place: Place) -> list[str]:
        """The add-ons that a tenant's baseline waits for in a place. Flux knows those that are releases."""
        names: dict[str, None] = {}
        for release in self.releases[tenant, place]:
            for namespace, name in release.awaited:
                other = self.by_name.get(("HelmRelease", namespace, name))
                if other and not other.tenant:
                    names[f"platform/{other.key}"] = None
        return list(names)

    def _baseline(self, release: Resource, cluster: str | None) -> None:
        """What Tenantry itself installs on a remote cluster: the objects in it are read as those of that cluster."""
        self.charts.append(release)
        tenant = str(release.labels.get(TENANT_LABEL, ""))
        if cluster is None:
            return
        release.take(*(("tenants", tenant) if tenant else ("platform",)))
        objects = mapping_at(release.spec, "values").get("objects")
        place = Place(self.world.environment, cluster)
        self.releases[tenant, place].append(release)
        self.baselines[place] += [
            Resource(release.environment, manifest, release.origin)
            for manifest in (objects if isinstance(objects, list) else [])
            if readable_id(manifest) is not None
        ]

    # --- apps -----------------------------------------------------------------------------------------------------

    def _app(self, resource: Resource) -> App | None:
        """The app that a resource is; None: it is a baseline, or Flux's own."""
        cluster = self.remotes.name(resource)
        if _installs_objects(self.world, resource):
            self._baseline(resource, cluster)
            return None
        if resource.namespace == FLUX and resource.name == FLUX and cluster is None:
            text = "it is Flux's own bootstrap, which applies the repository of the cluster"
            resource.leave(text, "keep it as it is", fate="left")
            return None
        return self._local(resource) if cluster is None else self._remote(resource, cluster)

    def _local(self, resource: Resource) -> App:
        place, name = Place(self.world.environment, self.world.management), resource.name
        owner = self._holders.get(resource.namespace)
        if owner is None:
            own = self._own(resource.namespace)
            return App(resource, place, "", name, own or self.platform, name, self.platform, own=own)
        extra = tuple(namespace for namespace in owner.namespaces if namespace != owner.main)
        return App(resource, place, owner.tenant, name, owner.main, name, owner.main, extra)

    def _own(self, namespace: str) -> str:
        """`namespace` of an add-on that lies there, or whose release is stored there; "" if it is the platform's, or cannot be."""
        kubeconfigs = {self.remotes.kubeconfig_namespace(cluster) for cluster in self.remotes.entries}
        return "" if namespace in (self.platform, *kubeconfigs, *self._holders) else namespace

    def _remote(self, resource: Resource, cluster: str) -> App:
        place = Place(self.world.environment, cluster)
        home = self.remotes.kubeconfig_namespace(cluster)
        name = resource.name.removeprefix(f"{cluster}-").removesuffix(f"-{cluster}") or resource.name
        tenant = self._tenant_of(resource)
        if not tenant:
            own = self._own(resource.storage) if resource.kind == "HelmRelease" else None
            return App(resource, place, "", name, home, join(cluster, name), self.platform, own=own)
        # The tenant's namespace has one name on all clusters.
        target = str(
            (resource.account if resource.is_ours else resource.spec.get("targetNamespace")) or resource.namespace
        )
        main = self.territories.setdefault(tenant, Territory(tenant, target)).main
        prefix = join(cluster, main, "")
        key = resource.name.removeprefix(prefix) if resource.name.startswith(prefix) else name
        return App(resource, place, tenant, key, home, join(cluster, main, key), main)

    def _tenant_of(self, resource: Resource) -> str:
        """The tenant of an app for a remote cluster; "" for an add-on."""
        if resource.tenant:
            return resource.tenant
        if owner := self._holders.get(resource.namespace):
            return owner.tenant
        target = str(resource.spec.get("targetNamespace") or FLUX)
        if is_platforms(self.world, target) or resource.is_ours or not resource.account:
            return ""
        return without_environment(target, self.world.environment)

    def _name_apart(self) -> None:
        """A Kustomization and a release may have one name, the file needs two. So do add-ons of different repositories on several
        clusters. Nor may an app be planned where another one is: it would become that app, and lose what it applies.
        """
        seen: set[tuple[Place, tuple[str, ...]]] = set()
        fetched: dict[tuple[str, ...], str] = {}
        # What is where it is planned keeps its name.
        for app in sorted(self.apps, key=lambda app: not app.keeps_name):
            kind = "release" if app.resource.kind == "HelmRelease" else "manifests"
            prefix, key, namespace = app.prefix, app.key, app.resource.namespace
            source = None if app.tenant else source_of(self.world, app.resource)
            url = str(source.spec.get("url")) if source else ""
            for other in (key, join(key, kind), join(key, namespace), join(key, namespace, kind)):
                app.key, app.planned = other, f"{prefix}{other}"
                known = self.world.known(app.resource.kind, app.home, app.planned)
                is_taken = (app.place, app.path) in seen or fetched.get(app.path, url) != url
                if not is_taken and known in (None, app.resource):
                    break
            seen.add((app.place, app.path))
            fetched.setdefault(app.path, url)

    def _was_before(self, app: App) -> bool:
        """Whether an app was taken over under another name, and is suspended since. Leaves it."""
        known, resource = self.world.known(app.resource.kind, app.home, app.planned), app.resource
        if app.keeps_name or not resource.is_suspended or known is None or not known.is_ours or resource.is_ours:
            return False
        text = f"it is suspended, and {known.key} of Tenantry applies the same in its place"
        resource.leave(text, "keep it suspended: it then deletes nothing, also when it goes", fate="left")
        return True


def _installs_objects(world: World, resource: Resource) -> bool:
    """Whether it is a release of the chart for baselines. In a Git repository the chart is a directory."""
    if resource.kind != "HelmRelease" or not resource.is_ours:
        return False
    values = mapping_at(resource.spec, "values")
    is_named = chart_of(world, resource)[0].get("chart") == OBJECTS_CHART
    return is_named or (list(values) == ["objects"] and isinstance(values["objects"], list))
