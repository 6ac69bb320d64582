"""One environment: whose a namespace is, which remote clusters there are, and which apps, by whom and on which cluster.

A namespace is the platform's or a tenant's; add-ons lie in Flux's, or in ones of their own. Remote clusters are those of the
kubeconfigs that apps name.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from tenantry.importing.blocks import Named, source_of
from tenantry.importing.resources import APPS, FLUX, App, Place, Resource, World
from tenantry.kube.names import is_reserved_namespace, join, slug
from tenantry.messages.data import mapping_at, mappings_in
from tenantry.messages.errors import Refused
from tenantry.messages.text import grouped
from tenantry.model.document import RESERVED

CONTROLLERS = {"Kustomization": "kustomize-controller", "HelmRelease": "helm-controller"}
"""The controller of a kind, which has an account of this name in Flux's namespace."""
_FLUX_KINDS = (
    *("Kustomization", "HelmRelease", "GitRepository", "OCIRepository", "HelmRepository", "Bucket"),
    *("Alert", "Receiver", "Provider", "ImageUpdateAutomation", "ImagePolicy", "ImageRepository"),
)


def is_platforms(world: World, namespace: str) -> bool:
    """Whether a namespace is the platform team's, by its name or by what lies in it."""
    if namespace == FLUX or _is_tools(world, namespace):
        return True
    # Where Flux applies all that a namespace leads to as accounts of its own, it is a tenant's, whatever its name is.
    accounts = {app.account for app in world.of(*APPS, namespace=namespace) if not app.is_remote}
    acts_as_itself = accounts and all(world.get("ServiceAccount", namespace, account) for account in accounts)
    if _is_labelled(world, namespace) or acts_as_itself:
        return False
    return _is_reserved(namespace) or namespace in ("default", "kube-system")


def _is_reserved(namespace: str) -> bool:
    return any(fnmatchcase(namespace, pattern) for pattern in RESERVED)


def _is_labelled(world: World, namespace: str) -> bool:
    """Whether the labels of a namespace, or of what Flux reads in it, name a tenant."""
    made = world.get("Namespace", "", namespace)
    return bool(made and made.tenant) or any(
        resource.tenant for resource in world.of(*_FLUX_KINDS, namespace=namespace)
    )


def _is_tools(world: World, namespace: str) -> bool:
    """Whether a namespace is that of a tool of the platform team, which Flux applies with its own rights.

    Its name tells: one of those that are reserved for tools, or that of a chart in it. So do its releases, if all install into
    other namespaces, and a Kustomization that names none for what it applies: it reaches everywhere. A tenant has an account.
    """
    apps = list(world.of(*APPS, namespace=namespace))
    if not apps or any(app.account not in ("", *CONTROLLERS.values()) for app in apps):
        return False
    if _is_reserved(namespace):
        return True
    if _is_labelled(world, namespace):
        return False
    releases = [app for app in apps if app.kind == "HelmRelease"]
    elsewhere = (app.spec.get("targetNamespace") not in (None, "", namespace) for app in releases)
    return (
        any(namespace in (app.name, str(app.at("spec", "chart", "spec", "chart"))) for app in releases)
        or any(app.kind == "Kustomization" and not app.spec.get("targetNamespace") for app in apps)
        or (len(releases) == len(apps) and all(elsewhere))
    )


def territories(world: World) -> dict[str, str]:
    """The namespace of each tenant of the management cluster. Another one of the same tenant is a tenant of its own."""
    owned: dict[str, list[str]] = defaultdict(list)
    for namespace in _tenants_namespaces(world):
        owned[_owner(world, namespace)].append(namespace)
    result: dict[str, str] = {}
    for tenant, namespaces in owned.items():
        of_flux = {name: sum(1 for _ in world.of(*_FLUX_KINDS, namespace=name)) for name in namespaces}
        main = max(namespaces, key=lambda name: (of_flux[name], name == tenant, -len(name)))
        result[tenant] = main
        result |= {f"{other}-namespace" if other in owned else other: other for other in namespaces if other != main}
    return result


def _tenants_namespaces(world: World) -> Iterator[str]:
    """Namespaces with a tenant's label, and those that hold apps which act on the management cluster."""
    labelled = [space.name for space in world.of("Namespace") if space.tenant]
    acting = [resource.namespace for resource in world.of(*_FLUX_KINDS) if not resource.is_remote]
    for namespace in dict.fromkeys((*labelled, *acting)):
        if namespace and not is_platforms(world, namespace) and not _is_for_kubeconfigs(world, namespace):
            yield namespace


def _is_for_kubeconfigs(world: World, namespace: str) -> bool:
    """Whether a namespace is for remote clusters alone."""
    made = world.get("Namespace", "", namespace)
    if made and made.tenant:
        return False
    apps = list(world.of(*APPS, namespace=namespace))
    beside = (resource for resource in world.beside if resource.namespace == namespace)
    # What makes clusters often lies beside their kubeconfigs. A tenant has an account.
    return any(app.is_remote for app in (*apps, *beside)) and all(app.is_remote or not app.account for app in apps)


def _owner(world: World, namespace: str) -> str:
    made = world.get("Namespace", "", namespace)
    if made and made.tenant:
        return made.tenant
    named = {resource.tenant for resource in world.of(*_FLUX_KINDS, namespace=namespace) if resource.tenant}
    return named.pop() if len(named) == 1 else without_environment(namespace, world.environment)


def without_environment(name: str, environment: str) -> str:
    """A name without the environment at its beginning or end."""
    return name.removeprefix(f"{environment}-").removesuffix(f"-{environment}") or name


# --- remote clusters --------------------------------------------------------------------------------------------------


_FLUX_KEY = "value"
"""The key that Flux reads if none is named. Source: fluxcd.io, Kustomization, "Remote clusters"."""
_HOLDERS = ("kubeconfigs", "tenantry-kubeconfigs")
"""Where a kubeconfig is expected that may not stay where it is: the first of these that is no tenant's."""
_TOO_VAGUE = ("cluster", "remote", "kubeconfig", "value")
"""Names of Secrets that say nothing of the cluster."""


class Reference(NamedTuple):
    """What a Flux object says of the cluster that it acts on."""

    kind: str
    namespace: str
    name: str
    key: str


def reference_of(resource: Resource) -> Reference | None:
    """How an app reaches its cluster; None: it is the management cluster."""
    written = mapping_at(resource.spec, "kubeConfig")
    if secret := mapping_at(written, "secretRef"):
        return Reference("Secret", resource.namespace, str(secret.get("name")), str(secret.get("key") or _FLUX_KEY))
    if config := mapping_at(written, "configMapRef"):
        return Reference("ConfigMap", resource.namespace, str(config.get("name")), "")
    return None


def drop_proxies(resources: Iterable[Resource]) -> None:
    """Take the kubeconfigs from apps that Capsule's proxy leads to the cluster on which they are.

    Capsule makes a Secret for the account of a Tenant's owner, beside the account and named after it. Source: projectcapsule.dev,
    Flux; clastix/flux2-capsule-multi-tenancy.
    """
    resources = list(resources)
    tenants = [tenant for tenant in resources if tenant.kind == "Tenant" and tenant.key.group.startswith("capsule.")]
    owners = {str(owner.get("name")) for tenant in tenants for owner in mappings_in(tenant.spec.get("owners"))}
    accounts = {(account.namespace, account.name) for account in resources if account.kind == "ServiceAccount"}
    for resource in resources if owners else ():
        reference = reference_of(resource) if resource.kind in APPS else None
        account = reference.name.removesuffix("-kubeconfig") if reference else ""
        is_owners = {account, f"system:serviceaccount:{resource.namespace}:{account}"} & owners
        if reference and is_owners and reference.name != account and (resource.namespace, account) in accounts:
            rest = {key: value for key, value in resource.spec.items() if key != "kubeConfig"}
            resource.spec = {"serviceAccountName": account, **rest}
            resource.is_through_proxy = True
            text = f"Secret {reference.name} leads through Capsule's proxy to the cluster that the app is on"
            resource.leave(text, "keep it: Flux goes on using it", "spec.kubeConfig")


class Remotes:
    """The remote clusters of one environment: the name of each, and how it is reached."""

    def __init__(self, world: World, taken: dict[str, Any]) -> None:
        """taken: the clusters of all environments so far, and what tells them apart."""
        self._taken = taken
        self._world = world
        self._names: dict[Reference, str] = {}
        self.entries: dict[str, dict[str, Any]] = {}
        # What others apply, such as a chart that makes clusters, names clusters too.
        apps = (*world.of(*APPS), *(app for app in world.beside if app.kind in APPS and not app.is_ours))
        found: dict[Reference, Resource] = {}
        for app in apps:
            if reference := reference_of(app):
                found.setdefault(reference, app)
        for (holder, kind, secret, key), references in self._by_holder(found).items():
            place = {"name": secret, "namespace": holder}
            kubeconfig = {"secret": {**place, "key": key}} if kind == "Secret" else {"configMap": place}
            name = self._free(holder, kubeconfig, references[0])
            self._names |= dict.fromkeys(references, name)
            self.entries[name] = kubeconfig
            self._report(name, holder, references, found[references[0]])
            self._keep(name, references)

    def name(self, resource: Resource) -> str | None:
        """The remote cluster of an app; None: the management cluster."""
        reference = reference_of(resource)
        return self._names[reference] if reference else None

    def kubeconfig_namespace(self, cluster: str) -> str:
        return str(next(iter(self.entries[cluster].values()))["namespace"])

    def _by_holder(self, references: Iterable[Reference]) -> dict[tuple[str, str, str, str], list[Reference]]:
        """The references to one kubeconfig together: a Secret that lies beside each tenant is the same cluster's everywhere, and
        that of one beside the platform's apps.
        """
        tenants = territories(self._world).values()
        apart = next(name for name in _HOLDERS if name not in tenants)

        def may_stay(reference: Reference) -> bool:
            """Whether the file's own rules accept kubeconfigs there: not the platform's, and those of Kubernetes and Flux."""
            namespace = reference.namespace
            return namespace not in tenants and namespace != FLUX and not is_reserved_namespace(namespace)

        by_name = grouped(filter(may_stay, references), lambda reference: reference[2:])
        holders: dict[tuple[str, str, str, str], list[Reference]] = defaultdict(list)
        for reference in references:
            kept = by_name.get(reference[2:], [])
            holder = reference.namespace if reference in kept else apart
            # Secrets of a vague name are those of other clusters in other namespaces.
            if reference not in kept and len(kept) == 1 and _short(reference) not in _TOO_VAGUE:
                holder = kept[0].namespace
            holders[holder, reference.kind, reference.name, reference.key].append(reference)
        return holders

    def _free(self, holder: str, kubeconfig: dict[str, Any], reference: Reference) -> str:
        """A name that no other cluster has: a kubeconfig means another cluster on each management cluster."""
        short = _short(reference)
        name = slug(reference.namespace if short in _TOO_VAGUE else short)[:63].strip("-") or "remote"
        itself = (self._world.management, kubeconfig)
        for free in (name, f"{name}-{slug(holder)}", f"{name}-{slug(holder)}-{self._world.environment}"):
            if self._taken.setdefault(free, itself) == itself and free not in self.entries:
                return free
        raise Refused(f"two remote clusters would be named '{name}'", "rename the Secret with the kubeconfig of one")

    def _report(self, name: str, holder: str, references: list[Reference], app: Resource) -> None:
        """Say that a kubeconfig has to be copied, and that several are taken for one. Args: app: one that uses it."""
        namespaces, first = sorted(reference.namespace for reference in references), references[0]
        if holder not in namespaces and self._world.get(first.kind, holder, first.name) is None:
            text = f"the kubeconfig of cluster {name} must not lie in the namespace of a tenant, of the platform, or of Flux"
            fix = f"copy {first.kind} {first.name} from namespace {namespaces[0]} to {holder}"
            app.leave(text, fix, "spec.kubeConfig")
        if len(namespaces) > 1:
            text = f"{first.kind}s named {first.name} in {', '.join(namespaces)} are taken for that of cluster {name}"
            app.leave(text, "see that they name the same server", "spec.kubeConfig")

    def _keep(self, name: str, references: Iterable[Reference]) -> None:
        """The kubeconfigs and their namespaces stay as they are."""
        for reference in references:
            if holder := self._world.get(reference.kind, reference.namespace, reference.name):
                text = f"it is the kubeconfig of cluster {name}, which Flux reads as before"
                holder.leave(text, "keep it, and what creates it", is_left=True)
            space = self._world.get("Namespace", "", reference.namespace)
            if space is not None and not space.tenant:
                text = f"it holds the kubeconfig of cluster {name}"
                space.leave(text, "keep it, and what creates it", is_left=True)


def _short(reference: Reference) -> str:
    """The name of a kubeconfig without what tools write around the cluster's."""
    name = reference.name.removeprefix("vc-") if reference.key == "config" else reference.name
    affixes = ("-admin-kubeconfig", "-kubeconfig")
    affix = next((affix for affix in affixes if name.endswith(affix) and name != affix), "")
    return name.removesuffix(affix).removeprefix("kubeconfig-")


class Survey:
    """What was read of one environment. `apps` have no content yet."""

    def __init__(self, world: World, taken: dict[str, Any]) -> None:
        """taken: the clusters of all environments so far."""
        self.world = world
        self.remotes = Remotes(world, taken)
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
            secrets = f"{app.main}." if app.tenant else f"{FLUX}."
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
            resource.leave(text, "keep it as it is", is_left=True)
            return True
        return False

    def _app(self, resource: Resource) -> App:
        if cluster := self.remotes.name(resource):
            return self._remote(resource, cluster)
        place, name = Place(self.world.environment, self.world.management), resource.name
        if tenant := self._holders.get(resource.namespace):
            return App(resource, place, tenant, name, resource.namespace, name, resource.namespace)
        own = self._own(resource.namespace)
        return App(resource, place, "", name, own or FLUX, name, FLUX, own=own)

    def _own(self, namespace: str) -> str:
        """`namespace` of an add-on that lies there, or whose release is stored there; "" if it is the platform's, or cannot be."""
        kubeconfigs = {self.remotes.kubeconfig_namespace(cluster) for cluster in self.remotes.entries}
        return "" if namespace in (FLUX, *kubeconfigs, *self._holders) else namespace

    def _remote(self, resource: Resource, cluster: str) -> App:
        place = Place(self.world.environment, cluster)
        home = self.remotes.kubeconfig_namespace(cluster)
        name = resource.name.removeprefix(f"{cluster}-").removesuffix(f"-{cluster}") or resource.name
        tenant = self._tenant_of(resource)
        if not tenant:
            own = self._own(resource.storage) if resource.kind == "HelmRelease" else None
            return App(resource, place, "", name, home, join(cluster, name), FLUX, own=own)
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
