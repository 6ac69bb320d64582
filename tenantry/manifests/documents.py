"""Reads and writes manifests as Kubernetes' own YAML library does."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import yaml

from tenantry.kube.documents import ManifestLoader
from tenantry.manifests.model import NotRendered

_MOST_VALUES = 1_000_000
_MOST_DEPTH = 200

_DUMPER: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


def read(text: str | bytes) -> Any:
    """The first document. Raises: NotRendered."""
    return next(iter(read_all(text)), None)


def read_all(text: str | bytes) -> list[Any]:
    """All documents. Raises: NotRendered: they cannot be read, or aliases make them too large."""
    try:
        documents = list(yaml.load_all(text, Loader=ManifestLoader))
    except (yaml.YAMLError, ValueError, RecursionError) as wrong:
        raise NotRendered(f"its YAML cannot be read: {' '.join(str(wrong).split())}") from None
    _check(documents)
    return documents


def write(data: Any) -> str:
    return str(yaml.dump(data, Dumper=_DUMPER, sort_keys=False, allow_unicode=True))


def write_all(documents: Iterable[Any]) -> str:
    return str(yaml.dump_all(documents, Dumper=_DUMPER, sort_keys=False, allow_unicode=True))


def objects_of(documents: Iterable[Any]) -> list[Mapping[str, Any]]:
    """The objects in documents: those of lists one by one, and no empty documents. Raises: NotRendered: it is no object."""
    found: list[Mapping[str, Any]] = []
    for each in documents:
        if each is None:
            continue
        if not isinstance(each, dict):
            raise NotRendered("it yields YAML that is not a Kubernetes object")
        items = each.get("items")
        if isinstance(items, list) and str(each.get("kind", "")).endswith("List"):
            found += objects_of(items)
        else:
            found.append(each)
    return found


def _check(data: Any) -> None:
    """Count values as if aliases were written out."""
    count = 0
    open: list[tuple[Any, int]] = [(data, 0)]
    while open:
        value, depth = open.pop()
        count += 1
        if count > _MOST_VALUES or depth > _MOST_DEPTH:
            raise NotRendered(f"its YAML has more than {_MOST_VALUES} values, or is nested too deeply")
        if isinstance(value, dict):
            open += [(each, depth + 1) for each in value.values()]
        elif isinstance(value, list):
            open += [(each, depth + 1) for each in value]
