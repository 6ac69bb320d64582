"""Which apps may apply something else: those whose Flux objects differ in what decides about it."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from tenantry.compare.diff import Diff
from tenantry.compare.moves import key_of
from tenantry.kube.objects import KubeObject, Manifest, ObjectId, object_id
from tenantry.manifests.model import ChangedApp, Inputs
from tenantry.plan.objects.scope import SOURCE_LABEL
from tenantry.plan.objects.sources import API
from tenantry.plan.plan import Plan
from tenantry.plan.planned_apps import PlannedApp

_DECIDES: Mapping[str, tuple[str, ...]] = {
    "Kustomization": (
        "path", "components", "ignoreMissingComponents", "patches", "images", "namePrefix", "nameSuffix",
        "targetNamespace", "commonMetadata", "postBuild", "buildMetadata",
    ),
    "HelmRelease": (
        "releaseName", "targetNamespace", "values", "valuesFrom", "postRenderers", "commonMetadata", "install", "upgrade",
    ),
    "HelmChart": ("chart", "version", "valuesFiles", "ignoreMissingValuesFiles"),
    "GitRepository": ("url", "ref", "ignore", "include", "recurseSubmodules", "sparseCheckout"),
    "OCIRepository": ("url", "ref", "layerSelector", "insecure", "ignore"),
    "HelmRepository": ("url", "type", "insecure"),
    "Bucket": ("endpoint", "bucketName", "prefix", "ignore"),
}  # fmt: skip
"""The fields of a spec that decide what is applied. Intervals, timeouts and dependencies do not. Other kinds: all fields."""

_ACTIONS = ("crds", "skipCRDs", "disableHooks")
"""The fields of `install` and `upgrade` that do."""


def changed_apps(diff: Diff, before: Plan, after: Plan, also: Collection[str] = ()) -> Iterator[ChangedApp]:
    """In the order of the plan, removed apps last. Args: also: names of sources whose apps count as changed."""
    touched = {each.id.at("") for each in (*diff.removed.objects, *diff.added.objects)}
    touched |= {each.id.at("") for each in diff.changed}
    old, new = ({key_of(app): app for app in plan.apps} for plan in (before, after))
    objects_before, objects_after = ({planned.id: planned for planned in plan.objects} for plan in (before, after))
    for key in dict.fromkeys((*new, *old)):
        one, other = old.get(key), new.get(key)
        left = _inputs(one, objects_before) if one else None
        right = _inputs(other, objects_after) if other else None
        both = [each for each in (left, right) if each]
        chosen = any(each.name in also for each in both)
        differs = any(id in touched for each in both for id in _ids(each)) and decisive(left) != decisive(right)
        if chosen or differs:
            tenant, cluster, name = key
            yield ChangedApp(
                environment=after.environment, tenant=tenant, cluster=cluster, name=name, before=left, after=right
            )


def decisive(inputs: Inputs | None) -> str:
    """Everything that decides what an app applies, as text to compare."""
    if inputs is None:
        return ""
    objects = (inputs.app, inputs.chart, inputs.source)
    return json.dumps([each and _part(each) for each in objects], sort_keys=True)


def _part(manifest: Manifest) -> dict[str, Any]:
    spec, kind = manifest["spec"], manifest["kind"]
    keys = _DECIDES.get(kind, tuple(spec))
    part = {key: spec[key] for key in keys if key in spec}
    for action in ("install", "upgrade"):
        if action in part:
            part[action] = {key: value for key, value in part[action].items() if key in _ACTIONS}
    return {"kind": kind, **part}


def _ids(inputs: Inputs) -> list[ObjectId]:
    return [object_id(each).at("") for each in (inputs.app, inputs.chart, inputs.source) if each]


def _inputs(app: PlannedApp, objects: Mapping[ObjectId, KubeObject]) -> Inputs | None:
    reconciler = objects[app.id].manifest
    spec = reconciler["spec"]
    used = _referred(spec.get("chartRef") or spec["sourceRef"], app.id, objects)
    if used is None:
        return None
    chart = used if used["kind"] == "HelmChart" else None
    source = _referred(chart["spec"]["sourceRef"], app.id, objects) if chart else used
    if source is None:
        return None
    return Inputs(app=reconciler, chart=chart, source=source, name=_source_name(app, source))


def _referred(reference: Mapping[str, str], user: ObjectId, objects: Mapping[ObjectId, KubeObject]) -> Manifest | None:
    id = ObjectId(API, reference["kind"], reference.get("namespace", user.namespace), reference["name"], user.hub)
    return objects[id].manifest if id in objects else None


def _source_name(app: PlannedApp, source: Manifest) -> str:
    """`rocky/manifests`, `platform/dns` for what an add-on takes.

    A source that clusters share says its key in a label. Another one has it in its name, behind the prefix of the app's scope.
    """
    if not app.tenant:
        return f"platform/{app.name}"
    labels, name = source["metadata"].get("labels") or {}, source["metadata"]["name"]
    return f"{app.tenant}/{labels.get(SOURCE_LABEL) or name.removeprefix(app.id.name.removesuffix(app.name))}"
