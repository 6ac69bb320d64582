"""comparison.yaml: the capabilities of a published setup, and what an example has for each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict

ROOT = Path(__file__).resolve().parents[2]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Planned(_Strict):
    """Objects that the plan of an environment has, or must not have."""

    environment: str
    objects: str
    """`KIND NAME` or `KIND NAMESPACE/NAME`, with `*` for any text."""
    fields: dict[str, Any] = {}
    """What each of these objects says: mappings may say more, all other values are equal."""
    absent: bool = False
    """Whether the plan must have no such object."""
    file: str = "tenants.yaml"
    """The fleet that is planned, relative to the example."""


class Capability(_Strict):
    """One thing that the document does or says."""

    capability: str
    there: str
    """The place in the document: a heading, a command or a few words."""
    here: list[str]
    """Keys of tenants.yaml, or files relative to the example."""
    planned: list[Planned] = []
    tried: list[str]
    """Tests as FILE::NAME, or commands."""
    differs: str = "nothing"
    """What differs, and why."""


class Compared(_Strict):
    """A document, and all of its capabilities."""

    name: str
    introduction: str = ""
    capabilities: list[Capability]


class Comparison(_Strict):
    """A page: the documents that one example follows."""

    title: str
    introduction: str
    documents: list[Compared]


def directories() -> list[Path]:
    """The examples that follow a published setup."""
    return sorted(each.parent for each in (ROOT / "examples").glob("*/comparison.yaml"))


def comparison(example: Path) -> Comparison:
    """The comparison of an example. Raises: ValidationError: a key is unknown or missing."""
    text = (example / "comparison.yaml").read_text(encoding="utf-8")
    return Comparison.model_validate(yaml.safe_load(text))
