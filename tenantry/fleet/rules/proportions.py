"""Settings that are right by themselves and do not fit each other: times, and a quota without defaults for containers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tenantry.fleet.fleet import Fleet
from tenantry.fleet.merge import Layer, merge, origin
from tenantry.fleet.placement import placements_of
from tenantry.fleet.settings import (
    TIMES,
    TenantSettings,
    namespace_layers,
    platform_layers,
    settings_alike,
    settings_layers,
)
from tenantry.messages.data import mapping_at
from tenantry.messages.errors import Path, Problem
from tenantry.messages.problems import doubtful
from tenantry.model.durations import seconds_of

_SHORTEST = 10
"""Seconds between two attempts of a failed app. What fails in a cluster seldom works again sooner."""
_DEFAULTS = TenantSettings()


def times_fit_the_interval(fleet: Fleet) -> Iterator[Problem]:
    tenants = [settings_layers(fleet, *placement) for placement in _placements(fleet)]
    addons = [platform_layers(fleet)] if fleet.document.platform.addons else []
    yield from dict.fromkeys(problem for layers in (*tenants, *addons) for problem in _times(layers))


def _times(layers: Sequence[Layer]) -> Iterator[Problem]:
    written = merge(layers)
    interval, retry, timeout = (str(written.get(key, getattr(_DEFAULTS, key))) for key in TIMES)

    def at(key: str) -> Path:
        return origin(layers, (key if key in written else "interval",))

    if seconds_of(timeout) > seconds_of(interval):
        message = f"an app that does not become ready holds a worker of Flux for {timeout}, longer than its interval of {interval}"
        fix = f"write 'interval: {timeout}' or more, or a shorter 'timeout'"
        yield doubtful(at("timeout"), "long-time", message, fix=fix, at_key=True)
    if seconds_of(retry) > seconds_of(interval):
        message = f"a failed app is retried after {retry}, later than Flux looks at one that works ({interval})"
        fix = f"write 'interval: {retry}' or more, or a shorter 'retryInterval'"
        yield doubtful(at("retryInterval"), "long-time", message, fix=fix, at_key=True)
    elif seconds_of(retry) < _SHORTEST:
        ratio = round(seconds_of(interval) / (seconds_of(retry) or 1))
        message = f"a failed app is retried every {retry}, so it costs Flux as much as {ratio} apps that work"
        yield doubtful(
            at("retryInterval"), "short-time", message, fix="write 'retryInterval: 30s' or more", at_key=True
        )


_DEFAULTED_BY = {
    "requests": ("defaultRequest", "default", "min", "max"),
    "limits": ("default", "max"),
}
"""The parts of a LimitRange that give a container a request or a limit if it has none.

Source: kubernetes.io, LimitRange, and the API server's defaults for it: a request defaults to the limit, a limit to `max`.
"""
_COUNTED = ("cpu", "memory")
"""A quota on these refuses pods with a container that lacks a value. Source: kubernetes.io, Resource Quotas."""


def quotas_come_with_defaults_for_containers(fleet: Fleet) -> Iterator[Problem]:
    found: dict[Path, tuple[str, str, str]] = {}
    for tenant, environment, cluster in _placements(fleet):
        for key in ("", *fleet.raw("tenants", tenant, "namespaces")):
            layers = namespace_layers(fleet, tenant, environment, cluster, key)
            settings = merge(layers)
            for name in mapping_at(settings, "quota"):
                kind, _, resource = name.rpartition(".")
                if resource in _COUNTED and not _has_default(settings, kind or "requests", resource):
                    where = f"tenant '{tenant}'" + (f", namespace '{key}'" if key else "")
                    found.setdefault(origin(layers, ("quota", name)), (kind or "requests", resource, where))
    for path, (kind, resource, where) in found.items():
        message = f"this quota refuses pods with a container that has no {kind}.{resource}, and 'limits' gives it none"
        fix = f"write 'limits: {{{_DEFAULTED_BY[kind][0]}: {{{resource}: QUANTITY}}}}' beside 'quota'"
        yield doubtful(path, "no-default", message, (f"so it is for {where}",), fix=fix, at_key=True)


def _has_default(settings: Mapping[str, Any], kind: str, resource: str) -> bool:
    return any(resource in mapping_at(settings, "limits", part) for part in _DEFAULTED_BY.get(kind, ()))


def _placements(fleet: Fleet) -> tuple[tuple[str, str, str], ...]:
    return fleet.once(("distinct placements",), (), lambda: tuple(_distinct(fleet)))


def _distinct(fleet: Fleet) -> Iterator[tuple[str, str, str]]:
    """Tenant, environment and cluster of apps: one of those on which the same lines set the tenant's settings."""
    for tenant, declared in fleet.document.tenants.items():
        apps = (("tenants", tenant, "apps", app) for app in declared.apps)
        seen = set()
        for environment, cluster in dict.fromkeys(placement for app in apps for placement in placements_of(fleet, app)):
            lines = settings_alike(fleet, tenant, environment, cluster)
            if lines not in seen:
                seen.add(lines)
                yield tenant, environment, cluster
