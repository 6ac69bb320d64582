"""Rules about the dependencies of apps and add-ons."""

from __future__ import annotations

from collections.abc import Iterator

from tenantry.fleet import walk
from tenantry.fleet.fleet import Fleet
from tenantry.kube.names import ADDON_PREFIX, addon_named
from tenantry.messages.errors import Finding, Path
from tenantry.messages.text import declared
from tenantry.model import App, PlacedSettings


def dependencies_are_declared_apps(fleet: Fleet) -> Iterator[Finding]:
    for at, _, app, declared_app in walk.apps(fleet):
        known = fleet.names(*at[:-1])
        for place, name in _entries(at, declared_app):
            if name == app:
                yield Finding(place, "dependency-cycle", f"app '{app}' depends on itself", fix="remove it")
            elif name not in known and addon_named(name) is None:
                meant = at[0] == "tenants" and name in fleet.names("platform", "addons")
                yield Finding(
                    place,
                    "unknown-app",
                    f"app '{app}' depends on '{name}', which is not declared beside it",
                    (declared("declared", name, known - {app}),),
                    fix=f"write '{ADDON_PREFIX}{name}' for the add-on" if meant else "correct the name, or remove it",
                )


def dependencies_on_addons_are_declared(fleet: Fleet) -> Iterator[Finding]:
    known = fleet.names("platform", "addons")
    for at, _, app, declared_app in walk.apps(fleet):
        for place, name in _entries(at, declared_app):
            if (addon := addon_named(name)) is None:
                continue
            if at[0] == "platform":
                message = f"add-on '{app}' depends on '{name}': add-ons refer to each other without the prefix"
                yield Finding(place, "needless-prefix", message, fix=f"write '{addon}'")
            elif addon not in known:
                yield Finding(
                    place,
                    "unknown-addon",
                    f"app '{app}' depends on add-on '{addon}', which is not declared",
                    (declared("declared", addon, known),),
                    fix="declare it under 'platform.addons:', or correct the name",
                )


def tenants_depend_on_declared_addons(fleet: Fleet) -> Iterator[Finding]:
    addons = fleet.names("platform", "addons")
    for at, settings in walk.settings(fleet):
        for index, name in enumerate(settings.dependsOn or () if isinstance(settings, PlacedSettings) else ()):
            place = (*at, "dependsOn", index)
            if (addon := addon_named(name)) is None:
                fix = f"write '{ADDON_PREFIX}{name}'" if name in addons else "set 'dependsOn' of an app instead"
                message = f"tenants depend on add-ons, and '{name}' has no prefix '{ADDON_PREFIX}'"
                yield Finding(place, "not-an-addon", message, fix=fix)
            elif addon not in addons:
                message = f"add-on '{addon}' is not declared"
                notes = (declared("declared", addon, addons),)
                fix = "declare it under 'platform.addons:', or correct the name"
                yield Finding(place, "unknown-addon", message, notes, fix)


def _entries(at: tuple[str, ...], app: App) -> Iterator[tuple[Path, str]]:
    """Every dependency of the app and its overrides, with its place."""
    for path, names in walk.dependencies(at, app):
        yield from (((*path, index), name) for index, name in enumerate(names))
