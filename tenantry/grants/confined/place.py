"""What the main file alone, with the merged grants, gives a tenant in an environment and on one of its clusters; and the plan."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from fnmatch import fnmatchcase
from functools import cached_property

from tenantry.fleet import placement
from tenantry.fleet.fleet import Fleet, clusters_of, platform_account
from tenantry.fleet.settings import (
    TenantSettings,
    extra_namespaces,
    main_namespace,
    namespace_settings,
    settings_alike,
    tenant_states,
    variables_of,
)
from tenantry.grants.grants import grants_of
from tenantry.grants.model import Grants
from tenantry.kube.names import is_reserved_namespace
from tenantry.kube.objects import KubeObject, Manifest, ObjectId, labels_of
from tenantry.messages.data import mapping_at, scalars
from tenantry.messages.errors import InvalidPart
from tenantry.messages.placeholders import fill, names_in
from tenantry.model import SecretKey

TENANT, ROLE, MANAGED = "toolkit.fluxcd.io/tenant", "toolkit.fluxcd.io/role", "app.kubernetes.io/managed-by"
ENVIRONMENT, CLUSTER, APP, SOURCE, STATE, ACCOUNT = (
    f"tenantry/{name}" for name in ("environment", "cluster", "app", "source", "state", "account")
)


class Frame:
    """A tenant in an environment: what is the same on all clusters."""

    def __init__(self, fleet: Fleet, environment: str, tenant: str) -> None:
        self.fleet, self.environment, self.tenant = fleet, environment, tenant
        self.declared = fleet.document.tenants[tenant]
        self.grants = grants_of(fleet, tenant) or Grants()
        self.namespace = main_namespace(fleet, environment, tenant)
        self.extra = {name: key for key, name in extra_namespaces(fleet, environment, tenant).items()}
        """The keys of the extra namespaces by their names."""
        own = self.declared.serviceAccount
        self.account = own.name if own and own.name else tenant
        """Of pods, and on a management cluster of Flux."""
        self.cluster_objects = {
            key: manifest.model_dump(exclude_none=True) for key, manifest in self.declared.clusterObjects.items()
        }
        written = [*scalars(fleet.raw("tenants", tenant))]
        self.values = frozenset(str(value) for _, value in written)
        """Every text and number that the main file has for the tenant."""
        self.placeholders = frozenset(name for text in self.values for name in names_in(text))
        self.metadata = frozenset((str(path[-2]), str(path[-1])) for path, _ in written if path[-3:-2] == ("metadata",))
        """The labels and annotations that it gives Flux objects of the tenant, such as ("labels", "team")."""
        self.apps = placement.apps_by_cluster(fleet, environment, tenant, clusters_of(fleet, environment))
        """Those that the main file puts on each cluster."""


class Place:
    """A tenant on a cluster. What clusters share has the place of one of them."""

    def __init__(self, frame: Frame, cluster: str) -> None:
        self.frame, self.cluster, self.fleet = frame, cluster, frame.fleet
        self.environment, self.tenant, self.namespace = frame.environment, frame.tenant, frame.namespace
        self.platform, self.declared = self.fleet.document.platform, frame.declared
        written = self.fleet.clusters[cluster].kubeconfig
        is_hub = self.fleet.environments[self.environment].management == cluster
        self.kubeconfig = None if is_hub or written is None else written.resolved
        """None: the cluster is its own management cluster."""
        self.kubeconfig_reference: Manifest | None = None
        if isinstance(self.kubeconfig, SecretKey):
            self.kubeconfig_reference = {"secretRef": {"name": self.kubeconfig.name, "key": self.kubeconfig.key}}
        elif self.kubeconfig:
            self.kubeconfig_reference = {"configMapRef": {"name": self.kubeconfig.name}}
        self.home = self.kubeconfig.namespace if self.kubeconfig else self.namespace
        """The namespace of the tenant's Flux objects for the cluster."""
        self.account = self.namespace if self.kubeconfig else frame.account
        """The service account that Flux impersonates."""
        self.prefixes = (*(f"{cluster}{sign}{self.namespace}{sign}" for sign in "-."), f"{self.namespace}.")
        """With what the names of the tenant's objects begin beside a kubeconfig."""
        self.variables = variables_of(self.fleet, self.environment, cluster, tenant=self.tenant)
        self._addresses: dict[tuple[str, ...], list[str]] = {}
        self.apps = frame.apps.get(cluster, [])
        """Those that the main file puts here."""

    @cached_property
    def alike(self) -> tuple[Hashable, ...]:
        """Equal for clusters on which the main file gives the tenant the same, whatever they and their kubeconfigs are called."""
        declared = self.fleet.clusters[self.cluster]
        filled = (repr(self.variables.get(name)) for name in self.frame.placeholders)
        states = (declared.state, *tenant_states(self.fleet, self.tenant, self.cluster))
        account = platform_account(self.fleet, self.environment, self.cluster)
        where = (self.tenant, self.home, self.account, account, declared.shard)
        return (*where, *states, *settings_alike(self.fleet, self.tenant, self.environment, self.cluster), *filled)

    def grants(self, setting: str) -> bool:
        return setting in (self.frame.grants.settings or ())

    def addresses(self, *keys: str) -> list[str]:
        """The granted address patterns."""
        if keys not in self._addresses:
            patterns = (pattern for key in keys for pattern in getattr(self.frame.grants, key) or ())
            self._addresses[keys] = [str(fill(pattern, self.variables, ())) for pattern in patterns]
        return self._addresses[keys]

    def settings(self, namespace: str) -> TenantSettings:
        key = self.frame.extra.get(namespace, "")
        return namespace_settings(self.fleet, self.tenant, self.environment, self.cluster, key)

    def states(self, namespace: str) -> set[str]:
        """What the label for the state may be: the guard lets a run remove an object that is marked."""
        of_cluster = self.fleet.clusters[self.cluster].state
        if of_cluster == "decommissioned":
            return {"decommissioned"}
        own = self.declared.namespaces.get(self.frame.extra.get(namespace, ""))
        states = {*tenant_states(self.fleet, self.tenant, self.cluster), of_cluster, own.state if own else "active"}
        return {str(state) for state in states} & {"removing", "offboarding"}

    def declares(self, group: str, name: str) -> bool:
        """Whether the main file, or a class of it, has an entry of the tenant."""
        return name in mapping_at(self.fleet.source.data, "tenants", self.tenant, group)

    def writes(self, value: object) -> bool:
        """Whether the main file has this value for the tenant: nobody else chose it."""
        return str(value) in self.frame.values or str(value) in self._filled

    @cached_property
    def _filled(self) -> set[str]:
        filled = set()
        for text in self.frame.values:
            try:
                filled.add(str(fill(text, self.variables, ())) if "{" in text else text)
            except InvalidPart:
                continue  # it has a placeholder of an app
        return filled

    def misplaced(self, app: str) -> tuple[str, ...]:
        """Why the main file does not put an app, or the tenant (""), on the cluster and into the environment."""
        if app in self.apps or (self.apps and not app):
            return ()
        return ("is where the main file does not put its app",) if app in self.declared.apps else self._not_granted

    @cached_property
    def _not_granted(self) -> tuple[str, ...]:
        fleet, cluster, reasons = self.fleet, self.cluster, []
        selector, _ = placement.granted_selector(fleet, self.tenant)
        is_granted = selector and placement.matches(selector, cluster, fleet.clusters[cluster])
        if not (selector and is_granted) or (selector.all and placement.is_management(fleet, cluster)):
            reasons.append(f"is for cluster '{cluster}', which is not granted to it")
        if placement.tenant_barrier(fleet, self.environment, self.tenant):
            reasons.append(f"is in environment '{self.environment}', which is not granted to it")
        return tuple(reasons)


class Planned:
    """claims: the planned namespaces of all tenants, each with the tenants that have it. addons: by name and cluster.

    beside: the clusters of the environment by the namespaces of their kubeconfigs. of_kubeconfigs: those of all clusters, and
    the platform's. of_platform: these, those that add-ons target, and the names of the platform's accounts.
    """

    def __init__(self, fleet: Fleet, environment: str, objects: tuple[KubeObject, ...]) -> None:
        self.fleet, self.environment, self.objects = fleet, environment, objects
        self.by_name = {(object.id.kind, object.id.namespace, object.id.name): object for object in objects}
        self.beside: dict[str, list[str]] = {}
        self.of_kubeconfigs = {fleet.document.platform.namespace}
        for name, cluster in fleet.clusters.items():
            if cluster.kubeconfig:
                self.of_kubeconfigs.add(cluster.kubeconfig.resolved.namespace)
                if environment in cluster.environments:
                    self.beside.setdefault(cluster.kubeconfig.resolved.namespace, []).append(name)
        self.of_platform = self.of_kubeconfigs | {cluster.platformServiceAccount for cluster in fleet.clusters.values()}
        self.claims: dict[str, set[str]] = {}
        self.addons: dict[tuple[str, str], ObjectId] = {}
        for object in objects:
            labels, spec = labels_of(object.manifest), mapping_at(object.manifest, "spec")
            if tenant := labels.get(TENANT):
                installed = mapping_at(spec, "values").get("objects", ()) if APP not in labels else ()
                for manifest in (object.manifest, *installed):
                    if manifest["kind"] == "Namespace":
                        self.claims.setdefault(manifest["metadata"]["name"], set()).add(tenant)
            else:
                self.of_platform |= {spec[key] for key in ("targetNamespace", "storageNamespace") if key in spec}
                if APP in labels and object.id.kind in ("Kustomization", "HelmRelease"):
                    self.addons[labels[APP], labels.get(CLUSTER, "")] = object.id
        self.of_tenants = set(self.claims)
        """With those of tenants that are placed nowhere."""
        for tenant in fleet.document.tenants:
            self.of_tenants.add(main_namespace(fleet, environment, tenant))
            self.of_tenants.update(extra_namespaces(fleet, environment, tenant).values())
        self.sound: set[Hashable] = set()
        """What `Object` has found to be confined."""
        self._frames: dict[str, Frame] = {}
        self._places: dict[tuple[str, str], Place] = {}

    def is_reserved(self, namespace: str) -> bool:
        patterns = self.fleet.document.platform.reservedNamespaces
        is_platforms = namespace in self.of_platform or any(fnmatchcase(namespace, pattern) for pattern in patterns)
        return is_platforms or is_reserved_namespace(namespace)

    def place(self, tenant: str, cluster: str) -> Place:
        if (tenant, cluster) not in self._places:
            if tenant not in self._frames:
                self._frames[tenant] = Frame(self.fleet, self.environment, tenant)
            self._places[tenant, cluster] = Place(self._frames[tenant], cluster)
        return self._places[tenant, cluster]

    def clusters_of(self, planned: KubeObject, labels: Mapping[str, str]) -> list[str]:
        """The cluster that an object is for; of what clusters share, those whose kubeconfigs lie beside it."""
        if cluster := labels.get(CLUSTER):
            is_hub = cluster == self.fleet.environments[self.environment].management
            declared = self.fleet.clusters.get(cluster)
            return [cluster] if is_hub or (declared and self.environment in declared.environments) else []
        return self.beside.get(planned.id.namespace, [])

    def is_own(self, place: Place, namespace: str) -> bool:
        """Whether a tenant has a namespace: by the main file, or where that leaves them to the team, and nobody else claims it."""
        if namespace == place.namespace or namespace in place.frame.extra:
            return True
        is_free = self.claims.get(namespace) == {place.tenant} and place.namespace in namespace
        return is_free and place.grants("namespaces")
