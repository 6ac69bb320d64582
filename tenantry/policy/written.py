"""What is written anywhere below a part of the main file: addresses, intervals, durations, what has limits."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from tenantry.policy.resource import entries, mapping

_ADDRESSES = ("url", "image", "address", "proxy", "issuerURL")
_LIMITED = ("timeout", "interval", "retryInterval", "chartInterval", "retries", "maxHistory")


def addresses_in(value: Any, app: str = "") -> Iterator[tuple[str, dict[str, str]]]:
    """Every address below a value, with the placeholders that only hold there."""
    for key, inner in value.items() if isinstance(value, Mapping) else ():
        if key in _ADDRESSES and isinstance(inner, str):
            yield inner, {"app": app}
        elif key == "endpoint" and isinstance(inner, str):
            yield f"{inner}/{value['bucketName']}" if value.get("bucketName") else inner, {"app": app}
        elif key == "channel" and value.get("type") in ("azureeventhub", "googlepubsub"):
            yield f"{inner}/{value.get('address') or ''}", {"app": app}
        elif key == "apps":
            for name, each in mapping(inner).items():
                yield from addresses_in(each, name)
        else:
            for each in entries(inner) or (inner,):
                yield from addresses_in(each, app)


def times_in(value: Any) -> Iterator[str]:
    """Every interval below a value."""
    for key, inner in value.items() if isinstance(value, Mapping) else ():
        if key in ("interval", "retryInterval", "chartInterval") and isinstance(inner, str):
            yield inner
        else:
            for entry in entries(inner) or (inner,):
                yield from times_in(entry)


def values_of(value: Any, key: str) -> Iterator[Any]:
    """Everything under a key, anywhere below a value."""
    for name, inner in value.items() if isinstance(value, Mapping) else ():
        if name == key:
            yield inner
        for entry in entries(inner) or (inner,):
            yield from values_of(entry, key)


def text_of(value: Any) -> str:
    """A scalar as the file writes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def limits_in(value: Any) -> Iterator[str]:
    """Every duration and number below a value, as far as Flux's controllers work by it, without those that are granted."""
    for key, inner in value.items() if isinstance(value, Mapping) else ():
        if key in _LIMITED and not isinstance(inner, Mapping):
            yield str(inner)
        elif key != "grants":
            for entry in entries(inner) or (inner,):
                yield from limits_in(entry)


_SECONDS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600}


def seconds(duration: str) -> float:
    """The length of a duration in seconds."""
    parts = re.findall(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(ms|s|m|h)", duration)
    return sum(float(number) * _SECONDS[unit] for number, unit in parts)
