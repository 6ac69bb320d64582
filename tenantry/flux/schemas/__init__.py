"""What API servers enforce of the objects of Flux, a data file per kind.

`python -m docgen.schemas` derives the files from the CustomResourceDefinitions of the Flux that the tests run; they are not
edited by hand. A file is read when its kind is first asked for, so a command pays only for the kinds it meets.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

_DIRECTORY = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class GoModule:
    """The Go module, and its version, that the definition was taken from."""

    module: str
    version: str


@dataclass(frozen=True, slots=True)
class Schema:
    """One kind; `spec` is plain JSON Schema apart from the keywords with the prefix x-kubernetes, and not to be changed."""

    group: str
    version: str
    kind: str
    plural: str
    scope: str
    source: GoModule
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
    return Schema(**(data | {"source": GoModule(**data["source"])}))


@cache
def _files() -> dict[str, Path]:
    """File names are <group>_<version>_<kind>.json."""
    return {path.stem.rpartition("_")[2]: path for path in _DIRECTORY.glob("*.json")}
