"""One environment: which apps there are, whose they are, on which cluster, and what each tenant has there."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from tenantry.importing.blocks import KEYS, Named, chart_of, has_shared_interval, source_entry
from tenantry.importing.checkouts import FLUX
from tenantry.importing.clusters import APPS, Remotes
from tenantry.importing.model import Read
from tenantry.importing.overlay import Place
from tenantry.importing.owners import Territory, is_platforms, territories, without_environment
from tenantry.importing.settings import namespace_of_addon
from tenantry.importing.world import FoundApp, Thing, World
from tenantry.kube.names import join
from tenantry.kube.objects import readable_id
from tenantry.messages.data import mapping_at
from tenantry.messages.text import grouped
from tenantry.plan.objects.remote import OBJECTS_CHART
from tenantry.plan.objects.scope import APP_LABEL, CLUSTER_LABEL, TENANT_LABEL


class Survey:
    """What was found in one environment. `apps` have no content yet."""

    def __init__(self, world: World, taken: dict[str, Any]) -> None:
        """taken: the clusters of all environments so far."""
        self.world = world
        self.remotes = Remotes(world, taken)
        self.platform = world.platform
        self.territories = {territory.tenant: territory for territory in territories(world)}
        self._holders = {name: each for each in self.territories.values() for name in each.namespaces}
        self.baselines: dict[Place, list[Thing]] = {}
        self.charts: list[Thing] = []
        self.releases: defaultdict[tuple[str, Place], list[Thing]] = defaultdict(list)
        self.apps: list[FoundApp] = []
        self.named: dict[tuple[str, str], Named] = {}
        for thing in world.of(*APPS):
            self._look_at(thing)
        self._one_for_each_key()
        self.keep(self.apps)

    def keep(self, apps: list[FoundApp]) -> None:
        """Go on with some of the apps."""
        self.apps = apps
        self.by_object = {(app.thing.kind, app.thing.namespace, app.thing.name): app for app in apps}

    @property
    def clusters(self) -> list[str]:
        """The management cluster and the remote ones."""
        return [self.world.management, *self.remotes.entries]

    def names_of(self, app: FoundApp) -> Named:
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
        accounts = Counter(
            str(app.thing.spec["serviceAccountName"])
            for app in self.apps
            if app.tenant == tenant
            and app.place.cluster == self.world.management
            and app.thing.spec.get("serviceAccountName")
        )
        return accounts.most_common(1)[0][0] if accounts else tenant

    def addons(self) -> list[FoundApp]:
        """The apps of the platform whose sources were read."""
        return [app for app in self.apps if not app.tenant and source_of(self.world, app.thing)]

    @cached_property
    def shared_charts(self) -> Mapping[tuple[str, str], list[Thing]]:
        """The charts that Tenantry made with the interval of their owner, by tenant and cluster."""
        shared = (each for each in self.world.of("HelmChart") if has_shared_interval(each))
        return grouped(shared, lambda each: (each.tenant, str(each.labels.get(CLUSTER_LABEL))))

    def objects_chart(self) -> dict[str, Any]:
        """Where the chart for baselines is, if Tenantry has made some."""
        for release in self.charts:
            chart, reference = chart_of(self.world, release)
            source = self.world.get(str(reference.get("kind")), release.namespace, str(reference.get("name")))
            if source is None:
                continue
            cluster = self.remotes.name(release) or self.world.management
            if source.kind == "OCIRepository":
                entry = source_entry(self.world, source, self._names("", cluster, f"{cluster}."))
                return {key: each for key, each in entry.items() if key != "metadata"}
            credentials = self._names("", cluster, "").credentials_of(source)
            if source.kind == "HelmRepository":
                kind = {"type": "oci"} if source.spec.get("type") == "oci" else {}
                where = {"url": source.spec.get("url"), "version": str(chart.get("version")), **kind}
                return {"helm": where, **credentials}
            if source.kind == "GitRepository":
                where = {"url": source.spec.get("url"), "ref": source.spec.get("ref"), "path": chart.get("chart")}
                return {"git": where, **credentials}
        return {}

    def namespaces_of(self, addon: FoundApp) -> dict[str, Any]:
        """The namespaces that an add-on of Tenantry's owns in its place, by name."""
        local = addon.place.cluster == self.world.management
        there = self.world.things if local else self.baselines.get(addon.place, [])
        path = (*addon.path, "namespaces")
        found: dict[str, Any] = {}
        for made in there:
            if (
                made.kind == "Namespace"
                and made.is_ours
                and made.labels.get(APP_LABEL) == addon.key
                and not made.tenant
            ):
                inside = (each for each in there if each.namespace == made.name and each.is_declared)
                found[made.name] = namespace_of_addon(made, inside, self.world.notes, path)
        return found

    def order_of(self, tenant: str, place: Place) -> list[str]:
        """The add-ons that a tenant's baseline waits for in a place. Flux knows those that are releases."""
        names: dict[str, None] = {}
        for release in self.releases.get((tenant, place), ()):
            written = release.spec.get("dependsOn")
            for each in written if isinstance(written, list) else ():
                home = str(each.get("namespace") or release.namespace)
                other = self.by_object.get(("HelmRelease", home, str(each.get("name"))))
                if other and not other.tenant:
                    names[f"platform/{other.key}"] = None
        return list(names)

    def platform_account(self, cluster: str) -> str:
        """Whom Flux acts as for most of what Tenantry made on a remote cluster for the platform team: add-ons can name others."""
        ours = [each for each in self.world.of(*APPS) if each.is_ours and self.remotes.name(each) == cluster]
        made = [each for each in ours if each in self.charts] or [each for each in ours if _is_addon(each)]
        named = Counter(str(each.spec.get("serviceAccountName")) for each in made)
        most = [name for name, _ in named.most_common()]
        mark = f"-{self.world.environment}"
        return next(iter(most), "tenantry-platform").removesuffix(mark)

    def _look_at(self, thing: Thing) -> None:
        cluster = self.remotes.name(thing)
        if _installs_objects(self.world, thing):
            self._baseline(thing, cluster)
        elif thing.namespace == FLUX and thing.name == FLUX and cluster is None:
            self.world.notes.leave(
                thing.read,
                "it is Flux's own bootstrap, which applies the repository of the cluster",
                "keep it as it is",
                fate="stays",
            )
        elif app := self._local(thing) if cluster is None else self._remote(thing, cluster):
            self.apps.append(app)

    def _local(self, thing: Thing) -> FoundApp:
        place = Place(self.world.environment, self.world.management)
        mine = self._holders.get(thing.namespace)
        if mine is None:
            own = self._own(thing.namespace)
            return FoundApp(thing, place, "", thing.name, own or self.platform, thing.name, self.platform, own=own)
        extra = tuple(namespace for namespace in mine.namespaces if namespace != mine.main)
        return FoundApp(thing, place, mine.tenant, thing.name, mine.main, thing.name, mine.main, extra)

    def _own(self, namespace: str) -> str:
        """`namespace` of an add-on that lies there, or whose release is stored there; "" if it is the platform's, or cannot be."""
        kubeconfigs = {self.remotes.kubeconfig_namespace(each) for each in self.remotes.entries}
        return "" if namespace in (self.platform, *kubeconfigs, *self._holders) else namespace

    def _remote(self, thing: Thing, cluster: str) -> FoundApp | None:
        place = Place(self.world.environment, cluster)
        home = self.remotes.kubeconfig_namespace(cluster)
        tenant = self._tenant_of(thing)
        if not tenant:
            key = _without_cluster(thing.name, cluster)
            storage = str(thing.spec.get("storageNamespace") or thing.namespace)
            own = self._own(storage) if thing.kind == "HelmRelease" else None
            return FoundApp(thing, place, "", key, home, join(cluster, key), self.platform, own=own)
        main = self._main(thing, tenant)
        prefix = join(cluster, main, "")
        key = (
            thing.name.removeprefix(prefix) if thing.name.startswith(prefix) else _without_cluster(thing.name, cluster)
        )
        return FoundApp(thing, place, tenant, key, home, join(cluster, main, key), main)

    def _tenant_of(self, thing: Thing) -> str:
        """The tenant of an app for a remote cluster; "" for an add-on."""
        if thing.tenant:
            return thing.tenant
        if mine := self._holders.get(thing.namespace):
            return mine.tenant
        if is_platforms(self.world, str(thing.spec.get("targetNamespace") or FLUX)) or thing.is_ours:
            return ""
        account = str(thing.spec.get("serviceAccountName") or "")
        target = str(thing.spec["targetNamespace"])
        return without_environment(target, self.world.environment) if account else ""

    def _main(self, thing: Thing, tenant: str) -> str:
        """The tenant's namespace, which has one name on all clusters."""
        if mine := self.territories.get(tenant):
            return mine.main
        target = thing.spec.get("serviceAccountName") if thing.is_ours else thing.spec.get("targetNamespace")
        made = Territory(tenant, str(target or thing.namespace))
        self.territories[tenant] = made
        return made.main

    def _baseline(self, thing: Thing, cluster: str | None) -> None:
        """What Tenantry itself installs on a remote cluster: the objects in it are read as those of that cluster."""
        self.charts.append(thing)
        tenant = str(thing.labels.get(TENANT_LABEL, ""))
        if cluster is None:
            return
        self.world.notes.take(thing.read, *(("tenants", tenant) if tenant else ("platform",)))
        inside = mapping_at(thing.spec, "values").get("objects")
        place = Place(self.world.environment, cluster)
        self.releases[tenant, place].append(thing)
        self.baselines.setdefault(place, []).extend(_inside(thing, inside if isinstance(inside, list) else []))

    def _one_for_each_key(self) -> None:
        """A Kustomization and a release may have one name, the file needs two. So do add-ons of different repositories on several
        clusters. Nor may an app be planned where another one is.
        """
        self.apps = [each for each in self.apps if not self._was_before(each)]
        seen: set[tuple[Place, tuple[str, ...]]] = set()
        fetched: dict[tuple[str, ...], str] = {}
        # What is where it is planned keeps its name.
        for app in sorted(self.apps, key=lambda each: not each.is_there):
            kind = "release" if app.thing.kind == "HelmRelease" else "manifests"
            short, key, namespace = app.planned.removesuffix(app.key), app.key, app.thing.namespace
            for other in (key, join(key, kind), join(key, namespace), join(key, namespace, kind)):
                app.key, app.planned = other, f"{short}{other}"
                url = self._address(app)
                is_taken = (app.place, app.path) in seen or fetched.get(app.path, url) != url
                if not is_taken and not self._is_anothers(app):
                    break
            seen.add((app.place, app.path))
            fetched.setdefault(app.path, url)

    def _address(self, app: FoundApp) -> str:
        """What an add-on fetches; "" of a tenant's app."""
        source = None if app.tenant else source_of(self.world, app.thing)
        return str(source.spec.get("url")) if source else ""

    def _is_anothers(self, app: FoundApp) -> bool:
        """Whether another object has the name that an app would get: it would become that app, and lose what it applies."""
        there = self.world.known(app.thing.kind, app.home, app.planned)
        return there is not None and there is not app.thing

    def _was_before(self, app: FoundApp) -> bool:
        """Whether an app was taken over under another name, and is suspended since. Leaves it over."""
        there = self.world.known(app.thing.kind, app.home, app.planned)
        if app.is_there or not app.thing.is_suspended or there is None or not there.is_ours or app.thing.is_ours:
            return False
        text = f"it is suspended, and {there.key} of Tenantry applies the same in its place"
        self.world.notes.leave(
            app.thing.read, text, "keep it suspended: it then deletes nothing, also when it goes", fate="stays"
        )
        return True


def _inside(release: Thing, objects: list[Any]) -> list[Thing]:
    good = (each for each in objects if readable_id(each) is not None)
    return [Thing(Read(release.read.environment, each, release.read.origin)) for each in good]


def _installs_objects(world: World, thing: Thing) -> bool:
    """Whether it is a release of the chart for baselines. In a Git repository the chart is a directory."""
    if thing.kind != "HelmRelease" or not thing.is_ours:
        return False
    chart = str(chart_of(world, thing)[0].get("chart", ""))
    values = mapping_at(thing.spec, "values")
    return chart == OBJECTS_CHART or (list(values) == ["objects"] and isinstance(values["objects"], list))


def _is_addon(thing: Thing) -> bool:
    return TENANT_LABEL not in thing.labels


def _without_cluster(name: str, cluster: str) -> str:
    short = name.removeprefix(f"{cluster}-").removesuffix(f"-{cluster}")
    return short or name


def source_of(world: World, thing: Thing) -> Thing | None:
    """The source of an app, if it was read."""
    reference = chart_of(world, thing)[1] if thing.kind == "HelmRelease" else mapping_at(thing.spec, "sourceRef")
    kind, name = str(reference.get("kind")), str(reference.get("name"))
    return world.known(kind, str(reference.get("namespace") or thing.namespace), name) if kind in KEYS else None
