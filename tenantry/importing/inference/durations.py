"""Durations as people write them: Go prints `10m0s` where the author wrote `10m`."""

from __future__ import annotations

import re
from typing import Any

_GO = re.compile(r"(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?")
_KEYS = ("interval", "retryInterval", "timeout", "chartInterval")


def short_times(block: dict[str, Any]) -> dict[str, Any]:
    """A block whose times have no empty parts at their end."""
    return {
        key: short_time(value) if key in _KEYS and isinstance(value, str) else value for key, value in block.items()
    }


def short_time(text: str) -> str:
    """A time without empty parts at its end."""
    found = _GO.fullmatch(text)
    if not found or not text:
        return text
    parts = [
        f"{int(number)}{unit}" for number, unit in zip(found.groups(), "hms", strict=True) if number and int(number)
    ]
    return "".join(parts) or text
