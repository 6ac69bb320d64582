"""What the planned objects of a tenant may not say: a check of what Flux gets, after merging and filling in."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any, TypeVar

from tenantry.fleet.fleet import Fleet
from tenantry.fleet.names import names_of_spec
from tenantry.fleet.rules.references import misfitting_keys
from tenantry.fleet.settings import variable_at
from tenantry.fleet.walk import owner_of
from tenantry.flux.addresses import address_problems, addresses_of
from tenantry.flux.conformance import check_spec
from tenantry.flux.credentials import borrowed
from tenantry.flux.revisions import revision_problems
from tenantry.grants.fields import ADVANCED
from tenantry.grants.grants import (
    INTERVAL,
    foreign_names,
    grant_at,
    grants_of,
    has_sound_grants,
    is_allowed,
    is_filled,
    is_own,
    platforms_entry,
)
from tenantry.grants.model import Grants
from tenantry.grants.rules import beyond_limits, foreign_address, limited_in_spec, not_advanced, refused_by_policy
from tenantry.messages.data import leaves, value_at
from tenantry.messages.errors import InvalidPart, Path, Problem, raise_invalid
from tenantry.messages.placeholders import Variables, fill, names_in
from tenantry.plan.objects.scope import Scope

_T = TypeVar("_T")


class Wall:
    """Checks the objects of one scope: the platform's for addresses, a tenant's for everything."""

    def __init__(self, fleet: Fleet, scope: Scope, variables: Variables) -> None:
        self._fleet = fleet
        self._scope = scope
        self._variables = variables
        self._grants = (
            grants_of(fleet, scope.tenant) if scope.tenant and has_sound_grants(fleet, scope.tenant) else None
        )
        self._allowed: dict[str, list[str]] = {}
        self._sound: set[tuple[str, str | int]] = set()

    def once(self, key: tuple[Hashable, ...], of: tuple[object, ...], make: Callable[[], _T]) -> _T:
        """What a function returns that checks a spec, called once for clusters with the same grants. Args: as for `Fleet.once`."""
        if self._grants is not None:
            key = (*key, *self._allowed_for("", self._grants))
        return self._fleet.once(key, of, make)

    def refuse(
        self, kind: str, spec: Mapping[str, Any], origin: Callable[[Path], Path], app: tuple[str, ...] = ()
    ) -> None:
        """Check a spec whose Secrets, ConfigMaps and included sources still have their names in the file.

        Args:   origin: where in the document the value at a path of the spec is written. app: the path of the app that has it.
        Raises: InvalidPart: an API server or Flux would not take it, or it says what the grants do not allow.
        """
        fleet, tenant = self._fleet, self._scope.tenant
        addresses = list(address_problems(kind, spec))
        # The schema would say less of an address.
        problems = addresses or list(check_spec(kind, spec, ()))
        raise_invalid(self._placed(problem, origin, filled=bool(addresses)) for problem in problems)
        problems = list(revision_problems(kind, spec))
        if tenant:
            problems += () if fleet.document.platform.sharedIdentity else borrowed(kind, spec)
            problems += self._limits(kind, spec, origin)
        if self._grants:
            problems += self._addresses(kind, spec, origin, self._grants)
            problems += self._advanced(kind, spec, origin, self._grants)
        authors = self._authors(kind, spec, origin, app) if self._grants else ()
        raise_invalid((*(self._placed(problem, origin) for problem in problems), *authors))
        raise_invalid(misfitting_keys(owner_of(fleet, self._scope.at).credentials, kind, spec, origin))

    def _advanced(
        self, kind: str, spec: Mapping[str, Any], origin: Callable[[Path], Path], grants: Grants
    ) -> Iterator[Problem]:
        if "advanced" in (grants.settings or ()):
            return
        for path in ADVANCED.get(kind, ()):
            value = value_at(spec, path)
            if value and any(is_filled(self._fleet, origin(leaf)) for leaf, _ in leaves(value, path)):
                yield not_advanced(self._fleet, self._scope.tenant, path)

    def _authors(
        self, kind: str, spec: Mapping[str, Any], origin: Callable[[Path], Path], app: tuple[str, ...]
    ) -> Iterator[Problem]:
        """Entries of the main file that an included file names, or that an app of it takes over from the main file.

        Names of sources and apps have no placeholders, so the rule about what is written sees all of them.
        """
        fleet, tenant = self._fleet, self._scope.tenant
        for path, group, name, _ in names_of_spec(kind, dict(spec)):
            place = origin(path)
            if is_own(fleet, tenant, group, name):
                continue
            if is_filled(fleet, place):
                yield from () if self._is_reported else (platforms_entry(fleet, tenant, place, group, name),)
            elif app and is_filled(fleet, app) and place[: len(app)] != app:
                yield platforms_entry(fleet, tenant, app, group, name)

    @cached_property
    def _is_reported(self) -> bool:
        """Whether a rule reports such names where they are written. It looks at all parts of the tenant, once for all objects."""
        return self._fleet.known_problems and any(foreign_names(self._fleet, self._scope.tenant))

    def _addresses(
        self, kind: str, spec: Mapping[str, Any], origin: Callable[[Path], Path], grants: Grants
    ) -> Iterator[Problem]:
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
        """The granted address patterns with their placeholders filled in. Raises: InvalidPart: a placeholder is unknown."""
        for index, pattern in enumerate(patterns or ()):
            try:
                yield str(fill(pattern, self._variables, ()))
            except InvalidPart as found:
                at = grant_at(self._fleet, self._scope.tenant, key, index)
                raise InvalidPart(replace(finding, path=at) for finding in found.findings) from None

    def _limits(self, kind: str, spec: Mapping[str, Any], origin: Callable[[Path], Path]) -> Iterator[Problem]:
        for limited in limited_in_spec(kind, spec):
            if (limited.limit, limited.value) in self._sound:
                continue
            own = tuple(refused_by_policy(limited.path, str(limited.value))) if limited.limit == INTERVAL else ()
            tenant = self._scope.tenant
            if not (own or (self._grants and any(beyond_limits(tenant, limited, limited.path)))):
                self._sound.add((limited.limit, limited.value))
                continue
            place = origin(limited.path)
            if place[-1:] not in (limited.path[-1:], ("chartInterval",)):
                continue  # the author wrote none here: it is the tenant's as a whole, or Tenantry's
            # With the author's name for it, as the rule about the same value.
            named = limited._replace(path=place)
            is_files = self._grants and is_filled(self._fleet, place)
            yield from beyond_limits(tenant, named, limited.path) if is_files else own

    def _placed(self, finding: Problem, origin: Callable[[Path], Path], *, filled: bool = True) -> Problem:
        """The finding where its value is written. Args: filled: whether a note says what placeholders became."""
        place = origin(finding.path)
        # What a placeholder of a password became is not repeated.
        notes = self._filled_in(place) if filled and finding.code != "secret-in-url" else ()
        return replace(finding, path=place, notes=(*finding.notes, *notes))

    def _filled_in(self, place: Path) -> Iterator[str]:
        """What placeholders at a place became, and where."""
        written = self._fleet.source.value(place)
        for name in dict.fromkeys(names_in(written)) if isinstance(written, str) else ():
            at = variable_at(self._fleet, self._scope.environment, self._scope.cluster, name, self._scope.tenant)
            where = f" ({self._fleet.source.line_of(at)})" if at else ""
            yield f"'{{{name}}}' is '{self._variables.get(name, '')}' on cluster '{self._scope.cluster}'{where}"


def below(*at: str | int) -> Callable[[Path], Path]:
    """The origin of the values of a block that stands at a path as a whole."""
    return lambda path: (*at, *path)
