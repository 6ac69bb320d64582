"""Tenants and clusters that are rows of CSV files, which only the platform's main file includes."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tenantry.policy.resource import entries, mapping

_TOKEN = re.compile(r"\{\{|\}\}|\{(\w+)\}")


def with_rows(directory: Path, main: Mapping[str, Any]) -> dict[str, Any]:
    """The main file with its rows below what it says of the same names itself. Raises: OSError, csv.Error."""
    whole = dict(main)
    for entry in entries(main.get("include")):
        for kind in ("tenants", "clusters"):
            pattern = str(entry.get(kind) or "")
            for file in sorted(directory.glob(pattern)) if is_table(pattern) else ():
                rows = dict(_rows(file, mapping(entry.get("each"))))
                own = mapping(whole.get(kind))
                whole[kind] = {**rows, **own, **{name: _below(rows[name], own[name]) for name in rows if name in own}}
    return whole


def is_table(pattern: str) -> bool:
    return pattern.lower().endswith(".csv")


def _rows(file: Path, each: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    with file.open(encoding="utf-8-sig", newline="") as opened:
        for cells in csv.DictReader(opened):
            used = set(_TOKEN.findall(str(each)))
            entry = mapping(_filled(each, cells)) or {}
            given = {key: cell for key, cell in cells.items() if key not in ("name", *used) and cell}
            variables = {**given, **mapping(entry.get("variables"))}
            yield cells["name"], {**entry, **({"variables": variables} if variables else {})}


def _filled(value: Any, cells: Mapping[str, str]) -> Any:
    """The value with cells filled in; None: it is nothing but empty cells."""
    if isinstance(value, Mapping):
        filled = {key: _filled(inner, cells) for key, inner in value.items()}
        return {key: inner for key, inner in filled.items() if inner is not None} or None
    if isinstance(value, list):
        return [inner for each in value if (inner := _filled(each, cells)) is not None] or None
    if not isinstance(value, str):
        return value
    return _TOKEN.sub(lambda found: cells.get(found[1], found[0]) if found[1] else found[0][0], value) or None


def _below(row: Mapping[str, Any], own: Any) -> dict[str, Any]:
    """A row with what the main file says over it; mappings merge once."""
    own = mapping(own)
    both = {key: {**mapping(row[key]), **own[key]} for key in row if isinstance(own.get(key), Mapping)}
    return {**row, **own, **both}
