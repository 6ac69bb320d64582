"""Durations as Go writes them, such as `1h30m`: their form, their length, and what to write for one in another form."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Annotated, Any

from pydantic import BeforeValidator

from tenantry.messages.problems import type_name
from tenantry.model.scalars import checked, refusal, text, valid

DURATION = re.compile(r"([0-9]+(\.[0-9]+)?(ms|s|m|h))+")
_SECONDS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600}
LONGEST_DURATION = 366 * 24 * 3600
"""Seconds. The admission policy of the clusters lets a tenant have no longer duration either."""


def _no_bare_number(value: Any) -> Any:
    """Quotes, which text usually lacks where a number is found, would not make a duration of it."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    raise refusal("wrong-type", f"expected a string, found {type_name(value)}", fix=duration_fix(str(value)))


def duration_fix(value: str) -> str:
    """What to write for a duration that lacks its unit, or is in the form of another tool."""
    written = value.strip()[:40]
    if written.isdigit() and len(written) <= 6:
        return f"add a unit, such as '{written}s' or '{written}m'"
    return "write it as '30s', '5m' or '1h30m'"


def is_bounded(value: str) -> bool:
    """Whether a duration is at most a year. The CRDs let more pass than Go's 64 bits of nanoseconds hold; one such object stops a
    Flux controller from listing any.
    """
    return seconds_of(value) < LONGEST_DURATION


@lru_cache(maxsize=1024)
def seconds_of(duration: str) -> float:
    """The length of a Go duration in seconds."""
    return sum(
        float(number) * _SECONDS[unit]
        for number, unit in re.findall(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(ms|s|m|h)", duration)
    )


def duration(seconds: float) -> str:
    """Such as `2h30m`, to the second."""
    hours, rest = divmod(int(seconds), 3600)
    minutes, left = divmod(rest, 60)
    return "".join(f"{number}{unit}" for number, unit in ((hours, "h"), (minutes, "m"), (left, "s")) if number) or "0s"


Duration = Annotated[
    str,
    BeforeValidator(_no_bare_number),
    valid("bad-duration", "duration", DURATION.fullmatch, duration_fix),
    checked("bad-duration", "duration", lambda value: None if is_bounded(value) else "is too long: a year is the most"),
    text(DURATION.pattern, examples=("30s", "5m", "1h")),
]
"""A Go duration with the units ms, s, m and h, for example `1h30m`."""
