"""What changes an app without a run of `tenantry up`, and so without waves.

Called by: the review of a difference and `explain`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tenantry.kube.objects import KubeObject, Manifest, ObjectId
from tenantry.messages.data import mapping_at
from tenantry.plan.planned_apps import PlannedApp

if TYPE_CHECKING:
    from tenantry.plan.plan import Plan

_EXACT = re.compile(r"v?[0-9]+\.[0-9]+\.[0-9]+([-+][-+.0-9A-Za-z]+)?")
_RANGE = "versions "


def bypass(app: PlannedApp, objects: Mapping[ObjectId, KubeObject]) -> str:
    """What of an app Flux follows by itself, such as `branch main`; "" if each of its changes stands in the file.

    objects: those of the plan that holds the app.
    """
    planned = objects.get(app.id)
    content = (
        next((objects[id] for id in planned.depends_on if _is_taken(planned, id, objects)), None) if planned else None
    )
    return _followed(content.manifest, objects, content) if content else ""


def following(*plans: Plan) -> list[str]:
    """The full names of the apps of the first plan that follow something by themselves, in any of some plans."""
    found: dict[str, None] = {}
    for plan in plans:
        objects = {object.id: object for object in plan.objects}
        found |= dict.fromkeys(app.full_name for app in plan.apps if bypass(app, objects))
    return [name for name in dict.fromkeys(app.full_name for app in plans[0].apps) if name in found]


def is_range(bypassed: str) -> bool:
    """Whether what `bypass` found is a range of versions."""
    return bypassed.startswith(_RANGE)


def _is_taken(app: KubeObject, id: ObjectId, objects: Mapping[ObjectId, KubeObject]) -> bool:
    """Whether an object is what the app takes its content from."""
    spec = app.manifest["spec"]
    reference = spec.get("chartRef") or spec.get("sourceRef") or {}
    return id in objects and (id.kind, id.name) == (reference.get("kind"), reference.get("name"))


def _followed(content: Manifest, objects: Mapping[ObjectId, KubeObject], planned: KubeObject) -> str:
    spec: dict[str, Any] = mapping_at(dict(content), "spec")
    ref = spec.get("ref") or {}
    match content["kind"]:
        case "HelmChart":
            reference = spec["sourceRef"]
            if reference["kind"] != "HelmRepository":
                source = next(
                    (objects[id] for id in planned.depends_on if id.name == reference["name"] and id in objects), None
                )
                return _followed(source.manifest, objects, source) if source else ""
            version = str(spec.get("version", "*"))
            return "" if _EXACT.fullmatch(version) else f"{_RANGE}{version} of its chart"
        case "GitRepository" if not (ref.get("commit") or ref.get("tag")):
            return _moving(ref) or f"branch {ref.get('branch', 'master')}"
        case "OCIRepository" if not (
            ref.get("digest") or (ref.get("tag") not in (None, "latest") and not ref.get("semver"))
        ):
            return _moving(ref) or "tag latest"
        case "Bucket":
            return f"bucket {spec.get('bucketName', '')}"
    return ""


def _moving(ref: Mapping[str, str]) -> str:
    if ref.get("name"):
        return f"ref {ref['name']}"
    return f"{_RANGE}{ref['semver']}" if ref.get("semver") else ""
