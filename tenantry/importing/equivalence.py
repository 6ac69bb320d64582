"""Manifests as Kubernetes and Flux see them: with defaults, and without the difference between `60s` and `1m`."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Mapping
from typing import Any

from tenantry.facts.fields import FieldChange
from tenantry.flux.conformance import completed
from tenantry.flux.schemas import kinds, schema_of
from tenantry.kube.objects import KubeObject, Manifest, Owner
from tenantry.kube.values import number_of
from tenantry.messages.data import ABSENT, mapping_at
from tenantry.model.durations import DURATION, duration, seconds_of
from tenantry.plan.objects.scope import MARKS

_FLUX_WRITES = re.compile(r"(kustomize|helm)\.toolkit\.fluxcd\.io/(name|namespace)|kubernetes\.io/metadata\.name")
"""Labels that say what applied the object, which the steps of the report tell, and that API servers add."""
_FREE = (("spec", "values"), ("spec", "postBuild"), ("spec", "patches"), ("spec", "postRenderers"))
"""Where a text is the author's own: there `60s` and `1m` are different."""
_OF_CHART = (
    *("chart", "ignoreMissingValuesFiles", "interval", "reconcileStrategy"),
    *("sourceRef", "valuesFiles", "verify", "version"),
)
_RBAC = "rbac.authorization.k8s.io"
_QUANTITIES = {"ResourceQuota": ("spec", "hard"), "LimitRange": ("spec", "limits")}


def sides(read: Manifest, planned: Manifest, chart: Manifest | None) -> tuple[KubeObject, KubeObject]:
    """An object as it was read and as it is planned, so that they differ only where Kubernetes or Flux sees a difference.

    chart: the planned HelmChart that a planned release takes. Releases with a template of a chart are compared with that; the
    planned one keeps its `chartRef`, because adoption changes that.
    """
    template = mapping_at(read, "spec", "chart")
    if template and chart is not None:
        spec = {"interval": read["spec"].get("interval"), "version": "*", **mapping_at(template, "spec")}
        # The labels are those of the generated HelmChart, which goes.
        labels = {key: each for key, each in template.items() if key == "metadata"}
        of_chart = {key: value for key, value in chart["spec"].items() if key in _OF_CHART}
        read = {**read, "spec": {**read["spec"], "chart": {**template, "spec": spec}}}
        planned = {**planned, "spec": {**planned["spec"], "chart": {**labels, "spec": of_chart}}}
    return KubeObject(effective(read), Owner()), KubeObject(effective(planned), Owner())


def is_effective(kind: str, change: FieldChange) -> bool:
    """Whether a field differs in effect. The labels and annotations that Tenantry adds to every object do not."""
    in_metadata = change.path[0] == "metadata" and change.path[1:2] in (("labels",), ("annotations",))
    is_mark = in_metadata and len(change.path) > 2 and bool(MARKS.fullmatch(str(change.path[2])))
    return not (is_mark and change.before is ABSENT) and not _same(kind, change)


def _seconds(value: Any) -> float | None:
    """The length of a duration; None: it is none."""
    return seconds_of(value) if isinstance(value, str) and DURATION.fullmatch(value) else None


def effective(manifest: Manifest) -> dict[str, Any]:
    """The manifest with what an API server and Flux's controllers fill in, and without null."""
    clean = _without_null(manifest)
    metadata = dict(clean["metadata"])
    for key in ("labels", "annotations"):
        marks = metadata.get(key) or {}
        metadata[key] = {name: value for name, value in marks.items() if not _FLUX_WRITES.fullmatch(name)}
    kind, spec = clean["kind"], clean.get("spec")
    filled = clean
    if kind in kinds() and isinstance(spec, dict):
        filled = {**clean, "spec": effective_spec(clean)}
    if kind == "Namespace":
        filled = {key: value for key, value in clean.items() if key != "spec"}  # the API server's own finalizers
    if kind == "RoleBinding":  # the group that an API server fills in; source: kubernetes.io, RBAC, `Subject`
        groups = {"ServiceAccount": "", "User": _RBAC, "Group": _RBAC}
        subjects = [{"apiGroup": groups.get(subject.get("kind")), **subject} for subject in clean.get("subjects") or ()]
        filled = {**clean, "subjects": subjects}
    return {**filled, "metadata": metadata}


def effective_spec(manifest: Manifest) -> dict[str, Any]:
    """The spec of an object of Flux, with what an API server and Flux's controllers take for the fields that it does not set."""
    kind = manifest["kind"]
    spec = completed(schema_of(kind).spec, manifest["spec"])
    defaults = _DEFAULTS[kind](manifest["metadata"], spec) if kind in _DEFAULTS else {}
    return {"suspend": False, **defaults, **spec}


NAMESPACES_OF_SOURCES = (("spec", "sourceRef", "namespace"), ("spec", "chartRef", "namespace"))
"""The namespace of an app's source. An apply of a reference without one leaves it, and it says where Flux looks."""


def _without_null(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _without_null(part) for key, part in value.items() if part is not None}
    return [_without_null(item) for item in value] if isinstance(value, list) else value


def _kustomization(_: dict[str, Any], spec: dict[str, Any]) -> dict[str, Any]:
    """Source: kustomize-controller, api/v1/kustomization_types.go, the Get functions."""
    interval = spec.get("interval")
    return {
        "retryInterval": interval,
        "timeout": duration(max((_seconds(interval) or 0) - 30, 30)),
        "path": "./",
        "wait": False,
        "deletionPolicy": "MirrorPrune",
    }


def _helm_release(metadata: dict[str, Any], spec: dict[str, Any]) -> dict[str, Any]:
    """Source: helm-controller, api/v2/helmrelease_types.go, the Get functions."""
    namespace, target = metadata.get("namespace"), spec.get("targetNamespace")
    return {
        "releaseName": f"{target}-{metadata['name']}" if target else metadata["name"],
        "targetNamespace": namespace,
        "storageNamespace": namespace,
        "timeout": "5m",
        "maxHistory": 5,
    }


_DEFAULTS: Mapping[str, Callable[[dict[str, Any], dict[str, Any]], dict[str, Any]]] = {
    "Kustomization": _kustomization,
    "HelmRelease": _helm_release,
    "GitRepository": lambda *_: {"ref": {"branch": "master"}, "provider": "generic"},
    "OCIRepository": lambda *_: {"ref": {"tag": "latest"}},
    "HelmRepository": lambda *_: {"interval": "1m", "timeout": "1m", "type": "default"},
}
"""What Flux's controllers take for fields that are not set, beyond the defaults of the schemas."""


def _same(kind: str, change: FieldChange) -> bool:
    """Whether both values mean the same."""
    before, after = change.before, change.after
    if change.path[:2] in _FREE:
        return False
    if kind in _QUANTITIES:
        return change.path[:2] == _QUANTITIES[kind] and number_of(before) == number_of(after) is not None
    if change.path == ("spec", "path"):
        # Flux keeps a path inside of the artifact, so a leading slash does not count.
        return posixpath.normpath(f"/{before}") == posixpath.normpath(f"/{after}")
    return _seconds(before) == _seconds(after) is not None
