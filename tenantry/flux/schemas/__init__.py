"""The schemas that API servers enforce for Flux objects: a data file for each kind.

`python -m docgen.schemas` derives the files from the CRDs of the Flux version that the tests run. Do not edit them by hand. A file
is read when its kind is first used, so a command reads only the schemas that it needs.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

_DIRECTORY = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Schema:
    """The schema of a kind. `spec` is JSON Schema with x-kubernetes keywords. Callers must not change it."""

    group: str
    version: str
    kind: str
    plural: str
    spec: dict[str, Any]

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}"


@cache
def kinds() -> tuple[str, ...]:
    """Every kind that has a schema, in alphabetical order."""
    return tuple(sorted(_files()))


@cache
def schema_of(kind: str) -> Schema:
    """The schema of a kind. Raises: KeyError: the kind has no schema."""
    data = json.loads(_files()[kind].read_bytes())
    return Schema(*(data[key] for key in ("group", "version", "kind", "plural", "spec")))


@cache
def _files() -> dict[str, Path]:
    """The file of each kind, by its name <group>_<version>_<kind>.json."""
    return {path.stem.rpartition("_")[2]: path for path in _DIRECTORY.glob("*.json")}
