"""What the main file grants to tenants' included files, as far as it becomes more in an environment.

Grants change no object, so no plan holds them: both fleets are compared. Addresses are compared as they are written; what a
variable in them becomes is not.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from tenantry.fleet.fleet import Fleet, clusters_of
from tenantry.fleet.placement import cluster_is_granted, tenant_barrier
from tenantry.grants.authors import is_own
from tenantry.grants.grants import DEFAULT_ROLES, LIMITS, SHORTEST_INTERVAL, grants_of, is_covered, limit_of
from tenantry.grants.model import Share
from tenantry.model.scalars import seconds_of

_ADDRESSES = ("sources", "alerts", "push")
_SHARED = tuple(Share.model_fields)
_NAMES = ("clusters", "settings", "roles", "labels", "annotations", *(f"share.{key}" for key in _SHARED))


@dataclass(frozen=True, slots=True)
class _Granted:
    """Everything that is granted in one environment. names: by the key of the grant. limits: by their keys in `grants.limits`."""

    names: dict[str, tuple[str, ...]]
    interval: str = ""
    limits: dict[str, str | int] = field(default_factory=dict)


_NOTHING = _Granted({key: () for key in (*_NAMES, *_ADDRESSES)})


class Widened(NamedTuple):
    """A tenant that is granted more. gains: what is new, by the key of the grant."""

    tenant: str
    gains: tuple[tuple[str, tuple[str, ...]], ...]


def widened(before: Fleet, after: Fleet, environment: str) -> tuple[Widened, ...]:
    """The tenants of both fleets that are granted more in an environment that both declare."""
    there = before.document.tenants
    found = (
        Widened(
            tenant,
            (
                *_gains(_granted(before, tenant, environment), _granted(after, tenant, environment)),
                *_given_away(before, after, tenant),
            ),
        )
        for tenant in after.document.tenants
        if tenant in there
    )
    return tuple(each for each in found if each.gains)


def _given_away(before: Fleet, after: Fleet, tenant: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Credentials that were the main file's. The included file declares them now, so it may use them for everything."""
    key = "credentials"
    names = (name for name in after.raw("tenants", tenant, key) if not is_own(before, tenant, key, name))
    if given := tuple(name for name in names if is_own(after, tenant, key, name)):
        yield key, given


def _granted(fleet: Fleet, tenant: str, environment: str) -> _Granted:
    grants = grants_of(fleet, tenant)
    if grants is None or tenant_barrier(fleet, environment, tenant):
        return _NOTHING
    keys = ("settings", "roles", "labels", "annotations", *_ADDRESSES)
    names = {key: tuple(getattr(grants, key) or ()) for key in keys}
    names |= {f"share.{key}": tuple(getattr(grants.share, key, None) or ()) for key in _SHARED}
    here = clusters_of(fleet, environment)
    names["clusters"] = tuple(each for each in here if cluster_is_granted(fleet, tenant, each))
    names["roles"] = DEFAULT_ROLES if grants.roles is None else names["roles"]
    return _Granted(names, grants.shortestInterval or SHORTEST_INTERVAL, {key: limit_of(grants, key) for key in LIMITS})


def _gains(before: _Granted, after: _Granted) -> Iterator[tuple[str, tuple[str, ...]]]:
    for key in _NAMES:
        if new := tuple(each for each in after.names[key] if each not in before.names[key]):
            yield key, new
    for key in _ADDRESSES:
        known = before.names[key]
        if new := tuple(each for each in after.names[key] if not is_covered(each, known)):
            yield key, new
    if before.interval and after.interval and seconds_of(after.interval) < seconds_of(before.interval):
        yield "shortestInterval", (after.interval,)
    for key, most in before.limits.items():
        if after.limits and _size(after.limits[key]) > _size(most):
            yield f"limits.{key}", (str(after.limits[key]),)


def _size(limit: str | int) -> float:
    return seconds_of(limit) if isinstance(limit, str) else limit
