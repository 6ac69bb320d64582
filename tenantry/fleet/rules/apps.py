"""Rules about apps and add-ons: their sources, their dependencies and their overrides."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from tenantry.fleet import walk
from tenantry.fleet.blocks import PLATFORM, chart_entries
from tenantry.fleet.fleet import Fleet
from tenantry.fleet.templates import is_shared
from tenantry.kube.names import ADDON_PREFIX, addon_named
from tenantry.messages.errors import Path, Problem
from tenantry.messages.placeholders import is_unfilled
from tenantry.messages.problems import doubtful, shown, undeclared
from tenantry.messages.redact import shorten
from tenantry.messages.text import declared
from tenantry.model import (
    App,
    ObjectsChart,
    PlacedSettings,
    Source,
)

_CORRECT = "correct the name, or remove it"


def apps_name_declared_sources(fleet: Fleet) -> Iterator[Problem]:
    # As written, so that a mistake elsewhere in a tenant or an app does not hide this one.
    for owner in (*(("tenants", tenant) for tenant in fleet.raw("tenants")), ("platform",)):
        known = fleet.names(*owner, "sources")
        # Sources that are no mapping have a finding of their own.
        at_all = isinstance(fleet.raw(*owner).get("sources", {}), dict)
        group, whose = ("apps", "tenant") if owner[1:] else ("addons", "platform")
        for at in ((*owner, group, app) for app in fleet.raw(*owner, group)):
            for path, block in walk.blocks(fleet, at):
                name = block.get("source")
                if isinstance(name, str) and name not in known and at_all:
                    yield Problem(
                        (*path, "source"),
                        "unknown-source",
                        f"{walk.format_app(at)} uses source '{name}', which the {whose} does not declare",
                        (declared("declared", name, known),),
                        fix=f"declare it under '{'.'.join((*owner, 'sources'))}:', or correct the name",
                    )


def charts_of_repositories_have_plain_names(fleet: Fleet) -> Iterator[Problem]:
    """Helm takes the name of a repository before a `/`, as in `helm install web bitnami/nginx`; Flux and indexes do not."""
    for at, _, app, declared_app in walk.apps(fleet):
        for path, block in walk.blocks(fleet, at):
            chart = block.get("chart")
            source = _source_of(fleet, at, declared_app, block)
            plain = source and source.helm and source.helm.flux["type"] != "oci"
            if plain and isinstance(chart, str) and "/" in chart and not is_unfilled(chart):
                yield doubtful(
                    (*path, "chart"),
                    "odd-chart",
                    f"app '{app}' names chart {shown(chart)}, but no chart of a Helm repository has a '/' in its name",
                    fix=f"write '{shorten(chart.rpartition('/')[2])}'",
                )


def _source_of(fleet: Fleet, at: tuple[str, ...], app: App, block: dict[str, Any]) -> Source | None:
    if app.source:
        return app.source
    own = app.helm.source if app.helm else None
    name = block.get("source", own)
    return walk.owner_of(fleet, at).sources.get(name) if isinstance(name, str) else None


def kustomize_apps_take_no_helm_repositories(fleet: Fleet) -> Iterator[Problem]:
    for at, _, app, _ in walk.apps(fleet):
        owner = walk.owner_of(fleet, at)
        for path, block in walk.blocks(fleet, at):
            source = owner.sources.get(str(block.get("source")))
            if path[-1] == "kustomize" and source and source.helm:
                message = f"app '{app}' is a 'kustomize:' app, but source '{block['source']}' is a Helm repository"
                fitting = [name for name, source in owner.sources.items() if not source.helm]
                meant = f"write '{fitting[0]}'" if len(fitting) == 1 else "name a source of another kind"
                yield Problem((*path, "source"), "wrong-source", message, fix=f"{meant}, or use 'helm:'")
    for addon, declared_addon in fleet.document.platform.addons.items():
        if declared_addon.kind == "kustomize" and declared_addon.source and declared_addon.source.helm:
            message = f"add-on '{addon}' is a 'kustomize:' app, but its source is a Helm repository"
            place = ("platform", "addons", addon, "source")
            yield Problem(place, "wrong-source", message, fix="use a source of another kind, or 'helm:'")


def addons_have_one_source(fleet: Fleet) -> Iterator[Problem]:
    for addon, declared_addon in fleet.document.platform.addons.items():
        at = ("platform", "addons", addon)
        named = [path for path, block in walk.blocks(fleet, at) if "source" in block]
        if declared_addon.source is None and not named:
            block = f"{declared_addon.kind}: {{source: NAME}}"
            message = f"add-on '{addon}' has no source"
            fix = f"write '{block}' with a name of 'platform.sources', or a 'source:' of its own"
            yield Problem(at, "missing-key", message, fix=fix, at_key=True)
        for path in named if declared_addon.source else ():
            message = f"add-on '{addon}' names a source, and has one of its own"
            yield Problem((*path, "source"), "bad-combination", message, fix="remove one of them", at_key=True)


def sources_and_addons_have_other_names(fleet: Fleet) -> Iterator[Problem]:
    """Commands name both."""
    addons = fleet.names("platform", "addons")
    for name in fleet.raw("platform", "sources"):
        if name in addons:
            message = f"source '{name}' of the platform has the name of an add-on"
            yield Problem(
                ("platform", "sources", name), "duplicate-name", message, fix="rename one of them", at_key=True
            )


def overrides_name_what_is_declared(fleet: Fleet) -> Iterator[Problem]:
    for path, when in walk.conditions(fleet):
        for index, name in enumerate(when.environments or ()):
            if name not in fleet.document.environments:
                message, place = f"an override is for environment '{name}'", (*path, "environments", index)
                is_cluster = name in fleet.names("clusters")
                fix = f"write 'clusters: {{names: [{name}]}}': it is a cluster" if is_cluster else _CORRECT
                yield undeclared(place, "environment", name, message, fleet.document.environments, fix)


def overrides_name_declared_apps_and_sources(fleet: Fleet) -> Iterator[Problem]:
    """In `defaults` and in templates they may be those that a tenant adds."""
    platform = fleet.document.platform
    for path, of_platform in walk.overrides(platform.overrides, ("platform",)):
        yield from _absent(fleet, path, ("platform",), {"addons": of_platform.addons, "sources": of_platform.sources})
    for tenant, declared_tenant in fleet.document.tenants.items():
        for path, override in walk.overrides(declared_tenant.overrides, ("tenants", tenant)):
            if not is_shared(fleet.source.origin(path)):
                named: dict[str, Mapping[str, object]] = {"apps": override.apps, "sources": override.sources}
                yield from _absent(fleet, path, ("tenants", tenant), named)


def _absent(
    fleet: Fleet, path: Path, owner: tuple[str, ...], named: Mapping[str, Mapping[str, object]]
) -> Iterator[Problem]:
    """The entries that an override names and its owner does not have."""
    for group, entries in named.items():
        known = fleet.names(*owner, group)
        for name in entries:
            if name not in known:
                kind = group.removesuffix("s")
                message = f"an override changes {'add-on' if kind == 'addon' else kind} '{name}'"
                yield undeclared((*path, group, name), kind, name, message, known, _CORRECT, at_key=True)


def overrides_keep_kinds(fleet: Fleet) -> Iterator[Problem]:
    """Of apps, of sources and of the platform's chart."""
    for at, _, app, declared_app in walk.apps(fleet):
        patches = ((path, fleet.raw(*path)) for path, _ in walk.app_patches(fleet, at, declared_app))
        fix = "declare a second app with its own clusters"
        yield from _changed(f"app '{app}'", declared_app.kind, App.one_of, patches, fix)
    for at, source in walk.sources(fleet):
        changes = ((path, fleet.raw(*path)) for path, _ in walk.source_patches(fleet, at))
        fix = "declare a second source, and let apps name it in an override"
        yield from _changed(walk.format_source(at), source.kind, Source.one_of, changes, fix)
    charts = dict(chart_entries(fleet.source.data))
    chart = charts.pop((*PLATFORM, "chart"), {})
    if kind := next((kind for kind in ObjectsChart.one_of if chart.get(kind)), None):
        fix = "write the chart of each environment in an override, and none beside 'overrides'"
        yield from _changed("'platform.chart'", kind, ObjectsChart.one_of, charts.items(), fix)


def _changed(
    what: str, kind: str, kinds: Collection[str], patches: Iterable[tuple[Path, Mapping[str, Any]]], fix: str
) -> Iterator[Problem]:
    """A finding for each other kind in what overrides say. Args: patches: each with its path."""
    for path, patch in patches:
        for other in (other for other in kinds if other != kind and patch.get(other) is not None):
            message = f"{what} is '{kind}:', and an override cannot change that to '{other}:'"
            yield Problem((*path, other), "changed-kind", message, fix=fix, at_key=True)


def dependencies_are_declared_apps(fleet: Fleet) -> Iterator[Problem]:
    for at, _, app, declared_app in walk.apps(fleet):
        known = fleet.names(*at[:-1])
        for place, name in _entries(fleet, at, declared_app):
            if name == app:
                yield Problem(place, "dependency-cycle", f"app '{app}' depends on itself", fix="remove it")
            elif name not in known and addon_named(name) is None:
                is_addon = at[0] == "tenants" and name in fleet.names("platform", "addons")
                fix = f"write '{ADDON_PREFIX}{name}' for the add-on" if is_addon else _CORRECT
                message = f"app '{app}' depends on '{name}', which is not declared beside it"
                yield Problem(place, "unknown-app", message, (declared("declared", name, known - {app}),), fix)


def dependencies_on_addons_are_declared(fleet: Fleet) -> Iterator[Problem]:
    known = fleet.names("platform", "addons")
    for at, _, app, declared_app in walk.apps(fleet):
        for place, name in _entries(fleet, at, declared_app):
            if (addon := addon_named(name)) is None:
                continue
            if at[0] == "platform":
                message = f"add-on '{app}' depends on '{name}': add-ons refer to each other without the prefix"
                yield Problem(place, "needless-prefix", message, fix=f"write '{addon}'")
            elif addon not in known:
                message = f"app '{app}' depends on add-on '{addon}'"
                fix = "declare it under 'platform.addons:', or correct the name"
                yield undeclared(place, "addon", addon, message, known, fix)


def tenants_depend_on_declared_addons(fleet: Fleet) -> Iterator[Problem]:
    addons = fleet.names("platform", "addons")
    for at, settings in walk.settings(fleet):
        for index, name in enumerate(settings.dependsOn or () if isinstance(settings, PlacedSettings) else ()):
            place = (*at, "dependsOn", index)
            if (addon := addon_named(name)) is None:
                fix = f"write '{ADDON_PREFIX}{name}'" if name in addons else "set 'dependsOn' of an app instead"
                message = f"tenants depend on add-ons, and '{name}' has no prefix '{ADDON_PREFIX}'"
                yield Problem(place, "not-an-addon", message, fix=fix)
            elif addon not in addons:
                message = f"add-on '{addon}' is not declared"
                notes = (declared("declared", addon, addons),)
                fix = "declare it under 'platform.addons:', or correct the name"
                yield Problem(place, "unknown-addon", message, notes, fix)


def _entries(fleet: Fleet, at: tuple[str, ...], app: App) -> Iterator[tuple[Path, str]]:
    """Every dependency of the app and its overrides, with its place."""
    for path, names in walk.dependencies(fleet, at, app):
        yield from (((*path, index), name) for index, name in enumerate(names))
