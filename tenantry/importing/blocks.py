"""Flux's objects as Kubernetes and Flux see them, and backward to the blocks of the file: an app's, and the source of it.

With defaults, and without the difference between `60s` and `1m`. What Flux would do without a field is written out where Tenantry
differs. A release that is installed stays the same one.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeVar, cast

from pydantic_core import ValidationError

from tenantry.facts.objects import FieldChange
from tenantry.fleet.settings import TIMES
from tenantry.flux.conformance import completed
from tenantry.flux.references import references
from tenantry.flux.schemas import kinds, schema_of
from tenantry.importing.resources import Resource, World
from tenantry.kube.objects import KubeObject, Manifest, Owner
from tenantry.kube.values import number_of
from tenantry.messages.data import ABSENT, mapping_at, with_texts, without
from tenantry.messages.placeholders import escaped
from tenantry.model.durations import DURATION, duration, seconds_of
from tenantry.model.flux import FluxBlock
from tenantry.model.sources import SOURCE_KINDS
from tenantry.model.strict import FILLED
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


def short_time(text: str) -> str:
    """A duration as people write it, such as `1m` for `1m0s`."""
    seconds = _seconds(text)
    return duration(seconds) if seconds and seconds.is_integer() else text


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


_Data = TypeVar("_Data")


def literal(value: _Data) -> _Data:
    """Plain data whose texts mean themselves, although the file knows placeholders."""
    return cast("_Data", with_texts(value, escaped))


# --- what the plan says anyway ----------------------------------------------------------------------------------------


Block = dict[str, Any]
Planned = Callable[[Block], Mapping[str, Any]]
"""What the plan makes of a block. Raises: ValidationError: the model refuses the block."""


def smallest(block: Block, planned: Planned) -> Block:
    """The block without the values that the plan gives to a block that leaves them out."""
    try:
        wanted = planned(block)
    except ValidationError:
        return block  # it is left out with the model's own message
    return _smaller(block, planned, wanted, is_part=False)


def _smaller(block: Block, planned: Planned, wanted: Mapping[str, Any], *, is_part: bool) -> Block:
    """planned: of the whole block, given this part of it."""
    kept = dict(block)
    for key, value in block.items():
        others = {name: other for name, other in kept.items() if name != key}
        try:
            missing = planned(others)
        except ValidationError:
            continue
        if missing == wanted:
            kept = others
        elif not is_part and isinstance(value, dict) and isinstance(missing.get(key), dict):
            # The plan completes the mapping, as it does with the actions of a release.
            whole = partial(lambda key, kept, part: planned({**kept, key: part}), key, dict(kept))
            kept[key] = _smaller(value, whole, wanted, is_part=True)
    return kept


def as_model(model: type[FluxBlock]) -> Planned:
    """What the plan makes of a block that it takes over with the model's defaults."""

    def planned(block: Block) -> Mapping[str, Any]:
        spec = model.model_validate(block, context=FILLED).model_dump(exclude_none=True)
        return effective_spec({"kind": model.flux_kind, "metadata": {"name": ""}, "spec": spec})

    return planned


def authors_part(resource: Resource, model: type[FluxBlock], named: Named) -> Block:
    """The spec of a resource without what the fleet sets itself, which the comparison with the plan reports."""
    spec = {key: value for key, value in resource.spec.items() if (resource.kind, key) != ("HelmRelease", "chart")}
    for path in model.owned:
        parts = tuple(path.split("."))
        spec = without(spec, [parts])
        if spec.get(parts[0]) == {}:
            del spec[parts[0]]
    for reference in references(resource.kind, spec):
        named.declare(resource, reference.kind, reference.name)
    return {key: short_time(value) if key in TIMES and isinstance(value, str) else value for key, value in spec.items()}


class Named:
    """The Secrets and ConfigMaps that the objects of one owner name in one place.

    holders: each, by its group in the file and its name; None: it was not read.
    """

    def __init__(self, world: World, configs: str, secrets: str) -> None:
        """configs, secrets: the prefixes of the names that Tenantry gives them there."""
        self._world = world
        self._prefixes = {"ConfigMap": configs, "Secret": secrets}
        self.holders: dict[tuple[str, str], Resource | None] = {}

    def declare(self, resource: Resource, kind: str, name: str) -> str:
        """Declare a Secret or ConfigMap that an object names. Returns: its name."""
        group = "credentials" if kind == "Secret" else "configs"
        self.holders.setdefault((group, name), self._world.get(kind, resource.namespace, name))
        if prefix := self._prefixes[kind]:
            text = f"{kind} {resource.namespace}/{name} will be read as {prefix}{name}"
            resource.leave(text, f"copy {kind} {name} in namespace {resource.namespace} to {prefix}{name}", "spec")
        return name

    def credentials_of(self, resource: Resource) -> dict[str, str]:
        """`credentials` of what an object is made of, if it names a Secret."""
        secret = mapping_at(resource.spec, "secretRef").get("name")
        return {"credentials": self.declare(resource, "Secret", str(secret))} if secret else {}


# --- charts and sources -----------------------------------------------------------------------------------------------


def chart_of(world: World, release: Resource) -> tuple[dict[str, Any], dict[str, Any]]:
    """What a release takes: the spec of its chart, and the reference to the chart's source. Both may be empty."""
    if template := mapping_at(release.spec, "chart", "spec"):
        return template, mapping_at(template, "sourceRef")
    reference = mapping_at(release.spec, "chartRef")
    if reference.get("kind") != "HelmChart":
        return {}, reference
    namespace = str(reference.get("namespace") or release.namespace)
    chart = world.get("HelmChart", namespace, str(reference.get("name")))
    return (chart.spec, {**mapping_at(chart.spec, "sourceRef"), "namespace": namespace}) if chart else ({}, {})


def source_of(world: World, app: Resource) -> Resource | None:
    """The source of an app, if it was read."""
    reference = chart_of(world, app)[1] if app.kind == "HelmRelease" else mapping_at(app.spec, "sourceRef")
    kind, name = str(reference.get("kind")), str(reference.get("name"))
    return world.known(kind, str(reference.get("namespace") or app.namespace), name) if kind in KEYS else None


KEYS = {model.flux_kind: key for key, model in SOURCE_KINDS.items()}
"""The key of a source by its kind."""


def source_entry(source: Resource, named: Named) -> dict[str, Any]:
    """The entry of a source, with the credentials that it names."""
    key = KEYS[source.kind]
    model = SOURCE_KINDS[key]
    spec = authors_part(source, model, named)
    if not spec.get("ref") and (ref := effective_spec(source.manifest).get("ref")):
        spec["ref"] = ref
    entry: Block = {key: literal(smallest(spec, as_model(model)))}
    entry |= named.credentials_of(source)
    return {**entry, **({"metadata": literal(source.metadata)} if source.metadata else {})}
