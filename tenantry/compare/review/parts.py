"""Which part of the fleet an object belongs to, by its place in a plan; and the states of parts, in the words of the file."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any, NamedTuple

from tenantry.compare.review.model import Part, PartKind
from tenantry.fleet.document import Documents
from tenantry.fleet.fleet import Fleet
from tenantry.guard.kubeconfigs import held_by
from tenantry.kube.objects import KubeObject, Manifest, ObjectId
from tenantry.plan.objects.scope import APP_LABEL
from tenantry.plan.plan import Plan
from tenantry.plan.planned_apps import PlannedApp


def attached(name: str) -> str:
    """The name of credentials or a config: declared names contain no dot."""
    return name.rpartition(".")[2]


def label(manifest: Manifest, key: str) -> str:
    """The value of a label; "" if the object does not have it."""
    return str(_metadata(manifest, "labels").get(key, ""))


def annotation(manifest: Manifest, key: str) -> str:
    """The value of an annotation; "" if the object does not have it."""
    return str(_metadata(manifest, "annotations").get(key, ""))


def _metadata(manifest: Manifest, key: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = manifest["metadata"].get(key) or {}
    return found


def kind_and_name(id: ObjectId) -> str:
    """Such as `RoleBinding tenantry`."""
    return f"{id.kind} {id.name}"


_SOURCES = "source.toolkit.fluxcd.io/v1"
KINDS_OF_SOURCES = ("GitRepository", "OCIRepository", "HelmRepository", "Bucket")
NOTIFICATIONS = ("Alert", "Provider", "Receiver")


class Spot(NamedTuple):
    """A part of the fleet on one cluster; cluster is "" for what belongs to none."""

    part: Part
    cluster: str


class Planned(NamedTuple):
    """A side of a comparison: the file, and its plans by environment. fleet: None: there was no file."""

    fleet: Fleet | None
    plans: Mapping[str, Plan]


class Side:
    """One of the two plans of an environment, with what it takes to say which part an object belongs to.

    fleet: that is planned; None: there was no file, so the plan has no objects. objects: by identity. app_of: by the identity of
    its object; apps: by tenant, cluster and name; users: the apps that take a chart or a source.
    """

    def __init__(self, plan: Plan, fleet: Fleet | None) -> None:
        self.plan = plan
        self.fleet = fleet
        self.objects: Mapping[ObjectId, KubeObject] = {planned.id: planned for planned in plan.objects}
        self.app_of: Mapping[ObjectId, PlannedApp] = {each.id: each for each in plan.apps}
        self.apps = {(each.tenant, each.cluster, each.name): each for each in plan.apps}
        self.users: dict[ObjectId, list[PlannedApp]] = {}
        for app in plan.apps:
            for used in self._used(app):
                self.users.setdefault(used, []).append(app)
        self.placements = {(each.tenant, each.cluster): each for each in plan.placements}
        self.tenants = dict.fromkeys(each.tenant for each in plan.placements)
        self.clusters = dict.fromkeys(each.owner.cluster for each in plan.objects if each.owner.cluster)
        self.tenants_by_cluster: dict[str, list[str]] = {}
        for placement in plan.placements:
            self.tenants_by_cluster.setdefault(placement.cluster, []).append(placement.tenant)
        self.shared = _by_spot(self)
        self._addons: Mapping[tuple[str, str], str] = {
            (each.owner.cluster, each.id.name): label(each.manifest, APP_LABEL)
            for each in plan.objects
            if each.id.kind == "Namespace" and not each.owner.tenant
        }

    def _used(self, app: PlannedApp) -> Iterator[ObjectId]:
        """The chart and the source of an app. A release can take a source itself."""
        spec = self.objects[app.id].manifest["spec"]
        first = _id_of(app, spec.get("sourceRef") or spec["chartRef"])
        yield first
        if first.kind == "HelmChart" and (chart := self.objects.get(first)):
            yield _id_of(app, chart.manifest["spec"]["sourceRef"])

    @cached_property
    def documents(self) -> Documents:
        """What the file says of the parts of the environment."""
        assert self.fleet is not None
        return Documents(self.fleet, self.plan.environment)

    def declares(self, tenant: str, cluster: str) -> bool:
        """Whether the file has both, and the environment. Args: tenant: "" for the platform."""
        there = self.fleet
        if there is None or self.plan.environment not in there.environments or cluster not in there.clusters:
            return False
        return not tenant or tenant in there.document.tenants

    def short(self, planned: KubeObject, name: str = "") -> str:
        """The key in the file that a Flux object is named after. Names for remote clusters begin with cluster and namespace.

        Args: name: of another object beside the planned one.
        """
        (tenant, cluster), name = planned.owner, name or planned.id.name
        if "." in name:  # what clusters share: `<namespace>.<key>[.<chart>].<hash>`
            return name.split(".")[1]
        if cluster == self.plan.management:
            return name
        placement = self.placements.get((tenant, cluster))
        parts = (cluster, placement.namespace if placement else "") if tenant else (cluster,)
        return name.removeprefix("-".join(parts) + "-")

    def spot_of(self, object: KubeObject) -> Spot:
        """Where an object belongs that no clusters share."""
        return Spot(self._part(object), object.owner.cluster)

    def spots_of(self, shared: KubeObject, clusters: Collection[str]) -> Iterable[Spot]:
        """Where an object belongs that clusters share: on each of them, at everything that takes it."""
        tenant, kind = shared.owner.tenant, shared.id.kind
        users = [app for app in self.users.get(shared.id, ()) if app.cluster in clusters]
        found: dict[Spot, None] = {}
        for app in users if kind == "HelmChart" or not tenant else ():
            is_source = kind in KINDS_OF_SOURCES and app.tenant
            part = Part(PartKind.SOURCE, app.tenant, self.short(shared)) if is_source else part_of(app)
            found[Spot(part, app.cluster)] = None
        used = {spot.cluster for spot in found}
        kept = PartKind.SOURCE if kind in KINDS_OF_SOURCES and tenant else PartKind.SETTINGS
        part = Part(kept, tenant, self.short(shared) if kept is PartKind.SOURCE else "")
        return (*found, *(Spot(part, cluster) for cluster in clusters if cluster not in used))

    def namespace_part(self, tenant: str, cluster: str, namespace: str) -> Part:
        """The tenant's settings, or one of its extra namespaces."""
        placement = self.placements.get((tenant, cluster))
        if placement and namespace in placement.extra:
            return Part(PartKind.NAMESPACE, tenant, namespace)
        return Part(PartKind.SETTINGS, tenant, "")

    def _part(self, object: KubeObject) -> Part:
        tenant, kind = object.owner.tenant, object.id.kind
        if object.id in self.app_of:
            return part_of(self.app_of[object.id])
        users = self.users.get(object.id)
        if users and (kind == "HelmChart" or not tenant):
            return part_of(users[0])
        if kind in KINDS_OF_SOURCES and tenant:
            return Part(PartKind.SOURCE, tenant, self.short(object))
        if tenant:
            name = object.id.name if kind == "Namespace" else object.id.namespace
            return self.namespace_part(tenant, object.owner.cluster, name)
        return self._of_platform(object)

    def _of_platform(self, object: KubeObject) -> Part:
        cluster, id = object.owner.cluster, object.id
        if id.kind == "HelmRelease":
            name = self.short(object).removesuffix("-namespaces")
            return Part(PartKind.ADDON, "", self._addon_of_release(object) or name)
        namespace = id.name if id.kind == "Namespace" else id.namespace
        if addon := self._addons.get((cluster, namespace)):
            return Part(PartKind.ADDON, "", addon)
        return Part(PartKind.SETTINGS, "", "")

    def _addon_of_release(self, release: KubeObject) -> str:
        """The add-on whose namespaces a release installs."""
        objects = release.manifest["spec"].get("values", {}).get("objects", ())
        return next((name for each in objects if (name := label(each, APP_LABEL))), "")


def is_shared(object: KubeObject) -> bool:
    """Whether clusters share an object that is told of each of them: a source, a chart, an alert, a Secret."""
    return not object.owner.cluster and (
        object.id.kind in (*KINDS_OF_SOURCES, "HelmChart", *NOTIFICATIONS) or object.secret is not None
    )


def _by_spot(side: Side) -> dict[Spot, list[KubeObject]]:
    """What clusters share, at the parts of each cluster on which something depends on it."""
    clusters: dict[ObjectId, set[str]] = {planned.id: set() for planned in side.plan.objects if is_shared(planned)}
    for planned in reversed(side.plan.objects):
        for id in planned.depends_on:
            if id in clusters:
                clusters[id] |= clusters.get(planned.id) or {planned.owner.cluster}
    found: dict[Spot, list[KubeObject]] = {}
    for id, here in clusters.items():
        for spot in side.spots_of(side.objects[id], {each: None for each in side.clusters if each in here}):
            found.setdefault(spot, []).append(side.objects[id])
    return found


def _id_of(user: PlannedApp, reference: Mapping[str, str]) -> ObjectId:
    return ObjectId(_SOURCES, reference["kind"], user.id.namespace, reference["name"])


def part_of(app: PlannedApp) -> Part:
    """A tenant's app, or an add-on."""
    return Part(PartKind.APP if app.tenant else PartKind.ADDON, app.tenant, app.name)


class State(NamedTuple):
    """leaving: the state that announces a removal, or ""."""

    suspended: bool = False
    leaving: str = ""


ACTIVE = State()
_STATES = {
    "paused": State(suspended=True),
    "removing": State(leaving="removing"),
    "offboarding": State(leaving="offboarding"),
    "decommissioned": State(suspended=True, leaving="decommissioned"),
}


_DATA = {"offboarding": " with its data", "removing": ", and its data stays"}
"""What a later run does with the data of what is marked, the mark that prevails first."""


def state_at(side: Side, *at: str) -> State:
    """What the entry at a path says of itself."""
    return _STATES.get(str(side.fleet.said(*at).get("state")), ACTIVE) if side.fleet else ACTIVE


def state_of_tenant(side: Side, tenant: str, cluster: str) -> State:
    """What the file says of a whole tenant on a cluster."""
    one = state_at(side, "tenants", tenant)
    there = state_at(side, "tenants", tenant, "overrides", "clusters", cluster)
    leaving = next((mark for mark in _DATA if mark in (one.leaving, there.leaving)), "")
    return State(one.suspended, leaving)


def state_sentences(before: State, after: State, *, has_data: bool = True) -> tuple[str, ...]:
    """What another state means; empty for the same one. has_data: whether its state decides of namespaces."""
    data = _DATA.get(after.leaving, "") if has_data else ""
    if "decommissioned" in (before.leaving, after.leaving) and before.leaving != after.leaving:
        if after.leaving == "decommissioned":
            text = "it is given up (state: decommissioned): Flux stops reconciling it, and its workloads stay when it is removed"
        else:
            text = "it is no longer given up: Flux reconciles it again"
        return (text,)
    told: list[str] = []
    if after.leaving and not before.leaving:
        told.append(f"it is marked for removal (state: {after.leaving}): a later run may remove it{data}")
    elif after.leaving != before.leaving and after.leaving:
        told.append(f"it stays marked for removal (state: {after.leaving}): a later run may remove it{data}")
    if before.leaving and not after.leaving:
        told.append("it is no longer marked for removal")
    if after.suspended and not before.suspended:
        told.append("it is paused: Flux stops reconciling it, and what it installed keeps running")
    if before.suspended and not after.suspended:
        told.append("it is resumed: Flux reconciles it again")
    return tuple(told)


def given_up(plan: Plan) -> frozenset[tuple[str, str, str]]:
    """Namespaces as (tenant, cluster, name); the tenant is "" for those of add-ons."""
    there = held_by(plan)
    own = {key for key, leaving in there.namespaces.items() if leaving}
    return frozenset(own | {("", *key) for key, leaving in there.addon_namespaces.items() if leaving})
