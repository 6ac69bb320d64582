"""Which values of a tenant's entry, and of the specs that become of it, have a limit: durations and numbers of Flux."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from tenantry.fleet.parts import parts
from tenantry.flux.schemas import kinds, schema_of
from tenantry.grants.grants import (
    HISTORY,
    INTERVAL,
    LIMITS,
    POLICYS_SHORTEST,
    RETRIES,
    SHORTEST_INTERVAL,
    TIMEOUT,
)
from tenantry.messages.errors import Path, Problem
from tenantry.model import FluxBlock, Tenant
from tenantry.model.durations import is_duration, seconds_of

_SHORTEST_TIMEOUT = "1s"
"""For some programs a timeout of zero means to wait without end."""


class Limited(NamedTuple):
    """A value with a limit, at a path. limit: its key in `LIMITS`."""

    path: Path
    value: str | int
    limit: str


def limited_in_tenant(entry: Mapping[str, Any]) -> Iterator[Limited]:
    """The values of a tenant's entry as it is written, with those in blocks of Flux."""
    limited: dict[Path, Limited] = {}
    for path, type_, written in parts(Tenant, entry, (), _has_limits):
        if is_duration(type_):
            limited |= {inner.path: inner for inner in _limited(written, _limit_of_duration(str(path[-1])), path)}
        elif isinstance(written, Mapping):
            for kind in (type_.flux_kind, *type_.parts):
                of_flux = _found(written, schema_of(kind).spec, path)
                limited |= {inner.path: inner for inner in of_flux if inner.path[len(path)] not in type_.owned}
    yield from limited.values()


def _has_limits(type_: Any) -> bool:
    return is_duration(type_) or (isinstance(type_, type) and issubclass(type_, FluxBlock))


def limited_in_spec(kind: str, spec: Mapping[str, Any]) -> Iterator[Limited]:
    """The values of a finished spec of Flux."""
    return _found(spec, schema_of(kind).spec, ())


def duration_paths() -> tuple[str, ...]:
    """The fields of Flux's specs that hold durations, such as `install.timeout`, of all kinds together."""
    return tuple(sorted({path for kind in kinds() for path in _durations_in(schema_of(kind).spec, ())}))


def _durations_in(schema: Mapping[str, Any], at: tuple[str, ...]) -> Iterator[str]:
    if _limit_of(schema, at[-1:]) in (INTERVAL, TIMEOUT):
        yield ".".join(at)
    below = {**schema.get("properties", {}), "*": schema.get("items") or schema.get("additionalProperties")}
    for key, part in below.items():
        yield from _durations_in(part, (*at, key)) if isinstance(part, Mapping) else ()


def beyond_limits(tenant: str, limited: Limited, path: Path) -> Iterator[Problem]:
    """A finding if a value of a tenant's included file is beyond its bounds. Args: path: where it is written."""
    value, key = limited.value, limited.path[-1]
    if isinstance(value, int):
        yield from _beyond_number(tenant, limited, path)
        return
    longest = str(LIMITS[limited.limit])
    shortest = SHORTEST_INTERVAL if limited.limit == INTERVAL else _SHORTEST_TIMEOUT
    if seconds_of(value) < seconds_of(shortest):
        message = f"{key} '{value}' is shorter than '{shortest}', the shortest for tenant '{tenant}'"
        yield Problem(path, "short-interval", message, fix=f"write '{shortest}' or more")
    elif seconds_of(value) > seconds_of(longest):
        message = f"{key} '{value}' is longer than '{longest}', the longest for tenant '{tenant}'"
        yield Problem(path, "over-limit", message, fix=f"write '{longest}' or less")


def refused_by_policy(path: Path, value: str) -> Iterator[Problem]:
    """A finding if the admission policy of the clusters refuses an interval of a tenant, whoever wrote it."""
    if seconds_of(value) < seconds_of(POLICYS_SHORTEST):
        yield Problem(
            path,
            "short-interval",
            f"{path[-1]} '{value}' is shorter than '{POLICYS_SHORTEST}', so the admission policy of the clusters would refuse it",
            fix=f"write '{POLICYS_SHORTEST}' or more",
        )


def too_many(tenant: str, key: str, entries: list[Path]) -> Iterator[Problem]:
    """A finding at the first entry of an included file that is one too many."""
    most = int(LIMITS[key])
    if len(entries) > most:
        message = f"the file of tenant '{tenant}' has {len(entries)} {key}, and may have {most}"
        fix = "remove some of them, or ask the platform team to declare some in the main file"
        yield Problem(entries[most], "over-limit", message, fix=fix, at_key=True)


def _beyond_number(tenant: str, limited: Limited, path: Path) -> Iterator[Problem]:
    most, least = int(LIMITS[limited.limit]), int(limited.limit == HISTORY)
    key, value = limited.path[-1], int(limited.value)
    fix = f"write a number from {least} to {most}"
    if key == RETRIES:
        fix += (
            ", or 'strategy: {name: RetryOnFailure}' instead of 'remediation': it tries again after each retryInterval"
        )
    if value < least:
        message = f"{key} {value} is without end, and would be at the cost of all tenants"
        yield Problem(path, "over-limit", message, fix=fix)
    elif value > most:
        yield Problem(path, "over-limit", f"{key} {value} is more than {most}, the most for tenant '{tenant}'", fix=fix)


def _found(value: Any, schema: Mapping[str, Any], at: Path) -> Iterator[Limited]:
    """The values with a limit in a part of a spec. Args: schema: Flux's, of the part."""
    if limit := _limit_of(schema, at[-1:]):
        yield from _limited(value, limit, at)
    elif isinstance(value, Mapping):
        named, others = schema.get("properties", {}), schema.get("additionalProperties")
        for key, inner in value.items():
            if isinstance(part := named.get(key, others), Mapping):
                yield from _found(inner, part, (*at, key))
    elif isinstance(value, list) and isinstance(part := schema.get("items"), Mapping):
        for index, inner in enumerate(value):
            yield from _found(inner, part, (*at, index))


def _limited(value: Any, limit: str, at: Path) -> Iterator[Limited]:
    if isinstance(value, float) and value.is_integer():  # `-1.0` is a whole number for an API server
        value = int(value)
    if isinstance(value, str if limit in (INTERVAL, TIMEOUT) else int) and not isinstance(value, bool):
        yield Limited(at, value, limit)


def _limit_of(schema: Mapping[str, Any], name: Path) -> str:
    """The limit of the values of a schema; "" if they have none. Args: name: the last part of their path."""
    if schema.get("type") == "integer":
        return HISTORY if name == ("maxHistory",) else RETRIES
    is_duration_of_flux = schema.get("type") == "string" and "(ms|s|m" in schema.get("pattern", "")
    return _limit_of_duration("".join(map(str, name))) if is_duration_of_flux else ""


def _limit_of_duration(name: str) -> str:
    return INTERVAL if name.lower().endswith("interval") else TIMEOUT
