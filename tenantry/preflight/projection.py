"""What a live object says about the fields that a plan sets: an apply changes these, and leaves the others as they are."""

from __future__ import annotations

from typing import Any


def projected(there: Any, wanted: Any) -> Any:
    """The part of live data that wanted data speaks about; entries of lists go by their places."""
    if isinstance(there, dict) and isinstance(wanted, dict):
        return {key: projected(there[key], part) for key, part in wanted.items() if key in there}
    if isinstance(there, list) and isinstance(wanted, list) and len(there) == len(wanted):
        return [projected(*pair) for pair in zip(there, wanted, strict=True)]
    return there
