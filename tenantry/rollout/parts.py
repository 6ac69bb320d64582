"""The parts of a wave, which soak by themselves: an app by itself, and what else a tenant or the platform has there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from tenantry.kube.names import digest
from tenantry.kube.objects import KubeObject, ObjectId
from tenantry.plan.after import PACE, contents_by
from tenantry.plan.plan import Plan
from tenantry.rollout.waves import is_taken

PLATFORM = "platform"
_DIGITS = 16
_PLACE = ("kubeConfig", "releaseName", "storageNamespace", "targetNamespace", "serviceAccountName")
"""Fields of a spec that differ between the clusters of a wave."""


class Part(NamedTuple):
    """subject: an app such as `rocky/web` or `platform/dns`; `rocky` or `platform` for what is of no single app."""

    wave: int
    subject: str


def parts_of(plan: Plan) -> dict[ObjectId, Part]:
    """The part of each object in a wave. What only one app takes, such as its source, is of that app."""
    apps = {app.id: app.full_name for app in plan.apps}
    users: dict[ObjectId, set[str]] = {}
    found: dict[ObjectId, Part] = {}
    for planned in reversed(plan.objects):
        users_here = users.get(planned.id, set())
        alone = next(iter(users_here)) if is_taken(planned.id) and len(users_here) == 1 else ""
        subject = apps.get(planned.id) or alone or planned.owner.tenant or PLATFORM
        for id in planned.depends_on:
            users.setdefault(id, set()).add(subject)
        if wave := plan.wave_of(planned.id):
            found[planned.id] = Part(wave.number, subject)
    return found


def digests_of(plan: Plan, parts: Mapping[ObjectId, Part]) -> dict[Part, str]:
    """What each part has. One more cluster that has the same as others of its wave changes no digest."""
    apps = contents_by(plan, lambda app: parts.get(app.id))
    found = {part: content for part, content in apps.items() if part}
    rest: dict[Part, set[str]] = {}
    for planned in plan.objects:
        if (part := parts.get(planned.id)) and part not in found:
            rest.setdefault(part, set()).add(digest(_content(planned), _DIGITS))
    return found | {part: digest({"variants": sorted(each)}, _DIGITS) for part, each in rest.items()}


def _content(planned: KubeObject) -> dict[str, Any]:
    """An object without its name and place."""
    manifest = {key: value for key, value in planned.manifest.items() if key not in ("apiVersion", "metadata")}
    if isinstance(spec := manifest.get("spec"), Mapping):
        manifest["spec"] = {key: value for key, value in spec.items() if key not in (*PACE, *_PLACE)}
    if planned.secret:
        manifest["secret"] = [*planned.secret.path, *planned.secret.keys]
    return manifest
