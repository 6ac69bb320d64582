"""Which part of the fleet an object belongs to: the app that takes a chart, the namespace that a quota is for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from tenantry.compare.review.model import Part, PartKind
from tenantry.compare.review.naming import Naming, label
from tenantry.compare.review.source_words import KINDS as SOURCES
from tenantry.compare.review.uses import Uses
from tenantry.kube.objects import KubeObject, group_of
from tenantry.plan.objects.scope import APP_LABEL
from tenantry.plan.plan import Plan
from tenantry.plan.planned_apps import PlannedApp

NOTIFICATIONS = ("Alert", "Provider", "Receiver")
_IMAGES = "image.toolkit.fluxcd.io"


class Spot(NamedTuple):
    """A part of the fleet on one cluster; cluster is "" for what belongs to none."""

    part: Part
    cluster: str


class Side:
    """One of the two plans, with what it takes to say which part an object belongs to."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.uses = Uses(plan)
        self.naming = Naming(plan)
        self.placements = {(each.tenant, each.cluster): each for each in plan.placements}
        self.tenants = dict.fromkeys(each.tenant for each in plan.placements)
        self.clusters = dict.fromkeys(each.owner.cluster for each in plan.objects if each.owner.cluster)
        self.tenants_by_cluster: dict[str, list[str]] = {}
        for each in plan.placements:
            self.tenants_by_cluster.setdefault(each.cluster, []).append(each.tenant)
        self._addons: Mapping[tuple[str, str], str] = {
            (each.owner.cluster, each.id.name): label(each.manifest, APP_LABEL)
            for each in plan.objects
            if each.id.kind == "Namespace" and not each.owner.tenant
        }

    def spot_of(self, object: KubeObject) -> Spot:
        """Where the object belongs."""
        return Spot(self._part(object), object.owner.cluster)

    def namespace_part(self, tenant: str, cluster: str, namespace: str) -> Part:
        """The tenant's settings, or one of its extra namespaces."""
        placement = self.placements.get((tenant, cluster))
        if placement and namespace in placement.extra:
            return Part(PartKind.NAMESPACE, tenant, namespace)
        return Part(PartKind.SETTINGS, tenant, "")

    def _part(self, object: KubeObject) -> Part:
        tenant, kind = object.owner.tenant, object.id.kind
        if object.id in self.uses.apps:
            return _part_of(self.uses.apps[object.id])
        if group_of(object.id.api_version) == _IMAGES:
            return Part(PartKind.APP if tenant else PartKind.ADDON, tenant, label(object.manifest, APP_LABEL))
        users = self.uses.users.get(object.id)
        if users and (kind == "HelmChart" or not tenant):
            return _part_of(users[0])
        if kind in SOURCES and tenant:
            return Part(PartKind.SOURCE, tenant, self.naming.short(object.owner, object.id.name))
        if tenant:
            name = object.id.name if kind == "Namespace" else object.id.namespace
            return self.namespace_part(tenant, object.owner.cluster, name)
        return self._of_platform(object)

    def _of_platform(self, object: KubeObject) -> Part:
        cluster, id = object.owner.cluster, object.id
        if id.kind == "HelmRelease":
            name = self.naming.short(object.owner, id.name).removesuffix("-namespaces")
            return Part(PartKind.ADDON, "", self._addon_of_release(object) or name)
        namespace = id.name if id.kind == "Namespace" else id.namespace
        if addon := self._addons.get((cluster, namespace)):
            return Part(PartKind.ADDON, "", addon)
        return Part(PartKind.SETTINGS, "", "")

    def _addon_of_release(self, release: KubeObject) -> str:
        """The add-on whose namespaces a release installs."""
        objects = release.manifest["spec"].get("values", {}).get("objects", ())
        return next((name for each in objects if (name := label(each, APP_LABEL))), "")


def _part_of(app: PlannedApp) -> Part:
    return Part(PartKind.APP if app.tenant else PartKind.ADDON, app.tenant, app.name)
