"""Durations as Go writes them, such as `1h30m`."""

from __future__ import annotations

import re

_SECONDS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600}


def seconds(duration: str) -> float:
    """The length of a duration in seconds."""
    parts = re.findall(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(ms|s|m|h)", duration)
    return sum(float(number) * _SECONDS[unit] for number, unit in parts)
