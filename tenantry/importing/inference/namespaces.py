"""What differs in an extra namespace of a tenant from the main one."""

from __future__ import annotations

from typing import Any

_OF_NAMESPACES = ("quota", "limits", "labels", "annotations", "podSecurity", "network", "objects")


def difference(main: dict[str, Any], extra: dict[str, Any]) -> dict[str, Any]:
    """What the entry of an extra namespace says: it is merged with the settings of the main one."""
    found: dict[str, Any] = {}
    for key in _OF_NAMESPACES:
        ours, theirs = (_whole(key, each.get(key)) for each in (main, extra))
        if ours == theirs:
            continue
        if key == "network" and "policies" not in theirs:
            found[key] = theirs["base"]
        else:
            found[key] = _changed(ours, theirs)
    return found


def _whole(key: str, value: Any) -> dict[str, Any]:
    """A setting in its long form."""
    if key == "network":
        return {"base": "isolated", **({"base": value} if isinstance(value, str) else value or {})}
    if key == "podSecurity":
        return (
            dict.fromkeys(("enforce", "audit", "warn"), value)
            if isinstance(value, str)
            else value or {"enforce": "baseline"}
        )
    return dict(value or {})


def _changed(ours: dict[str, Any], theirs: dict[str, Any]) -> dict[str, Any]:
    """What makes one mapping of the other, where mappings merge and null removes."""
    found: dict[str, Any] = dict.fromkeys(ours.keys() - theirs.keys())
    for key, value in theirs.items():
        if isinstance(value, dict) and isinstance(ours.get(key), dict):
            if below := _changed(ours[key], value):
                found[key] = below
        elif ours.get(key) != value:
            found[key] = value
    return found
