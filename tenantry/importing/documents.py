"""The objects in a text of YAML documents, as their author could have written them, each with the place where it begins.

The values of Secrets are dropped at once. The bounds are those of tenants.yaml, and the parts that every later step relies on have
the types that an API server enforces.
"""

from __future__ import annotations

import codecs
import json
import posixpath
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode

from tenantry.kube.objects import Manifest, readable_id
from tenantry.kube.yaml_text import ManifestLoader
from tenantry.messages.errors import InvalidFleet, Refused
from tenantry.messages.redact import shorten
from tenantry.source.bounds import check_aliases, check_events
from tenantry.source.parsed_file import location

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
    notes = metadata.get("annotations")
    if isinstance(notes, dict):
        metadata["annotations"] = {key: value for key, value in notes.items() if key != _LAST_APPLIED}
    for key in ("annotations", "labels", "namespace"):
        if not metadata.get(key, True):
            del metadata[key]
    return {**_without_values(_within_source(kept)), "metadata": metadata}


def _within_source(manifest: dict[str, Any]) -> dict[str, Any]:
    """The path of a Kustomization without `..`, which leads no further than to the root of the source."""
    spec = manifest.get("spec")
    path = spec.get("path") if isinstance(spec, dict) else None
    if manifest.get("kind") != "Kustomization" or not isinstance(path, str) or ".." not in path.split("/"):
        return manifest
    return {**manifest, "spec": {**manifest["spec"], "path": f".{posixpath.normpath('/' + path.lstrip('/'))}"}}


def _without_values(manifest: dict[str, Any]) -> dict[str, Any]:
    """A Secret keeps the names of its keys, whatever version it claims to have."""
    if manifest.get("kind") != "Secret":
        return manifest
    values = (manifest.get(key) for key in ("data", "stringData"))
    keys = sorted({str(key) for each in values if isinstance(each, Mapping) for key in each})
    rest = {key: value for key, value in manifest.items() if key in ("apiVersion", "kind", "metadata", "type")}
    return {**rest, "data": dict.fromkeys(keys, "")}


_Check = Callable[[Any], bool]


def misshapen(manifest: Manifest) -> str:
    """The first part of an object with a wrong type, as a path with dots; "" if there is none."""
    return next((path for path, check, value in _parts(manifest) if value is not None and not check(value)), "")


def _parts(manifest: Manifest) -> Iterator[tuple[str, _Check, Any]]:
    metadata = manifest["metadata"]
    yield "metadata.labels", _texts, metadata.get("labels")
    yield "metadata.annotations", _texts, metadata.get("annotations")
    for key, check in {"spec": _mapping, **_OF_KINDS.get(str(manifest["kind"]), {})}.items():
        yield key, check, manifest.get(key)


def _mapping(value: Any) -> bool:
    return isinstance(value, dict)


def _texts(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(each, str) for each in value.values())


def _mappings(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, dict) for each in value)


def _role(value: Any) -> bool:
    return _texts(value) and isinstance(value.get("name"), str)


def _subjects(value: Any) -> bool:
    return isinstance(value, list) and all(_role(each) for each in value)


_OF_KINDS: dict[str, dict[str, _Check]] = {
    "ClusterRole": {"rules": _mappings},
    "ClusterRoleBinding": {"roleRef": _role, "subjects": _subjects},
    "ConfigMap": {"data": _texts},
    "RoleBinding": {"roleRef": _role, "subjects": _subjects},
    "ServiceAccount": {"imagePullSecrets": _subjects, "secrets": _mappings},
}
MOST_BYTES = 64 * 2**20
"""The largest text that is read."""
_FIX = "correct it, or name another source"
_DECRYPT = "leave it to what applies it, or move what is secret in it into a Secret"


class Placed(NamedTuple):
    """An object and the place where it begins."""

    manifest: Manifest
    origin: str


def objects_in(raw: bytes, name: str) -> Iterator[Placed]:
    """The objects in the documents of a text; those of lists one by one.

    Raises: Refused: as `documents_in`, or a document is no object.
    """
    for data, root in documents_in(raw, name):
        yield from _objects(data, root, name)


def documents_in(raw: bytes, name: str) -> Iterator[tuple[Any, Node]]:
    """The data of each document of a text, and the node that it is made of.

    Args:   name: what the text is called in messages.
    Raises: Refused: it is not YAML, is beyond the bounds, or has a key twice.
    """
    text = _decoded(raw, name)
    try:
        check_events(yaml.parse(text, Loader=ManifestLoader), name)
        for root in yaml.compose_all(text, Loader=ManifestLoader):
            check_aliases(root, name)
            yield _constructed(root, name), root
    except InvalidFleet as invalid:
        first = invalid.diagnostics[0]
        raise Refused(f"{first.location}: {first.message}", _FIX) from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = f":{mark.line + 1}:{mark.column + 1}" if mark else ""
        raise Refused(f"{name}{line}: not valid YAML: {error.problem}", _FIX) from None
    except yaml.YAMLError as error:
        raise Refused(f"{name}: not valid YAML: {shorten(' '.join(str(error).split()), 200)}", _FIX) from None


def _decoded(raw: bytes, name: str) -> str:
    if len(raw) > MOST_BYTES:
        raise Refused(f"{name}: there are more than {MOST_BYTES // 2**20} MiB", "import it in parts")
    try:
        return raw.removeprefix(codecs.BOM_UTF8).decode()
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise Refused(f"{name}:{line}: byte 0x{raw[error.start]:02x} is not UTF-8", "save it as UTF-8") from None


def _constructed(root: Node, name: str) -> Any:
    _refuse_doubled_keys(root, name)
    loader = ManifestLoader("")
    try:
        return _with_texts_as_keys(loader.construct_document(root))
    except ValueError as error:
        raise Refused(f"{location(name, root)}: not valid YAML: {error}", _FIX) from None
    finally:
        loader.dispose()


def _with_texts_as_keys(data: Any) -> Any:
    """Keys as JSON has them, to which Kubernetes converts what it reads."""
    if isinstance(data, dict):
        return {_key(key): _with_texts_as_keys(each) for key, each in data.items()}
    return [_with_texts_as_keys(each) for each in data] if isinstance(data, list) else data


def _key(key: Any) -> str:
    return key if isinstance(key, str) else json.dumps(key, default=str)


def _refuse_doubled_keys(root: Node, name: str) -> None:
    """Kubernetes refuses them, and readers disagree about which of the two counts."""
    seen: set[int] = set()
    open = [root]
    while open:
        node = open.pop()
        if id(node) in seen or isinstance(node, ScalarNode):
            continue
        seen.add(id(node))
        if not isinstance(node, MappingNode):
            open += node.value
            continue
        keys: set[str] = set()
        for key, value in node.value:
            if isinstance(key, ScalarNode) and key.value != "<<" and key.value in keys:
                raise Refused(f"{location(name, key)}: key '{shorten(key.value)}' is set twice in one mapping", _FIX)
            keys.add(str(key.value))
            open.append(value)


def _objects(data: Any, root: Node, name: str) -> Iterator[Placed]:
    if data is None:
        return
    items = data.get("items") if isinstance(data, dict) else None
    if isinstance(items, list) and str(data.get("kind", "")).endswith("List"):
        nodes: list[Node] = next((value.value for key, value in root.value if key.value == "items"), [])
        for each, node in zip(items, nodes, strict=True):
            yield from _objects(each, node, name)
        return
    place = location(name, root)
    yield placed(data, str(place), f"{place.file}:{place.line}")


def placed(data: Any, place: str, origin: str) -> Placed:
    """An object as its author could have written it. Args: place: what a message calls its place. Raises: Refused: it is none."""
    if readable_id(data) is None:
        raise Refused(f"{place}: not a Kubernetes object with 'apiVersion', 'kind' and 'metadata.name'", _FIX)
    if part := misshapen(data):
        raise Refused(f"{place}: '{part}' has a type that Kubernetes refuses there", _FIX)
    if isinstance(data.get("sops"), dict) and data["kind"] != "Secret":
        raise Refused(f"{place}: {data['kind']} {data['metadata']['name']} is encrypted with SOPS", _DECRYPT)
    return Placed(cleaned(data), origin)
