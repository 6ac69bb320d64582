"""Which charts and sources the apps of a plan take, and which of them an object belongs to."""

from __future__ import annotations

from collections.abc import Mapping

from tenantry.kube.objects import KubeObject, ObjectId
from tenantry.plan.plan import Plan
from tenantry.plan.planned_apps import PlannedApp

_SOURCES = "source.toolkit.fluxcd.io/v1"


class Uses:
    """objects: of the plan by identity; apps: by the identity of their object; users: the apps that take a chart or a source."""

    def __init__(self, plan: Plan) -> None:
        self.objects: Mapping[ObjectId, KubeObject] = {each.id: each for each in plan.objects}
        self.apps: Mapping[ObjectId, PlannedApp] = {each.id: each for each in plan.apps}
        self.keys: Mapping[tuple[str, str, str], PlannedApp] = {
            (each.tenant, each.cluster, each.name): each for each in plan.apps
        }
        self.users: dict[ObjectId, list[PlannedApp]] = {}
        for app in plan.apps:
            for used in self._used(app):
                self.users.setdefault(used, []).append(app)

    def chart_of(self, release: KubeObject) -> KubeObject | None:
        """The HelmChart that a release takes; None: it takes a source itself."""
        reference = release.manifest["spec"].get("chartRef")
        if reference is None or reference["kind"] != "HelmChart":
            return None
        return self.objects.get(_id_of(release.id, reference))

    def _used(self, app: PlannedApp) -> list[ObjectId]:
        object = self.objects[app.id]
        chart = self.chart_of(object)
        spec = object.manifest["spec"]
        if chart is None:
            return [_id_of(app.id, spec.get("sourceRef") or spec["chartRef"])]
        return [chart.id, _id_of(app.id, chart.manifest["spec"]["sourceRef"])]


def _id_of(user: ObjectId, reference: Mapping[str, str]) -> ObjectId:
    return ObjectId(_SOURCES, reference["kind"], user.namespace, reference["name"])
