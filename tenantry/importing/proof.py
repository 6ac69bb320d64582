"""The proof: the plan of a draft, compared object by object with what was read.

Nothing that was read may be lost in silence: every object is planned, or is in the draft's `left_over`; every field that is
lost or changed is in the proof, and so in the report. What breaks this is a defect of import itself.
"""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from typing import Any, NamedTuple, TypeAlias

from tenantry.compare.fields import Entry, FieldChange, changed_fields
from tenantry.flux.conformance import completed
from tenantry.flux.schemas import kinds, schema_of
from tenantry.importing.model import Added, Became, Draft, Inventory, Path, Proof, Proven, Read
from tenantry.kube.objects import KubeObject, Manifest, ObjectId, object_id
from tenantry.kube.quantities import number_of
from tenantry.messages.data import ABSENT, mapping_at, value_at
from tenantry.messages.text import format_path
from tenantry.plan.objects.apps import KINDS
from tenantry.plan.plan import Plan

_OF_CHART = (
    "chart",
    "ignoreMissingValuesFiles",
    "interval",
    "reconcileStrategy",
    "sourceRef",
    "valuesFiles",
    "verify",
    "version",
)


def alike(read: Manifest, planned: Manifest, chart: Manifest | None) -> tuple[Manifest, Manifest]:
    """The release as it was read and as it is planned, both with a template, so that their charts can be compared.

    The planned one keeps its `chartRef`, because adoption changes that.
    """
    template = mapping_at(read, "spec", "chart")
    if not template or chart is None:
        return read, planned
    spec = mapping_at(template, "spec")
    interval = read["spec"].get("interval")
    return (
        _with_template(read, {**template, "spec": {"interval": interval, "version": "*", **spec}}),
        _with_template(planned, {**_metadata(template), "spec": _spec_of(chart)}),
    )


def _with_template(release: Manifest, template: dict[str, Any]) -> Manifest:
    return {**release, "spec": {**release["spec"], "chart": template}}


def _spec_of(chart: Manifest) -> dict[str, Any]:
    return {key: value for key, value in chart["spec"].items() if key in _OF_CHART}


def _metadata(template: dict[str, Any]) -> dict[str, Any]:
    """Labels of the generated HelmChart, which goes."""
    return {"metadata": template["metadata"]} if "metadata" in template else {}


_MARKS = re.compile(
    r"tenantry/.*|pulumi\.com/.*|app\.kubernetes\.io/managed-by|toolkit\.fluxcd\.io/(tenant|role)"
    r"|helm\.sh/resource-policy|kustomize\.toolkit\.fluxcd\.io/prune|reconcile\.fluxcd\.io/watch"
)
"""Labels and annotations that Tenantry adds to every object of a kind. They say nothing about the object's work."""
_FLUX_WRITES = re.compile(r"(kustomize|helm)\.toolkit\.fluxcd\.io/(name|namespace)|kubernetes\.io/metadata\.name")
"""Labels that say what applied the object, which the steps of the report tell, and that API servers add."""
_DURATION = re.compile(r"(?:[0-9]+(?:\.[0-9]+)?(?:ms|s|m|h))+")
_PART = re.compile(r"([0-9]+(?:\.[0-9]+)?)(ms|s|m|h)")
_SECONDS = {"ms": Decimal("0.001"), "s": Decimal(1), "m": Decimal(60), "h": Decimal(3600)}
_FREE = (("spec", "values"), ("spec", "postBuild"), ("spec", "patches"), ("spec", "postRenderers"))
"""Where a text is the author's own: there `60s` and `1m` are different."""
_QUANTITIES = {"ResourceQuota": ("spec", "hard"), "LimitRange": ("spec", "limits")}


def differences(read: Manifest, planned: Manifest) -> Iterator[FieldChange]:
    """The fields that differ in effect, without the labels and annotations that Tenantry adds to every object."""
    kind = str(planned["kind"])
    for change in changed_fields(_effective(read), _effective(planned)):
        if not (_is_mark(change) or _same(kind, change)):
            yield change


def seconds_of(duration: Any) -> Decimal | None:
    """`1m30s` in seconds; None: it is no duration."""
    if not isinstance(duration, str) or not _DURATION.fullmatch(duration):
        return None
    return sum((Decimal(number) * _SECONDS[unit] for number, unit in _PART.findall(duration)), Decimal(0))


def _effective(manifest: Manifest) -> dict[str, Any]:
    """The manifest with what an API server and Flux's controllers fill in, and without null."""
    clean = _without_null(manifest)
    metadata = dict(clean["metadata"])
    for key in ("labels", "annotations"):
        metadata[key] = {name: value for name, value in (metadata.get(key) or {}).items() if not _is_written(name)}
    kind, spec = clean["kind"], clean.get("spec")
    filled = clean
    if kind in kinds() and isinstance(spec, dict):
        spec = completed(schema_of(kind).spec, spec)
        defaults = _DEFAULTS[kind](metadata, spec) if kind in _DEFAULTS else {}
        filled = {**clean, "spec": {"suspend": False, **defaults, **spec}}
    if kind == "Namespace":
        filled = {key: value for key, value in clean.items() if key != "spec"}  # the API server's own finalizers
    if kind == "RoleBinding":
        filled = {**clean, "subjects": [_subject(each) for each in clean.get("subjects") or ()]}
    return {**filled, "metadata": metadata}


def _is_written(label: str) -> bool:
    return bool(_FLUX_WRITES.fullmatch(label))


def _without_null(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _without_null(part) for key, part in value.items() if part is not None}
    return [_without_null(each) for each in value] if isinstance(value, list) else value


def _subject(subject: dict[str, Any]) -> dict[str, Any]:
    """A subject with the group that an API server fills in. Source: kubernetes.io, RBAC, `Subject`."""
    group = "" if subject.get("kind") == "ServiceAccount" else "rbac.authorization.k8s.io"
    return {"apiGroup": group, **subject}


def _kustomization(_: dict[str, Any], spec: dict[str, Any]) -> dict[str, Any]:
    """Source: kustomize-controller, api/v1/kustomization_types.go, the Get functions."""
    interval = spec.get("interval")
    timeout = max((seconds_of(interval) or Decimal(0)) - 30, Decimal(30))
    return {
        "retryInterval": interval,
        "timeout": f"{timeout:f}s",
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


def _is_mark(change: FieldChange) -> bool:
    if change.before is not ABSENT or change.path[0] != "metadata" or len(change.path) < 3:
        return False
    return change.path[1] in ("labels", "annotations") and bool(_MARKS.fullmatch(str(change.path[2])))


def _same(kind: str, change: FieldChange) -> bool:
    """Whether both values mean the same."""
    one, other = change.before, change.after
    if change.path[:2] in _FREE:
        return False
    if kind in _QUANTITIES:
        return change.path[:2] == _QUANTITIES[kind] and number_of(one) == number_of(other) is not None
    if change.path == ("spec", "path"):
        return _directory(one) == _directory(other)
    return seconds_of(one) == seconds_of(other) is not None


def _directory(path: Any) -> str:
    """Flux keeps a path inside of the artifact, so a leading slash does not count."""
    return posixpath.normpath(f"/{path}")


class Defect(Exception):
    """Import would lose something in silence, or write an invalid file. Nothing is written."""


class Identity(NamedTuple):
    """An object wherever it is: the version of its API does not count, as API servers convert objects."""

    cluster: str
    group: str
    kind: str
    namespace: str
    name: str


def prove(inventory: Inventory, draft: Draft, plans: Mapping[str, Plan]) -> Proof:
    """Compare the plans of a draft's environments with what was read."""
    planned = _planned(plans)
    read = {_identity(inventory, each): each for each in inventory.objects}
    kept = tuple(_proven(id, each, planned) for id, each in read.items() if id in planned)
    added = tuple(Added(environment, each.id) for id, (environment, each) in planned.items() if id not in read)
    missing = tuple(each for id, each in read.items() if id not in planned)
    return Proof(kept, added, missing, (*_defects(draft, missing), *_unplanned(draft, plans)))


_Planned: TypeAlias = dict[Identity, tuple[str, KubeObject]]
"""Each planned object, and the environment that plans it."""


def _planned(plans: Mapping[str, Plan]) -> _Planned:
    return {
        _on(plan.management, each.id): (environment, each)
        for environment, plan in plans.items()
        for each in plan.objects
    }


def _identity(inventory: Inventory, read: Read) -> Identity:
    return _on(inventory.management[read.environment], object_id(read.manifest))


def _on(cluster: str, id: ObjectId) -> Identity:
    group, _, _ = id.api_version.rpartition("/")
    return Identity(cluster, group, id.kind, id.namespace, id.name)


def _proven(id: Identity, read: Read, planned: _Planned) -> Proven:
    _, object = planned[id]
    found = tuple(differences(*alike(read.manifest, object.manifest, _chart_of(id, object, planned))))
    stays = tuple(each for each in found if _stays(each))
    return Proven(read, object, tuple(each for each in found if each not in stays), stays)


def _chart_of(id: Identity, release: KubeObject, planned: _Planned) -> Manifest | None:
    """The planned HelmChart that a planned release takes."""
    reference = mapping_at(release.manifest, "spec", "chartRef")
    name = str(reference.get("name"))
    found = planned.get(
        Identity(id.cluster, "source.toolkit.fluxcd.io", str(reference.get("kind")), id.namespace, name)
    )
    return found[1].manifest if found and reference.get("kind") == "HelmChart" else None


def _stays(change: FieldChange) -> bool:
    """Whether the value remains on the object: server-side apply replaces lists, and leaves keys that it does not know.

    The version of an API is no field that an object could keep, but a plan always has one.
    """
    in_list = any(isinstance(part, int | Entry) for part in change.path)
    return change.after is ABSENT and not in_list


def _defects(draft: Draft, missing: tuple[Read, ...]) -> Iterator[str]:
    told = [each.read for each in draft.left_over if not each.field]
    for each in missing:
        if each not in told:
            yield f"{object_id(each.manifest)} ({each.origin}) is neither planned nor reported"
    for became in draft.became:
        if value_at(draft.data, became.path, ABSENT) is ABSENT:
            yield f"{object_id(became.read.manifest)} is said to be at {format_path(became.path)}, which is not written"


def _unplanned(draft: Draft, plans: Mapping[str, Plan]) -> Iterator[str]:
    """Apps that the draft has fewer times than they were read: the old ones would be removed, and nothing takes their place."""
    planned: Counter[tuple[str, Path]] = Counter(
        (environment, each.at) for environment, plan in plans.items() for each in plan.apps
    )
    read = {(each.read.environment, each.path, object_id(each.read.manifest)) for each in draft.became if _is_app(each)}
    for (environment, path), count in Counter((environment, path) for environment, path, _ in read).items():
        if count > planned[environment, path]:
            yield (
                f"{count} objects of environment '{environment}' are said to be at {format_path(path)}, which plans"
                f" {planned[environment, path]}"
            )


def _is_app(became: Became) -> bool:
    return became.read.manifest["kind"] in KINDS.values() and became.path[-2:-1] in (("apps",), ("addons",))
