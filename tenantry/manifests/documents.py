"""Manifests as text: read and written as Kubernetes' own YAML library does, and `${NAME}` replaced as Flux does after a build.

Source: fluxcd/pkg/envsubst.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

from tenantry.kube.objects import labels_of
from tenantry.kube.yaml_text import ManifestLoader
from tenantry.manifests.model import NotRendered, Rendered
from tenantry.messages.errors import InvalidFleet
from tenantry.source.bounds import check_aliases

MOST_BYTES = 32 * 2**20
"""The largest file of a source that is read here."""
_MOST_VALUES = 1_000_000
_MOST_DEPTH = 200
_TOO_LARGE = f"its YAML has more than {_MOST_VALUES} keys and values, or is nested too deeply"
_DUMPER: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


def read(text: str | bytes) -> Any:
    """The first document. Raises: NotRendered."""
    return next(iter(read_all(text)), None)


def read_file(file: Path) -> Any:
    """The first document of a file of a source. Raises: NotRendered."""
    if file.stat().st_size > MOST_BYTES:
        raise NotRendered(f"{file.name} is larger than {MOST_BYTES // 2**20} MiB")
    return read(file.read_bytes())


def read_all(text: str | bytes) -> list[Any]:
    """All documents. Raises: NotRendered: they cannot be read, are too large, or aliases make them too large."""
    try:
        documents = list(_loaded(text))
    except (yaml.YAMLError, ValueError, RecursionError) as wrong:
        raise NotRendered(f"its YAML cannot be read: {' '.join(str(wrong).split())}") from None
    except InvalidFleet:
        raise NotRendered(_TOO_LARGE) from None
    _check(documents)
    return documents


def _loaded(text: str | bytes) -> Iterable[Any]:
    loader = _BoundedLoader(text)
    try:
        while loader.check_data():
            yield loader.get_data()
    finally:
        loader.dispose()


class _BoundedLoader(ManifestLoader):
    """Stops before it spends memory on too much: libyaml would end the whole process where values are nested very deeply, and a few
    merge keys can stand for billions of values. The parser calls the first two methods for each node but aliases.
    """

    def __init__(self, text: str | bytes) -> None:
        super().__init__(text)
        self._left = _MOST_VALUES
        self._depth = 0

    def descend_resolver(self, *_: object) -> None:
        self._left -= 1
        self._depth += 1
        if self._left < 0 or self._depth > _MOST_DEPTH:
            raise NotRendered(_TOO_LARGE)

    def ascend_resolver(self) -> None:
        self._depth -= 1

    def construct_document(self, node: yaml.Node) -> Any:
        check_aliases(node, "")
        return super().construct_document(node)


def write(data: Any) -> str:
    return str(yaml.dump(data, Dumper=_DUMPER, sort_keys=False, allow_unicode=True))


def write_all(documents: Iterable[Any]) -> str:
    return str(yaml.dump_all(documents, Dumper=_DUMPER, sort_keys=False, allow_unicode=True))


def objects_of(documents: Iterable[Any]) -> list[Mapping[str, Any]]:
    """The objects in documents: those of lists one by one, and no empty documents. Raises: NotRendered: it is no object."""
    found: list[Mapping[str, Any]] = []
    for document in documents:
        if document is None:
            continue
        if not isinstance(document, dict):
            raise NotRendered("it yields YAML that is not a Kubernetes object")
        items = document.get("items")
        if isinstance(items, list) and str(document.get("kind", "")).endswith("List"):
            found += objects_of(items)
        else:
            found.append(document)
    return found


def _check(data: Any) -> None:
    """Count values as if aliases were written out."""
    count = 0
    open: list[tuple[Any, int]] = [(data, 0)]
    while open:
        value, depth = open.pop()
        count += 1
        if count > _MOST_VALUES or depth > _MOST_DEPTH:
            raise NotRendered(_TOO_LARGE)
        if isinstance(value, dict):
            open += [(each, depth + 1) for each in value.values()]
        elif isinstance(value, list):
            open += [(each, depth + 1) for each in value]


def with_metadata(objects: Iterable[Mapping[str, Any]], spec: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
    """`commonMetadata` of a Kustomization or a release on every object, as the controllers set it."""
    common = spec.get("commonMetadata") or {}
    found = []
    for each in objects:
        metadata = dict(each.get("metadata") or {})
        for key in ("labels", "annotations"):
            if common.get(key):
                metadata[key] = {**(metadata.get(key) or {}), **common[key]}
        found.append({**each, "metadata": metadata} if common else each)
    return tuple(found)


_DISABLED = "kustomize.toolkit.fluxcd.io/substitute"
_BETWEEN = re.compile(r"^---\n", re.MULTILINE)
_USE = re.compile(
    r"\$(?P<escaped>\$)|\$\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?:(?P<operator>:?[-=])(?P<default>[^}]*))?\}"
)


def substituted(built: str, post_build: Mapping[str, Any]) -> Rendered:
    """The objects of a build, with the values of `substitute`.

    Values of ConfigMaps and Secrets are unknown here, so uses of them stay as they are. Raises: NotRendered: a variable has
    no value, which Flux refuses.
    """
    values = {name: str(value).replace("\n", "") for name, value in (post_build.get("substitute") or {}).items()}
    unknown = [f"{each['kind']} '{each['name']}'" for each in post_build.get("substituteFrom") or ()]
    always = post_build.get("substituteStrategy") == "Always"
    notes = [f"values of {each} are unknown here: what it sets is shown as ${{NAME}}" for each in unknown]
    objects: list[Mapping[str, Any]] = []
    for text in _BETWEEN.split(built):
        if "$" in text and (values or unknown or always) and not _is_disabled(text):
            objects += _objects(_replaced(text, values, known=not unknown))
        else:
            objects += _objects(text)
    return Rendered(tuple(objects), tuple(notes))


def unset(built: str, values: Mapping[str, str]) -> dict[str, bool]:
    """The variables in a build that have none of these values, and whether each has a default wherever it is used."""
    names: dict[str, bool] = {}
    for found in _USE.finditer(built, 0, built.rfind("}") + 1):
        if not found["escaped"] and found["name"] not in values:
            names[found["name"]] = names.get(found["name"], True) and found["default"] is not None
    return names


@functools.lru_cache(maxsize=4_000)
def _objects(text: str) -> tuple[Mapping[str, Any], ...]:
    """Read once what is the same on many clusters."""
    return tuple(objects_of(read_all(text)))


def _is_disabled(text: str) -> bool:
    return _DISABLED in text and any(map(_says_so, _objects(text)))


def _says_so(manifest: Mapping[str, Any]) -> bool:
    annotations = (manifest.get("metadata") or {}).get("annotations") or {}
    return "disabled" in (labels_of(manifest).get(_DISABLED), annotations.get(_DISABLED))


def _replaced(text: str, values: Mapping[str, str], *, known: bool) -> str:
    room = MOST_BYTES

    def value(found: re.Match[str]) -> str:
        nonlocal room
        filled = one(found)
        room -= len(filled)
        if room < 0:
            raise NotRendered(f"its variables become more than {MOST_BYTES // 2**20} MiB")
        return filled

    def one(found: re.Match[str]) -> str:
        if found["escaped"]:
            return "$"
        name, default = found["name"], found["default"]
        if name in values and (values[name] or ":" not in (found["operator"] or "")):
            return values[name]
        if not known:
            return found[0]
        if default is not None:
            return default
        raise NotRendered(f"variable '{name}' has no value; Flux refuses it")

    # Behind the last brace nothing ends, and looking for an end from each `${` would take hours.
    end = text.rfind("}") + 1
    return _USE.sub(value, text[:end]) + text[end:].replace("$$", "$")
