"""Which mappings and lists go with their last entry."""

from __future__ import annotations

from typing import Any

from tenantry.edit.schema import goes_when_empty
from tenantry.messages.data import value_at
from tenantry.messages.errors import Path


def emptied_by(data: Any, path: Path) -> Path:
    """The path to remove so that nothing empty stays whose absence means the same."""
    while len(path) > 1 and len(value_at(data, path[:-1])) == 1 and goes_when_empty(path[:-1]):
        path = path[:-1]
    return path
