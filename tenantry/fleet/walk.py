"""Iterators over a fleet that several rules use, and findings that several rules report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, TypeVar

from tenantry.fleet.blocks import blocks_of
from tenantry.fleet.fleet import Fleet
from tenantry.fleet.lineages import CLUSTERS, TENANTS
from tenantry.messages.errors import Path, Problem
from tenantry.messages.problems import undeclared
from tenantry.model import (
    Alert,
    App,
    PlacedSettings,
    Platform,
    Receiver,
    Selector,
    Source,
    Tenant,
    When,
)
from tenantry.model.flux import ObjectMetadata
from tenantry.model.selector import Overridden
from tenantry.model.tenancy import ExtraNamespace, ObjectManifest


def undeclared_environments(fleet: Fleet, at: Path, owner: str, names: Iterable[str]) -> Iterator[Problem]:
    """A finding for each name in a list `environments` that no environment has.

    Args: at: what has the list; owner: as a finding names it.
    """
    for index, name in enumerate(names):
        if name not in fleet.document.environments:
            message, fix = (
                f"{owner} names environment '{name}'",
                "declare it under 'environments:', or correct the name",
            )
            place = (*at, "environments", index)
            yield undeclared(place, "environment", name, message, fleet.names("environments"), fix)


def selectors(fleet: Fleet) -> Iterator[tuple[Path, str, Selector]]:
    """Every selector with its path and its owner."""
    for at, given in levels(fleet):
        if given.grants and given.grants.clusters:
            yield (*at, "grants", "clusters"), "a grant", given.grants.clusters
        if given.clusters:
            yield (*at, "clusters"), format_level(at), given.clusters
    for name, tenant in fleet.document.tenants.items():
        for app, declared_app in tenant.apps.items():
            if declared_app.clusters:
                at = ("tenants", name, "apps", app)
                yield (*at, "clusters"), format_app(at), declared_app.clusters
    for name, addon in fleet.document.platform.addons.items():
        yield ("platform", "addons", name, "clusters"), f"add-on '{name}'", addon.selector
    for path, when in conditions(fleet):
        if when.clusters:
            yield (*path, "clusters"), "an override", when.clusters


def names_of_selector(selector: Selector) -> Iterator[tuple[Path, str]]:
    """The names of clusters in a selector, those that it leaves out too, each with its path in it."""
    yield from ((("names", index), name) for index, name in enumerate(selector.names or ()))
    if isinstance(selector.exclude, list):
        yield from ((("exclude", index), name) for index, name in enumerate(selector.exclude))
    else:
        yield from ((("exclude", "names", index), name) for index, name in enumerate(selector.exclude.names or ()))


def conditions(fleet: Fleet) -> Iterator[tuple[Path, When]]:
    """Where every override holds, with the path of its `when`."""
    holders: Iterator[tuple[tuple[str, ...], Sequence[Overridden]]] = chain(
        ((at, given.overrides) for at, given in levels(fleet)),
        [(("platform",), fleet.document.platform.overrides)],
        ((at, app.overrides) for at, _, _, app in apps(fleet)),
    )
    for at, entries in holders:
        yield from (((*path, "when"), entry.when) for path, entry in overrides(entries, at))


def settings(fleet: Fleet) -> Iterator[tuple[Path, PlacedSettings | ExtraNamespace]]:
    """Every level with baseline settings: the defaults, templates, tenants, each with overrides, and extra namespaces.

    What a tenant has from a template comes with the tenant too; a finding about it is reported once.
    """
    for at, given in levels(fleet):
        yield at, given
        yield from overrides(given.overrides, at)
        for key, extra in given.namespaces.items():
            yield (*at, "namespaces", key), extra


def levels(fleet: Fleet) -> Iterator[tuple[tuple[str, ...], Tenant]]:
    """The defaults, the templates and the tenants."""
    yield ("defaults",), fleet.document.defaults
    yield from (
        (("templates", "tenants", name), template) for name, template in fleet.document.templates.tenants.items()
    )
    yield from ((("tenants", name), tenant) for name, tenant in fleet.document.tenants.items())


def variable_holders(fleet: Fleet) -> Iterator[tuple[str, ...]]:
    """What can have variables; a template before the entries that have them from it."""
    yield ("defaults",)
    for section in (("environments",), CLUSTERS.templates, ("clusters",), TENANTS.templates, ("tenants",)):
        yield from ((*section, name) for name in fleet.raw(*section))


def format_level(at: tuple[str, ...]) -> str:
    """A level of settings, for messages."""
    match at:
        case ("tenants", name):
            return f"tenant '{name}'"
        case ("templates", _, name):
            return f"template '{name}'"
    return f"'{at[0]}'"


def objects(fleet: Fleet) -> Iterator[tuple[tuple[str, ...], ObjectManifest]]:
    """The platform team's manifests for the namespaces of tenants, at every level, and of add-ons."""
    for at, given in (*settings(fleet), *addon_namespaces(fleet)):
        for name, manifest in (given.objects or {}).items():
            if manifest:
                yield (*map(str, at), "objects", name), manifest


def metadata_of_objects(fleet: Fleet) -> Iterator[tuple[Path, ObjectMetadata]]:
    every = (*objects(fleet), *cluster_objects(fleet))
    yield from (((*at, "metadata"), manifest.metadata) for at, manifest in every if manifest.metadata)


def cluster_objects(fleet: Fleet) -> Iterator[tuple[tuple[str, ...], ObjectManifest]]:
    """The platform team's manifests outside of namespaces."""
    for at, frame in levels(fleet):
        yield from (
            ((*map(str, at), "clusterObjects", name), manifest) for name, manifest in frame.clusterObjects.items()
        )


def addon_namespaces(fleet: Fleet) -> Iterator[tuple[Path, ExtraNamespace]]:
    """The namespaces that add-ons own."""
    for name, addon in fleet.document.platform.addons.items():
        for key, namespace in addon.namespaces.items():
            yield ("platform", "addons", name, "namespaces", key), namespace


def apps(fleet: Fleet) -> Iterator[tuple[tuple[str, ...], Mapping[str, App], str, App]]:
    """Every app and add-on: its path, all of its siblings, its name and itself."""
    for tenant, declared_tenant in fleet.document.tenants.items():
        for app, declared_app in declared_tenant.apps.items():
            yield ("tenants", tenant, "apps", app), declared_tenant.apps, app, declared_app
    addons = fleet.document.platform.addons
    for name, addon in addons.items():
        yield ("platform", "addons", name), addons, name, addon


def sources(fleet: Fleet) -> Iterator[tuple[tuple[str, ...], Source]]:
    """Every source of tenants, of the platform and of add-ons with its path."""
    for at, owner in _owners(fleet):
        yield from (((*at, "sources", name), source) for name, source in owner.sources.items())
    for name, addon in fleet.document.platform.addons.items():
        if addon.source:
            yield ("platform", "addons", name, "source"), addon.source


def format_app(at: Path) -> str:
    """An app or an add-on by its path, for messages."""
    return f"app '{at[3]}' of tenant '{at[1]}'" if at[0] == "tenants" else f"add-on '{at[2]}'"


def owner_of(fleet: Fleet, at: Path) -> Tenant | Platform:
    """The tenant of something at a path, or the platform."""
    return fleet.document.tenants[str(at[1])] if at[0] == "tenants" else fleet.document.platform


def format_source(at: tuple[str, ...]) -> str:
    """A source by its path, for messages."""
    if at[:2] == ("platform", "addons"):
        return f"the source of add-on '{at[2]}'"
    owner = f"tenant '{at[1]}'" if at[0] == "tenants" else "the platform"
    return f"source '{at[-1]}' of {owner}"


def alerts(fleet: Fleet) -> Iterator[tuple[tuple[str, ...], Alert]]:
    """Every alert of tenants and of the platform with its path."""
    for at, owner in _owners(fleet):
        yield from (((*at, "alerts", name), alert) for name, alert in owner.alerts.items())


def receivers(fleet: Fleet) -> Iterator[tuple[tuple[str, ...], Receiver]]:
    """Every receiver with its path."""
    for tenant, declared_tenant in fleet.document.tenants.items():
        yield from (
            (("tenants", tenant, "receivers", name), receiver) for name, receiver in declared_tenant.receivers.items()
        )


def _owners(fleet: Fleet) -> Iterator[tuple[tuple[str, ...], Tenant | Platform]]:
    yield from ((("tenants", name), tenant) for name, tenant in fleet.document.tenants.items())
    yield ("platform",), fleet.document.platform


_O = TypeVar("_O", bound=Overridden)


def overrides(entries: Sequence[_O], at: tuple[str, ...]) -> Iterator[tuple[Path, _O]]:
    """The overrides of an entry, each with its path."""
    over: Path = (*at, "overrides")
    yield from (((*over, index), entry) for index, entry in enumerate(entries))


def app_patches(fleet: Fleet, at: tuple[str, ...], app: App) -> Iterator[tuple[Path, App]]:
    """What overrides change in an app or add-on, each with its path: those of its tenant or of the platform, then its own."""
    if at[0] == "tenants":
        for path, override in overrides(fleet.document.tenants[at[1]].overrides, at[:2]):
            if at[3] in override.apps:
                yield (*path, "apps", at[3]), override.apps[at[3]]
    else:
        for path, of_platform in overrides(fleet.document.platform.overrides, at[:1]):
            if at[2] in of_platform.addons:
                yield (*path, "addons", at[2]), of_platform.addons[at[2]]
    yield from overrides(app.overrides, at)


def source_patches(fleet: Fleet, at: tuple[str, ...]) -> Iterator[tuple[Path, Source]]:
    """What overrides change in the source at a path, each with its path."""
    if at[:2] == ("platform", "addons"):
        for path, patch in app_patches(fleet, at[:3], fleet.document.platform.addons[at[2]]):
            if patch.source:
                yield (*path, "source"), patch.source
        return
    owner: Sequence[Tenant | Platform] = owner_of(fleet, at).overrides
    for path, override in overrides(owner, at[:-2]):
        if at[-1] in override.sources:
            yield (*path, "sources", at[-1]), override.sources[at[-1]]


def blocks(fleet: Fleet, at: tuple[str, ...]) -> Iterator[tuple[Path, dict[str, Any]]]:
    """The `kustomize:` and `helm:` blocks of an app and of what overrides say of it, as written."""
    return blocks_of(fleet.source.data, at)


def dependencies(fleet: Fleet, at: tuple[str, ...], app: App) -> Iterator[tuple[Path, Iterable[str]]]:
    if app.dependsOn:
        yield (*at, "dependsOn"), app.dependsOn
    for path, override in app_patches(fleet, at, app):
        if override.dependsOn:
            yield (*path, "dependsOn"), override.dependsOn


def unknown_cluster(fleet: Fleet, at: Path, name: str, what: str, *, at_key: bool = False) -> Problem:
    fix = f"declare it under 'clusters:' ({fleet.source.line_of(('clusters',))}), or correct the name"
    if name in fleet.environments:  # the closest name would be no fix
        fix = f"name a cluster: '{name}' is an environment"
    return undeclared(at, "cluster", name, what, fleet.names("clusters"), fix, at_key=at_key)


def roles_of(fleet: Fleet, tenant: str) -> Iterator[tuple[Path, str]]:
    """The roles that a tenant gives, each with its place."""
    at, declared_tenant = ("tenants", tenant), fleet.document.tenants[tenant]
    yield from roles_in(at, declared_tenant)
    for place, override in overrides(declared_tenant.overrides, at):
        yield from roles_in(place, override)


def roles_in(at: Path, given: PlacedSettings) -> Iterator[tuple[Path, str]]:
    """The ClusterRoles that settings at a path name, each with its place."""
    if given.role:
        yield (*at, "role"), given.role
    for index, owner in enumerate(given.owners or ()):
        yield (*at, "owners", index, "role"), owner.role


def undeclared_names(
    fleet: Fleet, at: tuple[str, ...], key: str, names: Iterable[str], kind: tuple[str, str]
) -> Iterator[Problem]:
    """A finding for each name that an alert or receiver at a path refers to, and that is not declared beside it.

    key: the list with the names. kind: what a tenant has there, as its key and as a word; the platform has add-ons.
    """
    group, what = ("addons", "add-on") if at[0] == "platform" else kind
    owner, noun = at[:-2], at[-2].removesuffix("s")
    known = fleet.names(*owner, group)
    for index, name in enumerate(names):
        if name not in known:
            message = f"{noun} '{at[-1]}' refers to {what} '{name}'"
            fix = f"declare it under '{'.'.join((*owner, group))}:', or correct the name"
            yield undeclared((*at, key, index), what, name, message, known, fix)
