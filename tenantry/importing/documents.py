"""The objects in a text of YAML documents, as their author could have written them, each with the place where it begins.

The values of Secrets are dropped at once. The bounds are those of tenants.yaml, and the parts that every later step relies on have
the types that an API server enforces.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from pydantic import TypeAdapter
from yaml.nodes import Node

from tenantry.kube.objects import Manifest, readable_id
from tenantry.kube.yaml_text import ManifestLoader
from tenantry.messages.data import value_at
from tenantry.messages.errors import InvalidFleet, Refused
from tenantry.messages.redact import shorten
from tenantry.source.compose import check_aliases, check_events
from tenantry.source.parse import decoded
from tenantry.source.parsed_file import location

MOST_BYTES = 64 * 2**20
"""The largest text that is read."""
FIX = "correct it, and import again; what is there is not in the file"
_DECRYPT = "leave it to what applies it, or move what is secret in it into a Secret"


class Document(NamedTuple):
    """An object and its origin: a file with a line, or "live"."""

    manifest: Manifest
    origin: str


# --- YAML -------------------------------------------------------------------------------------------------------------


def objects_in(raw: bytes, name: str) -> Iterator[Document]:
    """The objects in the documents of a text; those of lists one by one.

    Raises: Refused: as `documents_in`, or a document is no object.
    """
    for data, root in documents_in(raw, name):
        yield from _objects(data, root, name)


def first_document(file: Path) -> Any:
    """The data of the first document of a file. Raises: Refused."""
    with file.open("rb") as opened:
        return next((data for data, _ in documents_in(opened.read(MOST_BYTES + 1), file.name)), None)


def documents_in(raw: bytes, name: str) -> Iterator[tuple[Any, Node]]:
    """The data of each document of a text, and the node that it is made of.

    Args:   name: what the text is called in messages.
    Raises: Refused: it is not YAML, or is beyond the bounds.
    """
    if len(raw) > MOST_BYTES:
        raise Refused(f"{name}: there are more than {MOST_BYTES // 2**20} MiB", "import it in parts")
    try:
        text = decoded(raw, name)
        check_events(yaml.parse(text, Loader=ManifestLoader), name)
        for root in yaml.compose_all(text, Loader=ManifestLoader):
            check_aliases(root, name)
            yield _constructed(root, name), root
    except InvalidFleet as invalid:
        first = invalid.diagnostics[0]
        raise Refused(f"{first.location}: {first.message}", FIX) from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = f":{mark.line + 1}:{mark.column + 1}" if mark else ""
        raise Refused(f"{name}{line}: not valid YAML: {error.problem}", FIX) from None
    except yaml.YAMLError as error:
        raise Refused(f"{name}: not valid YAML: {shorten(' '.join(str(error).split()), 200)}", FIX) from None


def _constructed(root: Node, name: str) -> Any:
    loader = ManifestLoader("")
    try:
        return _with_text_keys(loader.construct_document(root))
    except ValueError as error:
        raise Refused(f"{location(name, root)}: not valid YAML: {error}", FIX) from None
    finally:
        loader.dispose()


def _with_text_keys(data: Any) -> Any:
    """Keys as JSON has them, to which Kubernetes converts what it reads."""
    if isinstance(data, dict):
        texts = ((key if isinstance(key, str) else json.dumps(key, default=str), value) for key, value in data.items())
        return {key: _with_text_keys(value) for key, value in texts}
    return [_with_text_keys(item) for item in data] if isinstance(data, list) else data


def _objects(data: Any, root: Node, name: str) -> Iterator[Document]:
    if data is None:
        return
    items = data.get("items") if isinstance(data, dict) else None
    if isinstance(items, list) and str(data.get("kind", "")).endswith("List"):
        nodes: list[Node] = next((value.value for key, value in root.value if key.value == "items"), [])
        for item, node in zip(items, nodes, strict=True):
            yield from _objects(item, node, name)
        return
    place = location(name, root)
    yield document_of(data, str(place), f"{place.file}:{place.line}")


# --- objects ----------------------------------------------------------------------------------------------------------


def document_of(data: Any, place: str, origin: str) -> Document:
    """An object as its author could have written it. Args: place: what a message calls its place. Raises: Refused: it is none."""
    if readable_id(data) is None:
        raise Refused(f"{place}: not a Kubernetes object with 'apiVersion', 'kind' and 'metadata.name'", FIX)
    if part := _malformed(data):
        raise Refused(f"{place}: '{part}' has a type that Kubernetes refuses there", FIX)
    if isinstance(data.get("sops"), dict) and data["kind"] != "Secret":
        raise Refused(f"{place}: {data['kind']} {data['metadata']['name']} is encrypted with SOPS", _DECRYPT)
    return Document(cleaned(data), origin)


_TEXTS: TypeAdapter[Any] = TypeAdapter(dict[str, str])
_TEXT_LISTS: TypeAdapter[Any] = TypeAdapter(list[dict[str, str]])
_MAPPINGS: TypeAdapter[Any] = TypeAdapter(list[dict[str, Any]])
_PARTS = {"metadata.labels": _TEXTS, "metadata.annotations": _TEXTS, "spec": TypeAdapter(dict[str, Any])}
_BINDING = {"roleRef": _TEXTS, "subjects": _TEXT_LISTS}
_PARTS_OF_KINDS = {
    "ClusterRole": {"rules": _MAPPINGS},
    "ClusterRoleBinding": _BINDING,
    "ConfigMap": {"data": _TEXTS},
    "RoleBinding": _BINDING,
    "ServiceAccount": {"imagePullSecrets": _TEXT_LISTS, "secrets": _MAPPINGS},
}
"""The types of the parts that later steps rely on."""


def _malformed(manifest: Manifest) -> str:
    """The first part of an object with a wrong type, as a path with dots; "" if there is none."""
    for path, expected in {**_PARTS, **_PARTS_OF_KINDS.get(str(manifest["kind"]), {})}.items():
        value = value_at(manifest, tuple(path.split(".")))
        if value is not None and not expected.validator.isinstance_python(value, strict=True):
            return path
    return ""


_SERVERS_OWN = (
    *("creationTimestamp", "deletionGracePeriodSeconds", "deletionTimestamp", "finalizers", "generation"),
    *("managedFields", "ownerReferences", "resourceVersion", "selfLink", "uid"),
)
_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
"""It repeats the whole object, with the values of a Secret."""


def cleaned(manifest: Manifest) -> dict[str, Any]:
    """A copy of an object as its author could have written it."""
    kept = {key: value for key, value in manifest.items() if key != "status"}
    metadata = {key: value for key, value in kept["metadata"].items() if key not in _SERVERS_OWN}
    annotations = metadata.get("annotations")
    if isinstance(annotations, dict):
        metadata["annotations"] = {key: value for key, value in annotations.items() if key != _LAST_APPLIED}
    for key in ("annotations", "labels", "namespace"):
        if not metadata.get(key, True):
            del metadata[key]
    return {**_without_values(kept), "metadata": metadata}


def _without_values(manifest: dict[str, Any]) -> dict[str, Any]:
    """A Secret keeps the names of its keys, whatever version it claims to have."""
    if manifest.get("kind") != "Secret":
        return manifest
    values = (manifest.get(key) for key in ("data", "stringData"))
    keys = sorted({str(key) for mapping in values if isinstance(mapping, Mapping) for key in mapping})
    rest = {key: value for key, value in manifest.items() if key in ("apiVersion", "kind", "metadata", "type")}
    return {**rest, "data": dict.fromkeys(keys, "")}
