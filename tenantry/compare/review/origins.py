"""What an app takes: the addresses of sources, and what of them it applies or installs. Names of the fleet play no part."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from tenantry.kube.objects import Manifest, ObjectId
from tenantry.messages.data import mapping_at
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
    manifests = {(each.id.kind, each.id.namespace, each.id.name): each.manifest for each in plan.objects}
    found: dict[ObjectId, Origin] = {}
    for app in apps:
        spec = mapping_at(manifests[app.id.kind, app.id.namespace, app.id.name], "spec")
        reference, part = spec.get("sourceRef"), str(spec.get("path", ""))
        if reference is None:
            reference = spec["chartRef"]
            if reference["kind"] == "HelmChart":
                chart = mapping_at(manifests["HelmChart", app.id.namespace, reference["name"]], "spec")
                reference, part = chart["sourceRef"], str(chart["chart"])
        source = manifests.get((reference["kind"], app.id.namespace, reference["name"]), {})
        found[app.id] = Origin(app.id.kind, _address(source), part)
    return found


def _address(source: Manifest) -> str:
    spec = mapping_at(dict(source), "spec")
    return " ".join(str(spec[key]) for key in _ADDRESSES if key in spec)
