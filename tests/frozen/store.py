"""Cases in files: an input and an outcome by name, both as JSON, a line each, compressed. Equal cases give equal bytes."""

from __future__ import annotations

import json
import lzma
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, TypeAlias

Input: TypeAlias = dict[str, Any]
Kind: TypeAlias = Literal["inputs", "outcomes"]

CORPUS = Path(__file__).with_name("corpus")


def text_of(data: Any) -> str:
    """Data as JSON with its order of keys."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


def load(part: str, kind: Kind) -> dict[str, str]:
    """The JSON of each case of a part."""
    lines = lzma.decompress(_file(part, kind).read_bytes()).decode().removesuffix("\n").split("\n")
    return {name: data for name, _, data in (line.partition("\t") for line in lines)}


def save(part: str, kind: Kind, cases: Mapping[str, str]) -> None:
    """Write all cases of a part."""
    text = "".join(f"{name}\t{data}\n" for name, data in cases.items())
    CORPUS.mkdir(exist_ok=True)
    _file(part, kind).write_bytes(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))


def _file(part: str, kind: Kind) -> Path:
    return CORPUS / f"{part}.{kind}.xz"
