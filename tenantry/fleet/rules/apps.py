"""Rules about apps and add-ons: their sources, their dependencies and their overrides."""

from __future__ import annotations

from collections.abc import Iterator

from tenantry.fleet import walk
from tenantry.fleet.fleet import Fleet
from tenantry.grants.grants import is_filled
from tenantry.kube.names import ADDON_PREFIX, addon_named
from tenantry.messages.errors import Path, Problem
from tenantry.messages.text import declared
from tenantry.model import App, Overrides, PlacedSettings, SettingsOverrides


def apps_name_declared_sources(fleet: Fleet) -> Iterator[Problem]:
    # As written, so that a mistake elsewhere in a tenant or an app does not hide this one.
    for tenant in fleet.raw("tenants"):
        known = fleet.names("tenants", tenant, "sources")
        for app in fleet.raw("tenants", tenant, "apps"):
            for path, block in walk.blocks(fleet, ("tenants", tenant, "apps", app)):
                name = block.get("source")
                if isinstance(name, str) and name not in known:
                    yield Problem(
                        (*path, "source"),
                        "unknown-source",
                        f"app '{app}' of tenant '{tenant}' uses source '{name}', which the tenant does not declare",
                        (declared("declared", name, known),),
                        fix=f"declare it under 'tenants.{tenant}.sources:', or correct the name",
                    )


def kustomize_apps_take_no_helm_repositories(fleet: Fleet) -> Iterator[Problem]:
    for tenant, declared_tenant in fleet.document.tenants.items():
        for app in declared_tenant.apps:
            for path, block in walk.blocks(fleet, ("tenants", tenant, "apps", app)):
                source = declared_tenant.sources.get(str(block.get("source")))
                if path[-1] == "kustomize" and source and source.helm:
                    message = f"app '{app}' is a 'kustomize:' app, but source '{block['source']}' is a Helm repository"
                    yield Problem(
                        (*path, "source"), "wrong-source", message, fix="name a source of another kind, or use 'helm:'"
                    )
    for addon, declared_addon in fleet.document.platform.addons.items():
        if declared_addon.kind == "kustomize" and declared_addon.source.helm:
            message = f"add-on '{addon}' is a 'kustomize:' app, but its source is a Helm repository"
            yield Problem(
                ("platform", "addons", addon, "source"),
                "wrong-source",
                message,
                fix="use a source of another kind, or 'helm:'",
            )


def addons_do_not_name_a_source(fleet: Fleet) -> Iterator[Problem]:
    for addon in fleet.raw("platform", "addons"):
        for path, block in walk.blocks(fleet, ("platform", "addons", addon)):
            if "source" in block:
                yield Problem(
                    (*path, "source"),
                    "unknown-key",
                    "an add-on has its own source",
                    fix="remove it",
                    at_key=True,
                )


def overrides_name_what_is_declared(fleet: Fleet) -> Iterator[Problem]:
    for at, _, app, declared_app in walk.apps(fleet):
        yield from _overridden(fleet, at, f"app '{app}'", declared_app.overrides)
    for at, given in walk.levels(fleet):
        if not (at[0] == "tenants" and is_filled(fleet, at)):  # else the overrides are those of a frame
            yield from _overridden(fleet, at, walk.in_words(at), given.overrides)


def _overridden(
    fleet: Fleet, at: tuple[str, ...], who: str, overrides: Overrides | SettingsOverrides
) -> Iterator[Problem]:
    for name in overrides.environments:
        if name not in fleet.environments:
            yield Problem(
                (*at, "overrides", "environments", name),
                "unknown-environment",
                f"{who} overrides environment '{name}', which is not declared",
                (declared("declared", name, fleet.environments),),
                fix="correct the name, or remove it",
                at_key=True,
            )
    for name in overrides.clusters:
        if name not in fleet.names("clusters"):
            place = (*at, "overrides", "clusters", name)
            yield walk.unknown_cluster(fleet, place, name, f"{who} overrides cluster '{name}'", at_key=True)


def overrides_keep_the_kind_of_app(fleet: Fleet) -> Iterator[Problem]:
    for at, _, app, declared_app in walk.apps(fleet):
        for path, override in walk.overrides(declared_app.overrides, at):
            other = "helm" if declared_app.kind == "kustomize" else "kustomize"
            if other in override.model_fields_set:
                message = (
                    f"app '{app}' is a '{declared_app.kind}:' app, and an override cannot change that to '{other}:'"
                )
                yield Problem(
                    (*path, other),
                    "changed-kind",
                    message,
                    fix="declare a second app with its own clusters",
                    at_key=True,
                )


def image_automations_name_declared_environments(fleet: Fleet) -> Iterator[Problem]:
    for at, _, app, declared_app in walk.apps(fleet):
        automation = declared_app.imageAutomation
        for index, name in enumerate((automation and automation.environments) or ()):
            if name not in fleet.environments:
                yield Problem(
                    (*at, "imageAutomation", "environments", index),
                    "unknown-environment",
                    f"app '{app}' follows images in environment '{name}', which is not declared",
                    (declared("declared", name, fleet.environments),),
                    fix="correct the name, or remove it",
                )


def dependencies_are_declared_apps(fleet: Fleet) -> Iterator[Problem]:
    for at, _, app, declared_app in walk.apps(fleet):
        known = fleet.names(*at[:-1])
        for place, name in _entries(at, declared_app):
            if name == app:
                yield Problem(place, "dependency-cycle", f"app '{app}' depends on itself", fix="remove it")
            elif name not in known and addon_named(name) is None:
                meant = at[0] == "tenants" and name in fleet.names("platform", "addons")
                yield Problem(
                    place,
                    "unknown-app",
                    f"app '{app}' depends on '{name}', which is not declared beside it",
                    (declared("declared", name, known - {app}),),
                    fix=f"write '{ADDON_PREFIX}{name}' for the add-on" if meant else "correct the name, or remove it",
                )


def dependencies_on_addons_are_declared(fleet: Fleet) -> Iterator[Problem]:
    known = fleet.names("platform", "addons")
    for at, _, app, declared_app in walk.apps(fleet):
        for place, name in _entries(at, declared_app):
            if (addon := addon_named(name)) is None:
                continue
            if at[0] == "platform":
                message = f"add-on '{app}' depends on '{name}': add-ons refer to each other without the prefix"
                yield Problem(place, "needless-prefix", message, fix=f"write '{addon}'")
            elif addon not in known:
                yield Problem(
                    place,
                    "unknown-addon",
                    f"app '{app}' depends on add-on '{addon}', which is not declared",
                    (declared("declared", addon, known),),
                    fix="declare it under 'platform.addons:', or correct the name",
                )


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


def _entries(at: tuple[str, ...], app: App) -> Iterator[tuple[Path, str]]:
    """Every dependency of the app and its overrides, with its place."""
    for path, names in walk.dependencies(at, app):
        yield from (((*path, index), name) for index, name in enumerate(names))
