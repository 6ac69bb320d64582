"""The objects in a text of YAML documents, with their places. The bounds are those of tenants.yaml."""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator
from typing import Any, NamedTuple

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode

from tenantry.importing.readers.clean import cleaned
from tenantry.importing.readers.shape import misshapen
from tenantry.kube.objects import Manifest, readable_id
from tenantry.kube.yaml_text import ManifestLoader
from tenantry.messages.errors import InvalidFleet, Refused
from tenantry.messages.redact import shorten
from tenantry.source.bounds import check_aliases, check_events
from tenantry.source.parsed_file import location

MOST_BYTES = 64 * 2**20
"""The largest text that is read."""

_FIX = "correct it, or name another source"


class Placed(NamedTuple):
    """An object and the place where it begins."""

    manifest: Manifest
    origin: str


def objects_in(raw: bytes, name: str) -> Iterator[Placed]:
    """The objects in the documents of a text; those of lists one by one.

    Args:   name: what the text is called in messages.
    Raises: Refused: it is not YAML, is beyond the bounds, or holds a document that is no object.
    """
    text = _decoded(raw, name)
    try:
        check_events(yaml.parse(text, Loader=ManifestLoader), name)
        for root in yaml.compose_all(text, Loader=ManifestLoader):
            check_aliases(root, name)
            yield from _objects(_constructed(root, name), root, name)
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
    if readable_id(data) is None:
        raise Refused(f"{place}: not a Kubernetes object with 'apiVersion', 'kind' and 'metadata.name'", _FIX)
    if part := misshapen(data):
        raise Refused(f"{place}: '{part}' has a type that Kubernetes refuses there", _FIX)
    yield Placed(cleaned(data), f"{place.file}:{place.line}")
