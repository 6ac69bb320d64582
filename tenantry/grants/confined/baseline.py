"""Whether the release of a tenant's baseline is confined: what it runs as, what it takes over, and what it installs."""

from __future__ import annotations

from collections.abc import Iterator

from tenantry.fleet.fleet import platform_account
from tenantry.grants.confined.kubernetes import Kubernetes
from tenantry.grants.confined.place import (
    APP,
    TENANT,
    Place,
    kubeconfig_reference,
    labels_of,
)
from tenantry.grants.confined.plan import Planned
from tenantry.kube.names import MAX_RELEASE, shortened
from tenantry.kube.objects import KubeObject, ObjectId


class Baseline:
    """The release with what the tenant needs on a remote cluster, which the platform's account installs."""

    def __init__(self, plan: Planned, place: Place, planned: KubeObject) -> None:
        self.plan, self.place, self.planned = plan, place, planned

    def problems(self) -> Iterator[str]:
        place, spec = self.place, dict(self.planned.manifest["spec"])
        platform, cluster = place.frame.document.platform.namespace, place.frame.clusters[place.cluster]
        chart = self.plan.planned.get(("HelmChart", self.planned.id.namespace, spec["chartRef"]["name"])) or (
            self.plan.planned.get((spec["chartRef"]["kind"], self.planned.id.namespace, spec["chartRef"]["name"]))
        )
        if (
            chart is None
            or {TENANT, APP} & labels_of(chart.manifest).keys()
            or not chart.id.name.startswith(f"{platform}.")
        ):
            yield "takes a chart that is not the platform's"
        adopts = place.declared.adopt
        action = {
            key: {name: value for name, value in spec.pop(key, {}).items() if name != "strategy"}
            for key in ("install", "upgrade")
        }
        action["upgrade"].pop("chartNameChangeStrategy", None)
        if not adopts and any(each != {"disableTakeOwnership": True} for each in action.values()):
            yield "takes over what exists, or is installed otherwise than the fleet does"
        if spec.pop("suspend", False) and cluster.state == "active":
            yield "stands still on a cluster that does not"
        after = {each["name"] for each in spec.pop("dependsOn", ())}
        for id in self._addons():
            waits = id.name in after if id.kind == "HelmRelease" else id in self.planned.depends_on
            if not waits:
                yield f"does not wait for {id}"
        objects = spec.pop("values")["objects"]
        for key in ("chartRef", "interval", "timeout"):
            spec.pop(key, None)
        if spec.pop("serviceAccountName") != platform_account(place.frame, place.environment, place.cluster):
            yield "runs as another account than the platform's"
        name = f"{place.main}-baseline"
        wanted = {
            "releaseName": spec.get("releaseName") if spec.get("releaseName") == shortened(name, MAX_RELEASE) else name,
            "targetNamespace": platform,
            "storageNamespace": platform,
            "kubeConfig": kubeconfig_reference(place.kubeconfig),
            "driftDetection": {"mode": "enabled"},
        }
        yield from (
            f"has another spec.{key} than the fleet's" for key in {**wanted, **spec} if spec.get(key) != wanted.get(key)
        )
        for each in objects:
            for problem in Kubernetes(self.plan, place, each, on_target=True).problems():
                yield f"installs {each['kind']} {each['metadata']['name']}, which {problem}"
        yield from Kubernetes.missing(place, objects)

    def _addons(self) -> Iterator[ObjectId]:
        """The add-ons on the cluster that the main file lets the tenant wait for."""
        place = self.place
        for name in place.settings("").dependsOn:
            if id := self.plan.addons.get((name.partition("/")[2], place.cluster)):
                yield id
