"""The grants that a tenant needs so that an included file may say what the main file says now.

Called by: `moving`, for a tenant that gets a file of its own. They allow what is there and no more: exact addresses, and limits
that the longest value just keeps. The check of the edited fleet refuses what cannot be granted, such as the platform's credentials.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from tenantry.fleet.fleet import Fleet
from tenantry.fleet.placement import granted_selector, is_management, matches, placements_of, reaches
from tenantry.fleet.resolve import resolved_layers
from tenantry.flux.addresses import addresses_of
from tenantry.grants.grants import INTERVAL, LIMITS, SHORTEST_INTERVAL, TIMEOUT, grant_layers, is_covered, limit_of
from tenantry.grants.limits import Limited, limited_in_tenant
from tenantry.grants.model import Grants
from tenantry.messages.data import mapping_at
from tenantry.messages.placeholders import is_unfilled
from tenantry.model.durations import seconds_of
from tenantry.plan.plan import plan
from tenantry.plan.planner import Part

_COUNTED = ("apps", "sources", "credentials", "configs", "alerts", "receivers")


def needed_grants(fleet: Fleet, tenant: str, entry: Mapping[str, Any]) -> dict[str, Any]:
    """The grants to write for a tenant, by their keys, such as `sources` and `limits`. A key that suffices as it is is missing.

    Args: fleet: before the move; entry: what moves, by the keys of the tenant.
    """
    return dict(_Needs(fleet, tenant, entry).all())


class _Needs:
    def __init__(self, fleet: Fleet, tenant: str, entry: Mapping[str, Any]) -> None:
        self.fleet, self.tenant, self.entry = fleet, tenant, entry
        self.grants = resolved_layers(grant_layers(fleet, tenant), Grants, None)
        self.apps = {name: ("tenants", tenant, "apps", name) for name in mapping_at(dict(entry), "apps")}

    def all(self) -> Iterator[tuple[str, Any]]:
        places = [place for at in self.apps.values() for place in placements_of(self.fleet, at)]
        yield from self._clusters({cluster for _, cluster in places})
        yield from self._environments({environment for environment, _ in places})
        allowed = self.grants.sources or []
        sources = [*self._addresses(of_alerts=False), *self._images()]
        yield from self._list("sources", sources, self._covered_by(allowed))
        told = [*allowed, *(self.grants.alerts or []), *sources]
        yield from self._list("alerts", self._addresses(of_alerts=True), self._covered_by(told))
        yield from self._list("push", self._pushed(), self._covered_by(self.grants.push or []))
        yield from self._list("settings", self._settings(), lambda key: key in (self.grants.settings or ()))
        for kind in ("labels", "annotations"):
            given = frozenset(getattr(self.grants, kind) or ())
            yield from self._list(kind, self._prefixes(kind), given.__contains__)
        yield from self._limits()

    def _covered_by(self, patterns: Iterable[str]) -> Callable[[str], bool]:
        """Whether patterns allow an address of this tenant, whatever other placeholders become."""
        known = [self._of_tenant(each) for each in patterns]
        return lambda address: is_covered(self._of_tenant(address), known)

    def _of_tenant(self, pattern: str) -> str:
        return pattern.replace("{tenant}", self.tenant)

    def _list(
        self, key: str, wanted: Iterable[str], is_granted: Callable[[str], bool]
    ) -> Iterator[tuple[str, list[str]]]:
        """A list of the grants with what it lacks. The tenant's list replaces that of `defaults`."""
        if lacking := [each for each in dict.fromkeys(wanted) if not is_granted(each)]:
            yield key, [*(getattr(self.grants, key) or ()), *lacking]

    def _clusters(self, needed: set[str]) -> Iterator[tuple[str, Any]]:
        selector, _ = granted_selector(self.fleet, self.tenant)
        granted = {
            name
            for name, cluster in self.fleet.clusters.items()
            if selector and matches(selector, name, cluster)
            if not (selector.all and is_management(self.fleet, name))
        }
        if needed - granted:
            yield "clusters", {"names": [name for name in self.fleet.clusters if name in needed]}

    def _environments(self, needed: set[str]) -> Iterator[tuple[str, Any]]:
        given = self.grants.environments
        lacking = [
            name
            for name in self.fleet.environments
            if given is not None and name in needed and not reaches(self.fleet, given, name)
        ]
        if lacking:
            yield "environments", [*(given or ()), *lacking]

    def _addresses(self, *, of_alerts: bool) -> list[str]:
        """The addresses to which alerts are sent, or all others, with their placeholders."""
        return [
            address
            for path, model, block in self.fleet.blocks
            if path[:2] == ("tenants", self.tenant) and path[2] in self.entry
            if model.flux_kind != "ImageRepository" and (model.flux_kind == "Provider") is of_alerts
            for _, address in addresses_of(model.flux_kind, block)
        ]

    def _images(self) -> list[str]:
        """The addresses of the images that the tenant's apps follow, as they are planned."""
        if not any("imageAutomation" in self.fleet.raw(*at) for at in self.apps.values()):
            return []
        return [
            address
            for environment in self.fleet.environments
            for each in plan(self.fleet, environment, Part(self.tenant)).objects
            if each.id.kind == "ImageRepository" and each.owner.tenant == self.tenant
            for _, address in addresses_of("ImageRepository", each.manifest["spec"])
        ]

    def _pushed(self) -> Iterator[str]:
        """The addresses to which image automation pushes: those of the sources of its apps."""
        sources = {
            block.get("source")
            for path, _, block in self.fleet.blocks
            if path[3:4] and path[3] in self.apps and path[:3] == ("tenants", self.tenant, "apps")
            if self.fleet.raw(*self.apps[str(path[3])], "imageAutomation", "update")
        }
        yield from (str(block["url"]) for name, block in self._git_blocks() if name in sources and block.get("url"))

    def _settings(self) -> Iterator[str]:
        if any("rollout" in self.fleet.raw(*at) for at in self.apps.values()):
            yield "rollout"
        if any(block.get("recurseSubmodules") for _, block in self._git_blocks()):
            yield "recurseSubmodules"

    def _git_blocks(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """The `git:` blocks of the entry's sources and of their overrides, each with the name of its source."""
        own = mapping_at(dict(self.entry), "sources")
        for path, _, block in self.fleet.blocks:
            if path[:3] == ("tenants", self.tenant, "sources") and path[3] in own and path[-1] == "git":
                yield str(path[3]), block

    def _prefixes(self, kind: str) -> Iterator[str]:
        """The prefixes of labels or annotations of Flux objects. Keys without one cannot be granted."""
        entries = [*mapping_at(dict(self.entry), "apps").values(), *mapping_at(dict(self.entry), "sources").values()]
        for entry in entries:
            for holder in (entry, *_overrides(entry)):
                keys = mapping_at(holder, "metadata", kind)
                yield from (f"{key.partition('/')[0]}/" for key in keys if "/" in key)

    def _limits(self) -> Iterator[tuple[str, Any]]:
        found: dict[str, str | int] = {}
        for key in _COUNTED:
            self._raise(found, Limited((key,), len(mapping_at(dict(self.entry), key)), key))
        images = (self.fleet.raw(*at, "imageAutomation", "images") for at in self.apps.values())
        self._raise(found, Limited(("images",), sum(map(len, images)), "images"))
        shortest = self.grants.shortestInterval or SHORTEST_INTERVAL
        wanted = shortest
        for each in limited_in_tenant(self.entry):
            if is_unfilled(each.value):
                continue
            self._raise(found, each)
            if each.limit == INTERVAL and seconds_of(str(each.value)) < seconds_of(wanted):
                wanted = str(each.value)
        if wanted != shortest:
            yield "shortestInterval", wanted
        if found:
            given = self.grants.limits.model_dump(exclude_none=True) if self.grants.limits else {}
            own = {key: value for key, value in given.items() if key in self._own_limits()}
            yield "limits", {key: (own | found)[key] for key in LIMITS if key in own | found}

    def _own_limits(self) -> dict[str, Any]:
        """The limits that the tenant itself has. Those of `defaults` merge with them."""
        return self.fleet.raw("tenants", self.tenant, "grants", "limits")

    def _raise(self, found: dict[str, str | int], each: Limited) -> None:
        """Note a limit that a value exceeds."""
        now = found.get(each.limit, limit_of(self.grants, each.limit))
        if each.limit in (TIMEOUT, INTERVAL):
            if seconds_of(str(each.value)) > seconds_of(str(now)):
                found[each.limit] = each.value
        elif int(each.value) > int(now):
            found[each.limit] = each.value


def _overrides(entry: Any) -> Iterator[Any]:
    """All overrides of an app."""
    overrides = mapping_at(entry, "overrides")
    for group in ("environments", "clusters"):
        yield from mapping_at(overrides, group).values()
    where = overrides.get("where")
    yield from where if isinstance(where, list) else ()
