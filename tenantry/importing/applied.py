"""What a Kustomization applies of a source at hand, as Flux would: built by kustomize, with its variables filled in."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from tenantry.importing.checkouts import Checkout
from tenantry.importing.documents import Placed, placed
from tenantry.importing.kustomize import directory_in
from tenantry.importing.model import Key
from tenantry.importing.programs import NotBuilt
from tenantry.importing.variables import substituted, unset
from tenantry.kube.objects import Manifest
from tenantry.messages.data import mapping_at, mappings_in
from tenantry.messages.errors import Refused

Build = Callable[[Path, Path, Mapping[str, Any]], bytes]
"""Builds a directory as a Kustomization's spec says; takes the source, the directory, the spec. Raises: NotBuilt."""
READ_TOO = "read it, too"
"""How a fix begins that names a line for one more object."""
_ORIGIN = "config.kubernetes.io/origin"
_FIX = "correct it, or leave it: the Kustomization stays what applies its objects"


class NotKnown(NotBuilt):
    """Variables come, or can come, from an object whose values are not read."""

    def __init__(self, holder: str) -> None:
        super().__init__(f"its variables can come from {holder}, which is not read")
        self.holder = holder


def is_applied(manifest: Mapping[str, Any]) -> bool:
    """Whether Flux applies an object of a source: notes on it can say otherwise."""
    metadata = mapping_at(manifest, "metadata")
    notes = {**mapping_at(metadata, "labels"), **mapping_at(metadata, "annotations")}
    return bool(manifest) and not any(str(notes.get(key)).lower() == value for key, value in _NOT_APPLIED)


_NOT_APPLIED = (
    ("kustomize.toolkit.fluxcd.io/reconcile", "disabled"),
    ("kustomize.toolkit.fluxcd.io/ssa", "ignore"),
    ("fluxcd.controlplane.io/reconcile", "disabled"),
)


def _called(manifest: Mapping[str, Any]) -> str:
    """What a message calls an object that may be none."""
    return " ".join(str(each) for each in (manifest.get("kind"), mapping_at(manifest, "metadata").get("name")) if each)


class Applied(NamedTuple):
    """What a Kustomization applies."""

    directory: str
    objects: list[Placed]


def applied_by(
    manifest: Manifest, checkout: Checkout, known: Mapping[Key, Placed], build: Build, environment: str
) -> Applied | tuple[str, str]:
    """What a Kustomization applies, or why that is not known and what to do.

    Args: checkout: its source. known: the objects of the environment, of which some can hold its variables.
    """
    spec = manifest["spec"]
    try:
        directory = directory_in(checkout.root, str(spec.get("path") or "."))
        if directory.resolve() != directory:
            raise NotBuilt(f"path '{spec.get('path')}' is a link, which Flux does not take")
        shown = checkout.shows(directory)
        built = build(checkout.root, directory, spec)
        objects = with_metadata(_substituted(built, manifest, known), spec)
    except NotKnown as unknown:
        return str(unknown), _way_to(unknown.holder, manifest, environment)
    except NotBuilt as failed:
        return str(failed), _FIX
    except Refused:  # nothing can be built here
        raise
    except Exception as unexpected:  # whatever a source contains costs what applies it
        return _unreadable(unexpected), _FIX
    try:
        applied = (each for each in objects if is_applied(each))
        found = [placed(each, f"{shown}: {_called(each)}".removesuffix(": "), shown) for each in applied]
        return Applied(shown, [read_origin(each, shown) for each in found])
    except Refused as refused:
        return refused.message, refused.fix


def with_metadata(objects: Iterable[Mapping[str, Any]], spec: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
    """`commonMetadata` of a Kustomization on every object, as the controller sets it."""
    common = spec.get("commonMetadata") or {}
    found = []
    for each in objects:
        metadata = dict(each.get("metadata") or {})
        for key in ("labels", "annotations"):
            if common.get(key):
                metadata[key] = {**(metadata.get(key) or {}), **common[key]}
        found.append({**each, "metadata": metadata} if common else each)
    return tuple(found)


def _unreadable(found: Exception) -> str:
    """What is told of content that no step expects, without the content."""
    if isinstance(found, RecursionError):
        return "its directories or its YAML are nested too deeply"
    if isinstance(found, OSError):
        return f"its files cannot be used: {found.strerror or type(found).__name__}"
    return f"its content has a form that is not known here ({type(found).__name__})"


def _way_to(holder: str, kustomization: Manifest, environment: str) -> str:
    """How an object with variables can be read."""
    kind, _, name = holder.partition(" ")
    if kind != "ConfigMap":
        return "leave it: the Kustomization stays what applies its objects"
    namespace = shlex.quote(str(kustomization["metadata"].get("namespace")))
    file = shlex.quote(f"{environment}-{name}.yaml")
    get = f"kubectl get configmap {shlex.quote(name)} --namespace {namespace} --output yaml > {file}"
    return f"{READ_TOO}: run `{get}`, and add `-e {environment}={file}`"


def _substituted(built: bytes, kustomization: Manifest, known: Mapping[Key, Placed]) -> Iterable[Mapping[str, Any]]:
    """The objects with the values of their variables. Raises: NotBuilt: a value is not known here."""
    post_build = mapping_at(kustomization, "spec", "postBuild")
    values: dict[str, str] = {}
    hidden: dict[str, str] = {}
    unknown = ""
    for each in mappings_in(post_build.get("substituteFrom")):
        name = f"{each.get('kind')} {each.get('name')}"
        if holder := variables_at(kustomization, each, known):
            data = mapping_at(holder.manifest, "data")
            if each.get("kind") == "ConfigMap":
                values |= data
                hidden = {key: of for key, of in hidden.items() if key not in data}
            else:
                values = {key: value for key, value in values.items() if key not in data}
                hidden |= dict.fromkeys(data, name)
        else:  # it may hold any name, and then wins over those before it
            values, unknown = {}, name
    for key, value in mapping_at(post_build, "substitute").items():
        values[key] = str(value)
        hidden.pop(key, None)
    text = built.decode(errors="replace")
    always = post_build.get("substituteStrategy") == "Always"
    if not values and not hidden and not unknown and not always:
        return substituted(text, {})
    for variable, default in unset(text, values).items():
        if holder_name := hidden.get(variable) or unknown:
            raise NotKnown(holder_name)
        if not default:  # Flux 2.9 refuses it, and no Kustomization that works has one; older ones take an empty text
            values[variable] = ""
    return substituted(text, values, always=always)


def variables_at(kustomization: Manifest, reference: Mapping[str, Any], known: Mapping[Key, Placed]) -> Placed | None:
    """The object that a Kustomization takes variables from, if it is known."""
    namespace = str(kustomization["metadata"].get("namespace") or "")
    return known.get(Key("", str(reference.get("kind")), namespace, str(reference.get("name"))))


def read_origin(found: Placed, directory: str) -> Placed:
    """An object that kustomize built, with the file that it says the object comes from."""
    metadata = found.manifest["metadata"]
    notes = dict(metadata.get("annotations") or {})
    said = notes.pop(_ORIGIN, None)
    if said is None:
        return found
    rest = {key: each for key, each in metadata.items() if key != "annotations"}
    manifest = {**found.manifest, "metadata": {**rest, **({"annotations": notes} if notes else {})}}
    fields = dict(line.partition(": ")[::2] for line in str(said).splitlines())
    path = fields.get("path", "")
    origin = os.path.normpath(os.path.join(directory, path)) if path and "repo" not in fields else directory  # noqa: PTH118
    return Placed(manifest, origin)
