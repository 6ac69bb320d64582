"""The file with discovered clusters: new ones go below the others, and those that are gone are marked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tenantry.cluster.declared import GONE
from tenantry.edit.document import Document

_HEAD = b"""\
# Written by `tenantry cluster discover`, which adds new clusters and marks those that are gone. Everything else is yours to edit.
clusters: {}
"""


def with_clusters(file: Path, before: bytes, added: Mapping[str, Any], gone: Iterable[str]) -> bytes:
    """The file with more clusters, and with `state: decommissioned` in some. before: b"" if there is no file.

    Raises: Refused: the file is written in a way that cannot be edited; InvalidFleet: it is not valid YAML.
    """
    document = Document(file, before if before.strip() else _HEAD)
    for name in gone:
        state = ("clusters", name, "state")
        if document.depth(state) == len(state):
            document.replace(state, GONE)
        else:
            document.insert(state, GONE, 0)
    if added and "clusters" not in document.data:
        document.insert(("clusters",), {})
    for name, cluster in added.items():
        document.insert(("clusters", name), cluster)
    return document.after
