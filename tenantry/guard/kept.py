"""Namespaces that were left with their data: an environment's claim records them until they are declared again."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, NamedTuple

from tenantry.messages.errors import Refused

KEY = "kept"
"""The key of a claim's ConfigMap."""
_FIELDS = ("cluster", "namespace", "tenant", "since")


class Kept(NamedTuple):
    """A namespace on a cluster that no stack manages any more.

    tenant: whose data it holds; "" for an add-on's. since: the time in RFC 3339. environment: whose claim records it.
    """

    cluster: str
    namespace: str
    tenant: str
    since: str
    environment: str

    @property
    def owner(self) -> str:
        """Whose data it holds, in words."""
        return f"tenant '{self.tenant}'" if self.tenant else "an add-on"


def written(entries: Iterable[Kept]) -> str:
    """The record as JSON, sorted; "" if there is nothing to record."""
    found = [{field: getattr(entry, field) for field in _FIELDS} for entry in sorted(entries)]
    return json.dumps(found, separators=(",", ":")) if found else ""


def read(text: Any, environment: str, where: str) -> tuple[Kept, ...]:
    """The record in a claim; where: the ConfigMap as `namespace/name`.

    Raises: Refused: it is malformed, so nobody knows whose data lies where.
    """
    if not text:
        return ()
    try:
        return tuple(
            Kept(**{field: _text(entry, field) for field in _FIELDS}, environment=environment)
            for entry in json.loads(text)
        )
    except (ValueError, TypeError, LookupError):
        namespace, _, name = where.partition("/")
        raise Refused(
            f"key '{KEY}' of ConfigMap {where} is malformed, so nobody knows which namespaces hold whose data: it has to be a"
            f" JSON list of objects with {', '.join(_FIELDS)}",
            f"correct it: kubectl --namespace {namespace} edit configmap {name}",
        ) from None


def _text(entry: Any, field: str) -> str:
    value = entry[field]
    if not isinstance(value, str):
        raise TypeError(field)
    return value
