"""Edits that change nothing on any cluster."""

from __future__ import annotations

from random import Random
from typing import Any

from tests.faults.edits.draw import COLORS, Data


def order_changes(document: Data, random: Random) -> str:
    shuffled = _shuffled(document, random)
    document.clear()
    document.update(shuffled)
    return "the same in another order"


def _shuffled(value: Any, random: Random) -> Any:
    if not isinstance(value, dict):
        return value
    keys = list(value)
    random.shuffle(keys)
    return {key: _shuffled(value[key], random) for key in keys}


def comments_change(_: Data, random: Random) -> str:
    return f"a comment that says {random.choice(COLORS)}"
