"""Rules about grants, and what included files choose within them: clusters, roles, what they name, and values with a limit."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

from tenantry.fleet import walk
from tenantry.fleet.fleet import Fleet
from tenantry.fleet.names import format_part
from tenantry.fleet.placement import (
    cluster_is_granted,
    granted_selector,
)
from tenantry.fleet.settings import TIMES
from tenantry.flux.schemas import kinds, schema_of
from tenantry.grants.frames import PARTS
from tenantry.grants.grants import (
    BOUNDS,
    HISTORY,
    INTERVAL,
    MOST,
    RETRIES,
    SHORTEST_INTERVAL,
    TIMEOUT,
    filled_tenants,
    foreign_names,
    grant_at,
    is_filled,
)
from tenantry.messages.data import values_at
from tenantry.messages.errors import Path, Problem
from tenantry.messages.redact import shorten
from tenantry.messages.text import listed
from tenantry.model import PlacedSettings, Selector
from tenantry.model.durations import seconds_of
from tenantry.source.parsed_file import override_of


def included_files_choose_granted_clusters(fleet: Fleet) -> Iterator[Problem]:
    """An override brings nothing to a cluster, whichever it names."""
    for at, selector in walk.every(fleet, Selector):
        if not is_filled(fleet, at) or override_of(at):
            continue
        tenant = str(at[1])
        granted = [name for name in fleet.clusters if cluster_is_granted(fleet, tenant, name)]
        for index, name in enumerate(selector.names or ()):
            if name in fleet.clusters and name not in granted:
                yield _not_granted(
                    fleet,
                    tenant,
                    "clusters",
                    (*at, "names", index),
                    f"{format_part(at)} selects cluster '{name}', which is not granted to it",
                    granted,
                )


def included_files_give_owners_few_rights(fleet: Fleet) -> Iterator[Problem]:
    for tenant, _ in filled_tenants(fleet):
        allowed = owners_roles(fleet, tenant)
        for path, role in walk.roles_of(fleet, tenant):
            if is_filled(fleet, path) and role not in allowed:
                yield Problem(
                    path,
                    "not-granted",
                    f"role '{shorten(role)}' is not for owners in the file of tenant '{tenant}'",
                    (f"allowed: {listed(allowed)}",),
                    fix=f"write one of these, or ask the platform team to add the owner in {fleet.source.file}",
                )


def owners_roles(fleet: Fleet, tenant: str) -> tuple[str, ...]:
    """The roles that owners in a team's file may have: `edit` only where the tenant may do as much, everywhere."""
    own = {role for path, role in walk.roles_of(fleet, tenant) if "owners" not in path}
    return ("view", "edit") if own <= {"edit", "admin"} else ("view",)


def included_files_have_a_limited_number_of_parts(fleet: Fleet) -> Iterator[Problem]:
    for tenant, _ in filled_tenants(fleet):
        for key in (*PARTS, "namespaces"):
            paths = [("tenants", tenant, key, name) for name in fleet.raw("tenants", tenant, key)]
            entries, most = [path for path in paths if is_filled(fleet, path)], MOST[key]
            if len(entries) > most:
                message = f"the file of tenant '{tenant}' has {len(entries)} {key}, and may have {most}"
                fix = "remove some of them, or ask the platform team to declare some in the main file"
                yield Problem(entries[most], "over-limit", message, fix=fix, at_key=True)


def foreign_address(fleet: Fleet, tenant: str, kind: str, path: Path, granted: Collection[str]) -> Problem:
    """An included file names an address that the main file does not grant. The address itself may hold a password."""
    key = "alerts" if kind == "Provider" else "sources"
    what = f"the address of this {kind} is not granted to tenant '{tenant}'"
    return _not_granted(fleet, tenant, key, path, what, granted)


def not_advanced(fleet: Fleet, tenant: str, path: Path) -> Problem:
    """An included file sets a field of Flux's that reaches further than others. Args: path: in the spec."""
    where = fleet.source.line_of(grant_at(fleet, tenant, "settings"))
    return Problem(
        path,
        "not-granted",
        f"'{'.'.join(map(str, path))}' is an advanced field, which is not granted to tenant '{tenant}'",
        (f"grants: {where}",),
        fix="remove it, or ask the platform team to add 'advanced' to 'grants.settings' of the tenant",
    )


def _not_granted(fleet: Fleet, tenant: str, key: str, path: Path, message: str, granted: Collection[str]) -> Problem:
    at = granted_selector(fleet, tenant)[1] if key == "clusters" else grant_at(fleet, tenant, key)
    where = fleet.source.line_of(at)
    return Problem(
        path,
        "not-granted",
        message,
        (f"granted: {listed(granted) or 'none'} ({where})",),
        fix=f"choose a granted one, or ask the platform team to add it to 'grants.{key}' of the tenant",
    )


def included_files_name_what_is_theirs(fleet: Fleet) -> Iterator[Problem]:
    """As written; the plan looks again at what placeholders stand for."""
    for tenant, _ in filled_tenants(fleet):
        yield from foreign_names(fleet, tenant)


CLUSTER_ADMIN = "cluster-admin"


def times_of_tenants_are_within_bounds(fleet: Fleet) -> Iterator[Problem]:
    """Those of tenants as a whole; the plan checks apps, sources and alerts."""
    for at, given in walk.every(fleet, PlacedSettings):
        for key in TIMES:
            if (value := getattr(given, key)) and is_filled(fleet, path := (*at, key)):
                yield from beyond_limits(at[1], Limited(path, value, _limit_of_duration(key)), path)
            elif value and key != TIMEOUT:
                yield from refused_by_policy(path, value)


def cluster_admin_is_allowed_by_a_word_of_its_own(fleet: Fleet) -> Iterator[Problem]:
    """Whoever reviews a tenant's entry sees the word, wherever the role comes from."""
    for tenant, own in fleet.document.tenants.items():
        if own.clusterAdmin:
            continue
        for path, role in walk.roles_of(fleet, tenant):
            if role == CLUSTER_ADMIN:
                yield Problem(
                    path,
                    "cluster-admin",
                    f"tenant '{tenant}' would get {CLUSTER_ADMIN} in its namespaces",
                    fix="choose another role, or set 'clusterAdmin: true' for the tenant",
                )


# --- durations and numbers of Flux that have a limit ------------------------------------------------------------------


class Limited(NamedTuple):
    """A value with a limit, at a path. limit: its key in `BOUNDS`."""

    path: Path
    value: str | int
    limit: str


def limited_in_spec(kind: str, spec: Mapping[str, Any]) -> Iterator[Limited]:
    """The values of a spec of Flux."""
    for where, limit in _limits_of(kind):
        for path, value in values_at(spec, where):
            yield from _limited(value, limit, path)


def duration_paths() -> tuple[str, ...]:
    """The fields of Flux's specs that hold durations, such as `install.timeout`, of all kinds together."""
    limits = (limit for kind in kinds() for limit in _limits_of(kind))
    return tuple(sorted({".".join(path) for path, limit in limits if limit in (INTERVAL, TIMEOUT)}))


@cache
def _limits_of(kind: str) -> tuple[tuple[tuple[str, ...], str], ...]:
    """The fields of a kind's spec with a limit, each with its limit."""
    return tuple(_with_limits(schema_of(kind).spec, ()))


def _with_limits(schema: Mapping[str, Any], at: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    if schema.get("type") == "integer":
        yield at, HISTORY if at[-1:] == ("maxHistory",) else RETRIES
    elif schema.get("type") == "string" and "(ms|s|m" in schema.get("pattern", ""):
        yield at, _limit_of_duration(at[-1])
    below = {**schema.get("properties", {}), "*": schema.get("items") or schema.get("additionalProperties")}
    for key, part in below.items():
        yield from _with_limits(part, (*at, key)) if isinstance(part, Mapping) else ()


def beyond_limits(tenant: str, limited: Limited, path: Path) -> Iterator[Problem]:
    """A finding if a value of a tenant's included file is beyond its bounds. Args: path: where it is written."""
    least, most = BOUNDS[limited.limit]
    amount, low, high = (seconds_of(of) if isinstance(of, str) else of for of in (limited.value, least, most))
    if not low <= amount <= high:
        key, fix = limited.path[-1], f"write one from {least} to {most}"
        if key == RETRIES:
            fix += ", or 'strategy: {name: RetryOnFailure}' instead of 'remediation': it tries again after each retryInterval"
        code = "short-interval" if isinstance(limited.value, str) and amount < low else "over-limit"
        message = f"{key} '{limited.value}' is not from {least} to {most}, the bounds of tenant '{tenant}'"
        yield Problem(path, code, message, fix=fix)


def refused_by_policy(path: Path, value: str) -> Iterator[Problem]:
    """A finding if the admission policy of the clusters refuses an interval of a tenant, whoever wrote it."""
    if seconds_of(value) < seconds_of(SHORTEST_INTERVAL):
        yield Problem(
            path,
            "short-interval",
            f"{path[-1]} '{value}' is shorter than '{SHORTEST_INTERVAL}', so the admission policy of the clusters would refuse it",
            fix=f"write '{SHORTEST_INTERVAL}' or more",
        )


def _limited(value: Any, limit: str, at: Path) -> Iterator[Limited]:
    if isinstance(value, float) and value.is_integer():  # `-1.0` is a whole number for an API server
        value = int(value)
    if isinstance(value, str if limit in (INTERVAL, TIMEOUT) else int) and not isinstance(value, bool):
        yield Limited(at, value, limit)


def _limit_of_duration(name: str) -> str:
    return INTERVAL if name.lower().endswith("interval") else TIMEOUT
