"""What the planned objects of a tenant may not say: a check of what Flux gets, after merging and filling in.

The rules check the same as it is written, for the place. They cannot see what a placeholder becomes or what `null` removes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from tenantry.fleet.fleet import Fleet
from tenantry.fleet.grants import POLICYS_SHORTEST, SHORTEST_INTERVAL, grant_at, grants_of, is_filled
from tenantry.fleet.identity import borrowed
from tenantry.fleet.reach import is_allowed
from tenantry.fleet.rules.granted import foreign_address, refused_by_policy, too_short
from tenantry.fleet.settings import variable_at
from tenantry.fleet.template import fill
from tenantry.flux.addresses import address_problems, addresses_of
from tenantry.messages.errors import Finding, Found, Path
from tenantry.messages.placeholders import names_in
from tenantry.model.frame import Grants
from tenantry.model.scalars import seconds_of
from tenantry.plan.objects.scope import Scope

_TIMES = ("interval", "retryInterval")
_CONTENT = ("values", "postRenderers", "patches", "postBuild")
"""Fields of a spec whose keys are the author's own or those of other objects."""


class Wall:
    """Checks the objects of one scope: the platform's for the form of addresses, a tenant's for everything."""

    def __init__(self, fleet: Fleet, scope: Scope, variables: Mapping[str, str]) -> None:
        self._fleet = fleet
        self._scope = scope
        self._variables = variables
        self._grants = grants_of(fleet, scope.tenant) if scope.tenant else None
        self._allowed: dict[str, list[str]] = {}

    def check(self, kind: str, spec: Mapping[str, Any], origin: Callable[[Path], Path]) -> Iterator[Finding]:
        """What a spec may not say. Args: origin: where in the document the value at a path of the spec is written."""
        findings = [*address_problems(kind, spec)]
        if self._scope.tenant:
            findings += self._findings(kind, spec, origin)
        yield from (self._placed(each, origin) for each in findings)

    def _findings(self, kind: str, spec: Mapping[str, Any], origin: Callable[[Path], Path]) -> Iterator[Finding]:
        """The same, with paths in the spec."""
        if not self._fleet.document.platform.sharedIdentity:
            yield from borrowed(kind, spec)
        yield from self._intervals(spec, origin)
        if self._grants:
            yield from self._addresses(kind, spec, origin, self._grants)

    def _addresses(
        self, kind: str, spec: Mapping[str, Any], origin: Callable[[Path], Path], grants: Grants
    ) -> Iterator[Finding]:
        allowed = self._allowed_for(kind, grants)
        for path, address in addresses_of(kind, spec):
            if is_filled(self._fleet, origin(path)) and not is_allowed(address, allowed):
                yield foreign_address(self._fleet, self._scope.tenant, kind, path, allowed)

    def _allowed_for(self, kind: str, grants: Grants) -> list[str]:
        """The address patterns for a kind, which are the same for all objects of the tenant on the cluster."""
        if kind not in self._allowed:
            alerts = self._patterns("alerts", grants.alerts) if kind == "Provider" else ()
            self._allowed[kind] = [*self._patterns("sources", grants.sources), *alerts]
        return self._allowed[kind]

    def _patterns(self, key: str, patterns: list[str] | None) -> Iterator[str]:
        """The granted address patterns with their placeholders filled in. Raises: Found: a placeholder is unknown."""
        for index, pattern in enumerate(patterns or ()):
            try:
                yield str(fill(pattern, self._variables, ()))
            except Found as found:
                at = grant_at(self._fleet, self._scope.tenant, key, index)
                raise Found(replace(each, path=at) for each in found.findings) from None

    def _intervals(self, spec: Mapping[str, Any], origin: Callable[[Path], Path]) -> Iterator[Finding]:
        shortest = (self._grants and self._grants.shortestInterval) or SHORTEST_INTERVAL
        bound = max(map(seconds_of, (shortest, POLICYS_SHORTEST) if self._grants else (POLICYS_SHORTEST,)))
        for path, value in _times(spec, ()):
            if seconds_of(value) >= bound:
                continue  # as nearly all are, and finding the place takes time
            place = origin(path)
            if place[-1:] not in (path[-1:], ("chartInterval",)):
                continue  # the author wrote none here: it is the tenant's as a whole, or Tenantry's
            if self._grants and is_filled(self._fleet, place):
                yield from too_short(self._fleet, self._scope.tenant, path, value, shortest)
            else:
                yield from refused_by_policy(path, value)

    def _placed(self, finding: Finding, origin: Callable[[Path], Path]) -> Finding:
        place = origin(finding.path)
        return replace(finding, path=place, notes=(*finding.notes, *self._filled_in(place)))

    def _filled_in(self, place: Path) -> Iterator[str]:
        """What placeholders at a place became, and where."""
        written = self._fleet.source.value(place)
        for name in dict.fromkeys(names_in(written)) if isinstance(written, str) else ():
            at = variable_at(self._fleet, self._scope.environment, self._scope.cluster, name)
            where = f" ({self._fleet.source.line_of(at)})" if at else ""
            yield f"'{{{name}}}' is '{self._variables.get(name, '')}' on cluster '{self._scope.cluster}'{where}"


def below(*at: str | int) -> Callable[[Path], Path]:
    """The origin of the values of a block that stands at a path as a whole."""
    return lambda path: (*at, *path)


def _times(value: Any, path: Path) -> Iterator[tuple[Path, str]]:
    """Every interval in a spec."""
    if isinstance(value, dict):
        for key, below in value.items():
            if isinstance(below, dict):
                if key not in _CONTENT:
                    yield from _times(below, (*path, key))
            elif key in _TIMES and isinstance(below, str):
                yield (*path, key), below
