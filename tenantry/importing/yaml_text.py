"""The YAML of a source: what kustomizations say, and what kustomize builds of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

from tenantry.importing.documents import documents_in
from tenantry.importing.programs import NotBuilt
from tenantry.messages.errors import Refused

MOST_BYTES = 32 * 2**20
"""The largest file of a source that is read here."""
_DUMPER: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


def read_file(file: Path) -> Any:
    """The first document of a file of a source. Raises: NotBuilt."""
    if file.stat().st_size > MOST_BYTES:
        raise NotBuilt(f"{file.name} is larger than {MOST_BYTES // 2**20} MiB")
    return next(iter(read_all(file.read_bytes(), file.name)), None)


def read_all(text: bytes, name: str) -> list[Any]:
    """All documents. Args: name: what messages call the text. Raises: NotBuilt: they cannot be read, or are beyond the bounds."""
    try:
        return [data for data, _ in documents_in(text, name)]
    except Refused as refused:
        raise NotBuilt(f"its YAML cannot be read: {refused.message}") from None


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
