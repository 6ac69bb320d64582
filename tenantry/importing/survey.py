"""One environment: which apps there are, whose they are, on which cluster, and what each tenant has there."""

from __future__ import annotations

from collections import Counter
from typing import Any

from tenantry.importing.blocks import Named, source_of
from tenantry.importing.owners import Remotes, is_platforms, territories, without_environment
from tenantry.importing.resources import APPS, FLUX, App, Place, Resource, World
from tenantry.kube.names import join
from tenantry.messages.errors import Path


class Survey:
    """What was read of one environment. `apps` have no content yet."""

    def __init__(self, world: World, taken: dict[str, Any], decisions: dict[Path, list[str]]) -> None:
        """taken: the clusters of all environments so far. decisions: the comments in the file."""
        self.world = world
        self.remotes = Remotes(world, taken, decisions)
        self.platform = world.platform
        self.territories = territories(world)
        self._holders = {namespace: tenant for tenant, namespace in self.territories.items()}
        self.named: dict[tuple[str, str], Named] = {}
        self.keep([self._app(resource) for resource in world.of(*APPS) if not self._is_bootstrap(resource)])
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
        configs = secrets = ""
        if app.place.cluster != self.world.management:
            # Beside a kubeconfig lie those of many owners.
            secrets = f"{app.main}." if app.tenant else f"{self.platform}."
            configs = f"{app.place.cluster}.{secrets if app.tenant else ''}"
        return self.named.setdefault((app.tenant, app.place.cluster), Named(self.world, configs, secrets))

    def account(self, tenant: str) -> str:
        """The service account of a tenant's apps on the management cluster."""
        own = (app for app in self.apps if app.tenant == tenant and app.place.cluster == self.world.management)
        accounts = Counter(app.resource.account for app in own if app.resource.account)
        return accounts.most_common(1)[0][0] if accounts else tenant

    # --- apps -----------------------------------------------------------------------------------------------------

    def _is_bootstrap(self, resource: Resource) -> bool:
        """Whether it is Flux's own Kustomization, which is left."""
        if resource.namespace == FLUX and resource.name == FLUX and not resource.is_remote:
            text = "it is Flux's own bootstrap, which applies the repository of the cluster"
            resource.leave(text, "keep it as it is", fate="left")
            return True
        return False

    def _app(self, resource: Resource) -> App:
        cluster = self.remotes.name(resource)
        return self._local(resource) if cluster is None else self._remote(resource, cluster)

    def _local(self, resource: Resource) -> App:
        place, name = Place(self.world.environment, self.world.management), resource.name
        if tenant := self._holders.get(resource.namespace):
            return App(resource, place, tenant, name, resource.namespace, name, resource.namespace)
        own = self._own(resource.namespace)
        return App(resource, place, "", name, own or self.platform, name, self.platform, own=own)

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
        main = self.territories.setdefault(tenant, str(resource.spec.get("targetNamespace") or resource.namespace))
        prefix = join(cluster, main, "")
        key = resource.name.removeprefix(prefix) if resource.name.startswith(prefix) else name
        return App(resource, place, tenant, key, home, join(cluster, main, key), main)

    def _tenant_of(self, resource: Resource) -> str:
        """The tenant of an app for a remote cluster; "" for an add-on."""
        if tenant := resource.tenant or self._holders.get(resource.namespace):
            return tenant
        target = str(resource.spec.get("targetNamespace") or FLUX)
        if is_platforms(self.world, target) or not resource.account:
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
