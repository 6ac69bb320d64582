"""Files of the platform's that say what differs in one environment: overlays, which only the main file includes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tenantry.policy.resource import mapping

_PARTS = ("apps", "sources")
OF_TEAMS = "overlays"
"""A key that no file has: what overlays say of apps and sources that the main file does not declare, by environment."""


def with_overlay(main: Mapping[str, Any], environment: str, said: Mapping[str, Any]) -> dict[str, Any]:
    """The main file with what an overlay says, as overrides for the environment."""
    whole = dict(main)
    if own := mapping(mapping(said.get("environments")).get(environment)):
        whole["environments"] = _over(mapping(main.get("environments")), {environment: own})
    if "defaults" in said:
        whole["defaults"] = _overridden(mapping(main.get("defaults")), environment, mapping(said["defaults"]), ())
    for group in ("tenants", "tenantClasses"):
        known = mapping(main.get(group))
        for name, each in mapping(said.get(group)).items():
            # A tenant that only a team's file declares stays unknown: its classes count first.
            at = group if name in known else OF_TEAMS
            held = mapping(whole.get(at))
            whole[at] = {**held, name: _overridden(mapping(held.get(name)), environment, mapping(each), _PARTS)}
    platform = mapping(said.get("platform"))
    for group, parts in (("addons", ("source",)), ("sources", ())):
        held = mapping(mapping(whole.get("platform")).get(group))
        new = {
            name: _overridden(mapping(held.get(name)), environment, mapping(each), parts)
            for name, each in mapping(platform.get(group)).items()
        }
        if new:
            whole["platform"] = {**mapping(whole.get("platform")), group: {**held, **new}}
    return whole


def _overridden(
    owner: Mapping[str, Any], environment: str, said: Mapping[str, Any], parts: Iterable[str]
) -> dict[str, Any]:
    own = {key: value for key, value in said.items() if key not in parts}
    whole = _over(owner, {"overrides": {"environments": {environment: own}}}) if own else dict(owner)
    for part in parts:
        held, given = mapping(owner.get(part)), mapping(said.get(part))
        if part == "source" and given:
            whole[part] = _overridden(held, environment, given, ())
        elif given:
            known = {
                name: _overridden(mapping(held[name]), environment, mapping(given[name]), ())
                for name in given
                if name in held
            }
            whole[part] = {**held, **known}
            others = {name: each for name, each in given.items() if name not in held}
            whole = _over(whole, {OF_TEAMS: {environment: {part: others}}})
    return whole


def _over(low: Mapping[str, Any], high: Mapping[str, Any]) -> dict[str, Any]:
    """Two mappings as one. A `null` stays: it removes what stands below an override."""
    both = {
        key: _over(low[key], value)
        for key, value in high.items()
        if isinstance(value, Mapping) and isinstance(low.get(key), Mapping)
    }
    return {**low, **high, **both}
