"""A Kustomization or HelmRelease, with its chart, in the words of the file."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tenantry.compare.review.naming import Naming, attached, own_annotations, own_labels
from tenantry.compare.review.uses import Uses
from tenantry.compare.review.words import Path, Words
from tenantry.flux.references import renamed
from tenantry.kube.objects import KubeObject
from tenantry.messages.data import mapping_at
from tenantry.plan.objects.lifecycle import STATE_LABEL, without_kept_definitions
from tenantry.plan.objects.sources import IN_PLACE
from tenantry.plan.planned_apps import PlannedApp

TIMES = ("interval", "retryInterval", "timeout")
_NOT_WRITTEN = frozenset(
    {"chartRef", "dependsOn", "kubeConfig", "serviceAccountName", "sourceRef", "storageNamespace", "suspend"}
)
"""Fields of a spec that the plan sets. Some are told of the cluster or the tenant, `suspend` as a state."""

_DEFAULTS: dict[Path, Any] = {
    ("kustomize", "prune"): True,
    ("kustomize", "wait"): True,
    ("kustomize", "deletionPolicy"): "WaitForTermination",
    ("helm", "driftDetection"): {"mode": "enabled"},
    ("helm", "reconcileStrategy"): "Revision",
}


def app_words(app: PlannedApp, uses: Uses, naming: Naming) -> Words:
    """The settings of an app; an add-on names no source, because it has its own."""
    object = uses.objects[app.id]
    written = mapping_at(object.manifest, "spec")
    spec = dict(without_kept_definitions(object.id.kind, written))
    block = "kustomize" if object.id.kind == "Kustomization" else "helm"
    settings: dict[Path, Any] = {}
    rest: dict[str, Any] = {object.id.kind: _without_words(spec, app, naming, object)}
    chart = uses.chart_of(object)
    if chart is not None:
        _source(settings, chart.manifest["spec"]["sourceRef"], object, block, naming)
        settings |= _chart(chart, spec)
    else:
        _source(settings, spec.get("sourceRef") or spec["chartRef"], object, block, naming)
    named = renamed(object.id.kind, spec, lambda _, name: attached(name))
    for key, value in named.items():
        if key not in _NOT_WRITTEN and not _is_default(key, value, app, naming, object):
            settings[block, key] = value
    if not app.tenant and spec == written and STATE_LABEL not in object.manifest["metadata"]["labels"]:
        settings["keepCRDs",] = False
    if app.after:
        settings["dependsOn",] = list(app.after)
    return Words(settings | metadata_words(object), rest)


def _source(
    settings: dict[Path, Any], reference: dict[str, str], object: KubeObject, block: str, naming: Naming
) -> None:
    if object.owner.tenant:
        settings[block, "source"] = naming.short(object.owner, reference["name"])


def _chart(chart: KubeObject, release: dict[str, Any]) -> dict[Path, Any]:
    spec = mapping_at(chart.manifest, "spec")
    found: dict[Path, Any] = {
        ("helm", key): value for key, value in spec.items() if key not in ("interval", "sourceRef")
    }
    found = renamed_chart(found)
    if spec["interval"] != release.get("interval"):
        found["helm", "chartInterval"] = spec["interval"]
    return found


def renamed_chart(found: dict[Path, Any]) -> dict[Path, Any]:
    """With the name of the credentials in `verify` as the file has it."""
    secret = mapping_at(found.get(("helm", "verify")), "secretRef")
    if not secret:
        return found
    verify = {**found["helm", "verify"], "secretRef": {**secret, "name": attached(secret["name"])}}
    return {**found, ("helm", "verify"): verify}


def _is_default(key: str, value: Any, app: PlannedApp, naming: Naming, object: KubeObject) -> bool:
    """Whether the plan sets a field without being told to, by the names of the app and its namespace."""
    if key == "targetNamespace":
        return bool(value == naming.namespace(object.owner))
    return key == "releaseName" and value in (app.name, object.id.name)


def _without_words(spec: dict[str, Any], app: PlannedApp, naming: Naming, object: KubeObject) -> dict[str, Any]:
    """The fields that the plan sets, without those that follow from the namespace or are told otherwise."""
    main = naming.namespace(object.owner)
    rest: dict[str, Any] = {}
    if spec.get("storageNamespace", main) != main:
        rest["storageNamespace"] = spec["storageNamespace"]
    told = {id.name for id in app.after.values()}
    names = [each["name"] for each in spec.get("dependsOn", ()) if each["name"] not in told]
    if others := [naming.short(object.owner, name) for name in names]:
        rest["dependsOn"] = others
    return {"spec": rest}


def metadata_words(object: KubeObject) -> dict[Path, Any]:
    """The labels and annotations of a Flux object that its author wrote."""
    found: dict[Path, Any] = {}
    for key, value in (("labels", own_labels(object.manifest)), ("annotations", own_annotations(object.manifest))):
        if value:
            found["metadata", key] = value
    return found


def image_words(objects: Iterable[KubeObject], app: str, naming: Naming) -> dict[Path, Any]:
    """The image automation of an app."""
    found: dict[Path, Any] = {}
    for each in objects:
        spec = renamed(each.id.kind, mapping_at(each.manifest, "spec"), lambda _, name: attached(name))
        at: Path = ("imageAutomation", "update")
        if each.id.kind != "ImageUpdateAutomation":
            name = naming.short(each.owner, each.id.name).removeprefix(f"{app}-")
            at = ("imageAutomation", "images", name, "repository" if each.id.kind == "ImageRepository" else "policy")
        for key, value in spec.items():
            if key == "secretRef":
                found[*at[:-1], "credentials"] = value["name"]
            elif key not in ("imageRepositoryRef", "policySelector", "sourceRef"):
                found[*at, key] = value
    return found


def telling(settings: dict[Path, Any]) -> dict[Path, Any]:
    """What one has to know of an app that comes or goes: without times and defaults."""
    return {path: value for path, value in settings.items() if not _is_usual(path, value)}


_SET = {"strategy", "createNamespace", "chartNameChangeStrategy"}
"""What Tenantry sets below `helm.install` and `helm.upgrade`, whoever the author is."""


def _is_usual(path: Path, value: Any) -> bool:
    if path[-1] in (*TIMES, "chartInterval"):
        return True
    if path == ("adopt",):
        return not value
    if path in (("helm", "install"), ("helm", "upgrade")):
        strategy = value.get("strategy", {}).get("name")
        in_place = value.get("chartNameChangeStrategy", IN_PLACE) == IN_PLACE
        return strategy == "RetryOnFailure" and in_place and not value.keys() - _SET
    return path in _DEFAULTS and bool(_DEFAULTS[path] == value)
