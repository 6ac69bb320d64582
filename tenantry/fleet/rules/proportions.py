"""Rules about what is right by itself and does not fit together: times, a quota without defaults for containers, one content twice,
and chains of apps for which a run waits too long.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from graphlib import CycleError, TopologicalSorter
from operator import itemgetter

from tenantry.fleet import walk
from tenantry.fleet.apps import app_layers
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
from tenantry.kube.names import addon_named
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
    without_default: dict[Path, tuple[str, str, str]] = {}
    for tenant, environment, cluster in _placements(fleet):
        for key in ("", *fleet.raw("tenants", tenant, "namespaces")):
            layers = namespace_layers(fleet, tenant, environment, cluster, key)
            settings = merge(layers)
            for name in mapping_at(settings, "quota"):
                kind, _, resource = name.rpartition(".")
                limits = (mapping_at(settings, "limits", part) for part in _DEFAULTED_BY.get(kind or "requests", ()))
                if resource in _COUNTED and not any(resource in part for part in limits):
                    where = f"tenant '{tenant}'" + (f", namespace '{key}'" if key else "")
                    without_default.setdefault(origin(layers, ("quota", name)), (kind or "requests", resource, where))
    for path, (kind, resource, where) in without_default.items():
        message = f"this quota refuses pods with a container that has no {kind}.{resource}, and 'limits' gives it none"
        fix = f"write 'limits: {{{_DEFAULTED_BY[kind][0]}: {{{resource}: QUANTITY}}}}' beside 'quota'"
        yield doubtful(path, "no-default", message, (f"so it is for {where}",), fix=fix, at_key=True)


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


_OF_CONTENT = ("source", "targetNamespace", "namePrefix", "nameSuffix", "components", "patches", "postBuild")


def apps_without_a_path_are_alone(fleet: Fleet) -> Iterator[Problem]:
    """Two that take the root of one source are as two with the same path, which the plan refuses. That root may still be empty."""
    owners: dict[Path, list[tuple[str, ...]]] = {}
    for at, *_ in walk.apps(fleet):
        blocks = [block for path, block in walk.blocks(fleet, at) if path[-1] == "kustomize"]
        if blocks and not any("path" in block for block in blocks):
            owners.setdefault(at[:-1], []).append(at)
    for apps in owners.values():
        first: dict[tuple[str, str], tuple[str, ...]] = {}
        for at in apps if apps[1:] else ():
            same = next((placed for placed in _of_one_content(fleet, at, first) if placed != at), None)
            if same:
                both = f"{walk.format_app(at)} and {walk.format_app(same)}"
                message = (
                    f"{both} have no 'path', and both would install all of one source: when one of them goes, Flux removes"
                    " what the other one has"
                )
                fix = f"write 'path: ./{at[-1]}' in 'kustomize:', or the directory that it is to install"
                yield doubtful(at, "installed-twice", message, fix=fix, at_key=True)


def _of_one_content(
    fleet: Fleet, at: tuple[str, ...], first: dict[tuple[str, str], tuple[str, ...]]
) -> Iterator[tuple[str, ...]]:
    """For each placement of an app, the first one that installs the same there."""
    for environment, cluster in placements_of(fleet, at):
        block = mapping_at(merge(app_layers(fleet, at, environment, cluster)), "kustomize")
        own = () if block.get("source") else at  # an add-on has a source of its own
        content = [*(block.get(key) for key in _OF_CONTENT), fleet.raw(*at).get("namespace"), own]
        yield first.setdefault((cluster, repr(content)), at)


_LONGEST = 24 * 3600


def chains_of_apps_end_in_a_day(fleet: Fleet) -> Iterator[Problem]:
    """A run waits for each app before those that depend on it, so the timeouts of a chain add up."""
    owners: dict[tuple[str, ...], dict[str, set[str]]] = {}
    for at, siblings, name, app in walk.apps(fleet):
        named = (name_of_app for _, names in walk.dependencies(fleet, at, app) for name_of_app in names)
        plain = (
            addon_named(name_of_app) or name_of_app if at[0] == "platform" else name_of_app for name_of_app in named
        )
        owners.setdefault(at[:-1], {})[name] = {name_of_app for name_of_app in plain if name_of_app in siblings}
    for section, after in owners.items():
        ends: dict[str, tuple[float, int]] = {}
        # What overrides say of several clusters may be a circle that no cluster has.
        with suppress(CycleError):
            for name in TopologicalSorter(after).static_order() if any(after.values()) else ():
                seconds, apps = max((ends[name_before] for name_before in after[name]), default=(0.0, 0))
                ends[name] = seconds + _timeout(fleet, (*section, name)), apps + 1
        if ends and (longest := max(ends.items(), key=itemgetter(1)))[1][0] > _LONGEST:
            name, (seconds, apps) = longest
            message = (
                f"'{name}' is the last of {apps} apps that run one after the other, and their timeouts add up to"
                f" {seconds / 3600:.0f} hours: so long can a run last"
            )
            fix = "write shorter timeouts, or let fewer apps depend on each other"
            yield doubtful((*section, name), "long-chain", message, fix=fix, at_key=True)


def _timeout(fleet: Fleet, at: tuple[str, ...]) -> float:
    """The longest timeout that is written for an app, or its owner's."""
    owner = fleet.valid(*at[:2]) if at[0] == "tenants" else fleet.valid("defaults")
    written = [block["timeout"] for _, block in walk.blocks(fleet, at) if "timeout" in block]
    return max(seconds_of(str(timeout)) for timeout in written or [owner.get("timeout", TenantSettings().timeout)])
