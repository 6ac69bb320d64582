"""Merges layers of settings, from the least to the most specific, and traces every value to its layer.

Maps merge, lists and scalars replace, `null` removes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tenantry.messages.data import depth_of
from tenantry.messages.errors import Path


@dataclass(frozen=True, slots=True)
class Layer:
    """Plain data and the path where it stands in the document."""

    path: Path
    data: dict[str, Any]


def merge(layers: Sequence[Layer]) -> dict[str, Any]:
    """All layers as one new mapping; later layers win. The layers stay as they are."""
    merged: dict[str, Any] = {}
    for layer in layers:
        merged = _merge(merged, layer.data)
    return merged


def _merge(base: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    result = dict(base)
    for key, value in over.items():
        if value is None:
            result.pop(key, None)
        elif isinstance(value, dict):
            below = result.get(key)
            result[key] = _merge(below if isinstance(below, dict) else {}, value)
        else:
            result[key] = value
    return result


def origin(layers: Sequence[Layer], path: Path) -> Path:
    """Where in the document the merged value at `path` comes from: the most specific layer that reaches deepest."""
    depth, best = max(
        ((depth_of(layer.data, path), index) for index, layer in enumerate(layers)), key=lambda pair: pair
    )
    return (*layers[best].path, *path[:depth])
