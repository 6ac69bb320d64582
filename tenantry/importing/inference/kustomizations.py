"""A Kustomization to the `kustomize:` block of an app. What Flux would do without a field is written out where Tenantry differs."""

from __future__ import annotations

from typing import Any

from tenantry.importing.inference.blocks import Named, leave_owned, without_defaults
from tenantry.importing.inference.durations import short_times
from tenantry.importing.inference.found import FoundApp
from tenantry.importing.inference.literal import literal_mapping
from tenantry.importing.inference.world import World
from tenantry.model import Kustomize
from tenantry.plan.objects.lifecycle import without_kept_definitions

_ELSEWHERE = ("sourceRef", "serviceAccountName", "kubeConfig", "dependsOn")


def kustomize_block(world: World, app: FoundApp, named: Named) -> dict[str, Any]:
    """The block, without its source."""
    written = without_kept_definitions("Kustomization", app.thing.spec)
    spec = {key: value for key, value in written.items() if key not in _ELSEWHERE}
    spec = leave_owned(world, app.thing, Kustomize, spec)
    spec = short_times(named.in_spec(app.thing, spec))
    _keep_behaviour(spec)
    if app.tenant:
        _target(spec, app)
    block = {key: value for key, value in spec.items() if app.times.get(key) != value}
    return literal_mapping(without_defaults(_with_path(block), Kustomize))


def _keep_behaviour(spec: dict[str, Any]) -> None:
    spec["wait"] = bool(spec.get("wait", False))
    if spec.get("healthChecks") and not spec["wait"]:
        del spec["wait"]  # Tenantry's default beside health checks, too
    if not spec.get("prune") and "deletionPolicy" not in spec:
        spec["deletionPolicy"] = "MirrorPrune"
    if spec.get("force") is False:
        del spec["force"]
    if spec.get("suspend") is False:
        del spec["suspend"]


def _with_path(block: dict[str, Any]) -> dict[str, Any]:
    path = str(block.get("path") or "./")
    inside = path.lstrip("/") or "./"
    return {**block, "path": "./" if inside in (".", "./", "") else inside}


def _target(spec: dict[str, Any], app: FoundApp) -> None:
    if spec.get("targetNamespace") == app.main:
        del spec["targetNamespace"]
    elif "targetNamespace" not in spec and (why := _reaches_further(app)):
        app.risks.append(
            f"decide: it names no 'targetNamespace', and {why}. Tenantry moves what it applies into namespace {app.main}:"
            " if that is right, remove 'state: paused'"
        )


def _reaches_further(app: FoundApp) -> str:
    """Why an app may have something outside of the main namespace."""
    if not app.thing.spec.get("serviceAccountName"):
        return "has the rights of Flux itself"
    return f"the tenant also has {', '.join(app.extra)}" if app.extra else ""
