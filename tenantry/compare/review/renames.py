"""Clusters, tenants and apps that seem to have another name: what is removed and what is added takes the same sources otherwise.

For Flux and Pulumi there are no renames. Under the old name everything is deleted, and under the new one it is created.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from tenantry.compare.diff import Diff, Status
from tenantry.compare.review.model import PartKind
from tenantry.guard import held
from tenantry.guard.kubeconfigs import renamed
from tenantry.kube.objects import ObjectId, readable_id
from tenantry.messages.data import mapping_at, mappings_in, value_at
from tenantry.messages.text import grouped, listed
from tenantry.plan.plan import Plan
from tenantry.plan.planned_apps import PlannedApp

_ADDRESSES = ("url", "endpoint", "bucketName", "sourceRef")
"""The fields of a source's spec that say where it lies."""


class Origin(NamedTuple):
    """kind: of the app's object; address: of its source; part: the path in the source, or the chart."""

    kind: str
    address: str
    part: str


def origins_of(plan: Plan, apps: Iterable[PlannedApp]) -> dict[ObjectId, Origin]:
    """The origin of each of these apps, by the identity of its object."""
    apps = tuple(apps)
    if not apps:
        return {}
    manifests = {(planned.id.kind, planned.id.namespace, planned.id.name): planned.manifest for planned in plan.objects}
    found: dict[ObjectId, Origin] = {}
    for app in apps:
        spec = mapping_at(manifests[app.id.kind, app.id.namespace, app.id.name], "spec")
        reference, part = spec.get("sourceRef"), str(spec.get("path", ""))
        if reference is None:
            reference = spec["chartRef"]
            if reference["kind"] == "HelmChart":
                chart = mapping_at(manifests["HelmChart", app.id.namespace, reference["name"]], "spec")
                reference, part = chart["sourceRef"], str(chart["chart"])
        source = mapping_at(manifests.get((reference["kind"], app.id.namespace, reference["name"])), "spec")
        address = " ".join(str(source[key]) for key in _ADDRESSES if key in source)
        found[app.id] = Origin(app.id.kind, address, part)
    return found


class _Shape(NamedTuple):
    """What is compared. filled: with a placeholder for the name, which paths often contain."""

    literal: frozenset[tuple[str, Origin]]
    filled: frozenset[tuple[str, Origin]]


class Rename(NamedTuple):
    """kind: CLUSTER, TENANT, APP or ADDON; tenant: of an app, else ""; clusters: where the part is under its new name.

    same: what both have in common, in words, such as "the kubeconfig clusters/edge".
    stays: namespaces and Flux objects of a tenant have the same names as before, so they and what they hold stay.
    losing: of such a tenant, those that do not; replaced: its other objects that get another name.
    """

    kind: PartKind
    tenant: str
    before: str
    after: str
    clusters: tuple[str, ...]
    same: str
    stays: bool = False
    losing: tuple[str, ...] = ()
    replaced: tuple[str, ...] = ()

    @property
    def fate(self) -> str:
        """What happens to all that is under the old name, as the end of a sentence."""
        if not self.stays:
            return f"everything under the name {self.before} is deleted, and created again under the name {self.after}"
        parts = [
            "namespaces and Flux objects with the same names stay, with their data"
            if self.losing
            else "its namespaces and Flux objects keep their names, so they stay with their data",
            f"deleted with their data, and created again: {listed(self.losing)}" if self.losing else "",
            f"deleted, and created under other names: {listed(self.replaced)}" if self.replaced else "",
        ]
        return "; ".join(filter(None, parts))


def renames(diff: Diff, before: Plan, after: Plan) -> tuple[Rename, ...]:
    """Clusters first, then tenants, then apps of tenants that keep their names. None if everything is replaced anyway."""
    if diff.status is not Status.KEPT or diff.elsewhere:
        return ()
    if not (diff.removed.objects and diff.added.objects):
        return ()
    return (*_clusters(diff, before, after), *_tenants(diff, before, after), *_apps(before, after))


# --- clusters ---------------------------------------------------------------------------------------------------------


def _clusters(diff: Diff, before: Plan, after: Plan) -> Iterator[Rename]:
    gone, new = diff.removed.clusters, diff.added.clusters
    if not (gone and new):
        return
    now, planned = (
        held((each.manifest for each in share.objects), diff.environment) for share in (diff.removed, diff.added)
    )
    told: dict[str, str] = {}
    for each in dict.fromkeys(renamed(now, planned.kubeconfigs)):
        if each.before in gone and each.after in new and each.before not in told:
            told[each.before] = each.after
            same = f"the kubeconfig {each.reference}"
            yield Rename(PartKind.CLUSTER, "", each.before, each.after, (each.after,), same)
    given_up = {cluster for (cluster, _), abandoned in now.kubeconfigs.items() if abandoned}
    left = [each for each in gone if each not in told and each not in given_up]
    others = [each for each in new if each not in told.values()]
    # Clusters are often alike, so a pair is told only where no other is possible.
    if len(left) == len(others) == 1 and (apps := _apps_on(before, left[0])) and apps == _apps_on(after, others[0]):
        yield Rename(PartKind.CLUSTER, "", left[0], others[0], (others[0],), "the same tenants, apps and add-ons")


def _apps_on(plan: Plan, cluster: str) -> frozenset[tuple[str, str]]:
    return frozenset((app.tenant, app.name) for app in plan.apps if app.cluster == cluster)


# --- tenants ----------------------------------------------------------------------------------------------------------


def _tenants(diff: Diff, before: Plan, after: Plan) -> Iterator[Rename]:
    gone, new = diff.removed.tenants, diff.added.tenants
    if not (gone and new):
        return
    clusters = grouped(after.placements, lambda each: each.tenant)
    for old, name in _pairs(_shapes(before, gone), _shapes(after, new)):
        on = tuple(cluster.cluster for cluster in clusters[name])
        yield Rename(PartKind.TENANT, "", old, name, on, "the same sources and apps", *_fates(before, old, after, name))


class _Fates(NamedTuple):
    """As of `Rename`."""

    stays: bool
    losing: tuple[str, ...] = ()
    replaced: tuple[str, ...] = ()


def _fates(before: Plan, old: str, after: Plan, new: str) -> _Fates:
    """What becomes of the objects of a tenant that gets another name."""
    there, here = _identities(before, old), _identities(after, new)
    gone = [each for each in there if each not in {*here}]
    losing = [each for each in gone if each.kind in _HOLDING]
    if len(losing) == sum(each.kind in _HOLDING for each in there):
        return _Fates(stays=False)
    replaced = [each for each in gone if each.kind not in _HOLDING]
    return _Fates(stays=True, losing=_words(losing), replaced=_words(replaced))


def _words(identities: Iterable[_Identity]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(map(str, identities)))


_HOLDING = ("Namespace", "Kustomization", "HelmRelease", "PersistentVolumeClaim", "PersistentVolume")
"""Kinds with which data goes."""


class _Identity(NamedTuple):
    """An object on the management cluster, or one that a baseline installs on another cluster."""

    cluster: str
    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        where = f" on {self.cluster}" if self.cluster else ""
        return f"{self.kind} {f'{self.namespace}/' if self.namespace else ''}{self.name}{where}"


def _identities(plan: Plan, tenant: str) -> list[_Identity]:
    own, apps = [planned for planned in plan.objects if planned.owner.tenant == tenant], {app.id for app in plan.apps}
    inside = (
        (each.owner.cluster, id)
        for each in own
        if each.id.kind == "HelmRelease" and each.id not in apps
        for manifest in mappings_in(value_at(each.manifest, ("spec", "values", "objects")))
        if (id := readable_id(manifest))
    )
    there = (*(("", each.id) for each in own), *inside)
    return [_Identity(cluster, id.kind, id.namespace, id.name) for cluster, id in there]


def _shapes(plan: Plan, tenants: Iterable[str]) -> dict[str, _Shape]:
    """What each tenant has: its apps by name, with their origins."""
    wanted = frozenset(tenants)
    own = [app for app in plan.apps if app.tenant in wanted]
    origins = origins_of(plan, own)
    apps = grouped(own, lambda each: each.tenant)
    return {tenant: _shape(tenant, ((app.name, origins[app.id]) for app in apps[tenant])) for tenant in tenants}


# --- apps -------------------------------------------------------------------------------------------------------------


def _apps(before: Plan, after: Plan) -> Iterator[Rename]:
    """Apps and add-ons of which only one plan has the name, with a tenant that both have."""
    gone, new = _only(before, after), _only(after, before)
    tenants = [tenant for tenant in gone if tenant in new]
    old_origins = origins_of(before, [app for tenant in tenants for app in gone[tenant]])
    new_origins = origins_of(after, [app for tenant in tenants for app in new[tenant]])
    for tenant in tenants:
        old, added = _shapes_of_apps(gone[tenant], old_origins), _shapes_of_apps(new[tenant], new_origins)
        for one, other in _pairs(old, added):
            own = [app for app in new[tenant] if app.name == other]
            same = "the same source and chart" if own[0].release else "the same source and path"
            kind = PartKind.APP if tenant else PartKind.ADDON
            yield Rename(kind, tenant, one, other, tuple(app.cluster for app in own), same)


def _only(plan: Plan, other: Plan) -> dict[str, list[PlannedApp]]:
    """The apps, by tenant, of tenants that the other plan has too, without the apps whose names it has too."""
    names, tenants = {(app.tenant, app.name) for app in other.apps}, {app.tenant for app in other.apps}
    own = (app for app in plan.apps if app.tenant in tenants and (app.tenant, app.name) not in names)
    return grouped(own, lambda each: each.tenant)


def _shapes_of_apps(apps: Iterable[PlannedApp], origins: Mapping[ObjectId, Origin]) -> dict[str, _Shape]:
    return {
        name: _shape(name, ((app.cluster, origins[app.id]) for app in own))
        for name, own in grouped(apps, lambda each: each.name).items()
    }


# --- pairs ------------------------------------------------------------------------------------------------------------


def _shape(name: str, origins: Iterable[tuple[str, Origin]]) -> _Shape:
    literal = tuple(origins)
    filled = ((key, origin._replace(part=origin.part.replace(name, "{name}"))) for key, origin in literal)
    return _Shape(frozenset(literal), frozenset(filled))


def _pairs(gone: Mapping[str, _Shape], new: Mapping[str, _Shape]) -> Iterator[tuple[str, str]]:
    """Names of the same shape. Where several have it, as many have to be gone as new, and they are paired in their order."""
    told: set[str] = set()
    for index in range(len(_Shape._fields)):
        old, added = (_by_shape(shapes, index, told) for shapes in (gone, new))
        for shape, names in old.items():
            if len(names) == len(others := added.get(shape, [])):
                told |= {*names, *others}
                yield from zip(names, others, strict=True)


def _by_shape(
    shapes: Mapping[str, _Shape], index: int, told: set[str]
) -> dict[frozenset[tuple[str, Origin]], list[str]]:
    return grouped((name for name in shapes if name not in told), lambda name: shapes[name][index])
