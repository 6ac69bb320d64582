"""Rules about how long a tenant may keep a controller busy that serves all tenants."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tenantry.policy.durations import seconds
from tenantry.policy.resource import as_text, entries
from tenantry.policy.rule import Violation
from tenantry.policy.rules.reach import CONTENT
from tenantry.policy.tenants import Tenants

_LIMITS = {"timeout": "timeout", "interval": "interval", "retryInterval": "interval"}
_NUMBERS = {"retries": ("retries", 0), "maxHistory": ("history", 1)}
"""Field of Flux -> the key of its limit, and the lowest number that is not without end."""


def tenants_timeouts_and_retries_have_an_end(tenants: Tenants) -> Iterator[Violation]:
    """Nothing of a tenant takes longer, or is tried more often, than the main file says or grants: by default an hour, a day
    between two attempts, 20 retries, 20 revisions. A controller has few workers, and this would hold one of them.
    """
    for resource, place in tenants.placed:
        for path, key, value in _values(resource.spec, "spec") if resource.by is None else ():
            if as_text(value) not in place.frame.written_limits and (most := _exceeded(key, value, place.frame.limits)):
                what = f"{resource} of tenant '{place.tenant}' has '{value}' in {path}"
                yield Violation(resource, what, f"set it to {most} or less, or raise 'grants.limits' in the main file")


def _exceeded(key: str, value: Any, limits: Mapping[str, str]) -> str:
    """The limit that a value exceeds; "" if it does not."""
    if key in _LIMITS and isinstance(value, str):
        most = limits[_LIMITS[key]]
        return most if seconds(value) > seconds(most) else ""
    if key in _NUMBERS and isinstance(value, int | float):
        limit, least = _NUMBERS[key]
        return "" if least <= value <= int(limits[limit]) else limits[limit]
    return ""


def _values(value: Mapping[str, Any], at: str) -> Iterator[tuple[str, str, Any]]:
    for key, inner in value.items():
        if key in CONTENT:
            continue
        if isinstance(inner, str | int | float):
            yield f"{at}.{key}", key, inner
        for each in [inner] if isinstance(inner, Mapping) else entries(inner):
            yield from _values(each, f"{at}.{key}")
