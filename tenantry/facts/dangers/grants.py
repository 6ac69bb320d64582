"""Tenants whose included files may do more than before: judged by what grants allow, because a pattern can cover another one."""

from __future__ import annotations

from collections.abc import Iterator

from tenantry.facts.dangers.found import DangerKind, Found, Rank
from tenantry.facts.subjects import Kind, Subject
from tenantry.fleet.fleet import Fleet, clusters_of
from tenantry.fleet.placement import cluster_is_granted, tenant_barrier
from tenantry.grants.authors import is_own
from tenantry.grants.grants import grants_of, is_covered
from tenantry.messages.text import listed

_ADDRESSES = ("sources", "alerts")
_NAMES = ("clusters", "settings")


def grant_dangers(before: Fleet, after: Fleet, environment: str) -> Iterator[Found]:
    """The tenants of both fleets that are granted more in an environment that both declare."""
    for tenant in after.document.tenants:
        if tenant not in before.document.tenants:
            continue
        gains = [
            *_gains(_granted(before, tenant, environment), _granted(after, tenant, environment)),
            *_given_away(before, after, tenant),
        ]
        if gains:
            text = "; ".join(f"{key} {listed(names)}" for key, names in gains)
            subject = Subject(Kind.TENANT, tenant)
            yield Found(DangerKind.RIGHTS, Rank.ACCESS, subject, "", f"its included files may do more: {text}")


def _given_away(before: Fleet, after: Fleet, tenant: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Credentials that were the main file's. The included file declares them now, so it may use them for everything."""
    key = "credentials"
    names = (name for name in after.raw("tenants", tenant, key) if not is_own(before, tenant, key, name))
    if given := tuple(name for name in names if is_own(after, tenant, key, name)):
        yield key, given


def _granted(fleet: Fleet, tenant: str, environment: str) -> dict[str, tuple[str, ...]]:
    """What is granted in one environment, by the key of the grant."""
    grants = grants_of(fleet, tenant)
    if grants is None or tenant_barrier(fleet, environment, tenant):
        return {key: () for key in (*_NAMES, *_ADDRESSES)}
    here = clusters_of(fleet, environment)
    return {
        "clusters": tuple(cluster for cluster in here if cluster_is_granted(fleet, tenant, cluster)),
        **{key: tuple(getattr(grants, key) or ()) for key in ("settings", *_ADDRESSES)},
    }


def _gains(
    before: dict[str, tuple[str, ...]], after: dict[str, tuple[str, ...]]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    for key in _NAMES:
        if new := tuple(name for name in after[key] if name not in before[key]):
            yield key, new
    for key in _ADDRESSES:
        if new := tuple(pattern for pattern in after[key] if not is_covered(pattern, before[key])):
            yield key, new
