"""Manifests as text: read and written as Kubernetes' own YAML library does, within bounds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

from tenantry.importing.programs import NotBuilt
from tenantry.kube.yaml_text import ManifestLoader
from tenantry.messages.errors import InvalidFleet
from tenantry.source.bounds import check_aliases

MOST_BYTES = 32 * 2**20
"""The largest file of a source that is read here."""
_MOST_VALUES = 1_000_000
_MOST_DEPTH = 200
_TOO_LARGE = f"its YAML has more than {_MOST_VALUES} keys and values, or is nested too deeply"
_DUMPER: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


def read(text: str | bytes) -> Any:
    """The first document. Raises: NotBuilt."""
    return next(iter(read_all(text)), None)


def read_file(file: Path) -> Any:
    """The first document of a file of a source. Raises: NotBuilt."""
    if file.stat().st_size > MOST_BYTES:
        raise NotBuilt(f"{file.name} is larger than {MOST_BYTES // 2**20} MiB")
    return read(file.read_bytes())


def read_all(text: str | bytes) -> list[Any]:
    """All documents. Raises: NotBuilt: they cannot be read, are too large, or aliases make them too large."""
    try:
        documents = list(_loaded(text))
    except (yaml.YAMLError, ValueError, RecursionError) as wrong:
        raise NotBuilt(f"its YAML cannot be read: {' '.join(str(wrong).split())}") from None
    except InvalidFleet:
        raise NotBuilt(_TOO_LARGE) from None
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
            raise NotBuilt(_TOO_LARGE)

    def ascend_resolver(self) -> None:
        self._depth -= 1

    def construct_document(self, node: yaml.Node) -> Any:
        check_aliases(node, "")
        return super().construct_document(node)


def write(data: Any) -> str:
    return str(yaml.dump(data, Dumper=_DUMPER, sort_keys=False, allow_unicode=True))


def objects_of(documents: Iterable[Any]) -> list[Mapping[str, Any]]:
    """The objects in documents: those of lists one by one, and no empty documents. Raises: NotBuilt: it is no object."""
    found: list[Mapping[str, Any]] = []
    for document in documents:
        if document is None:
            continue
        if not isinstance(document, dict):
            raise NotBuilt("it yields YAML that is not a Kubernetes object")
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
            raise NotBuilt(_TOO_LARGE)
        if isinstance(value, dict):
            open += [(each, depth + 1) for each in value.values()]
        elif isinstance(value, list):
            open += [(each, depth + 1) for each in value]
