"""Iterators over a fleet that several rules use."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeVar, cast

from tenantry.fleet.blocks import blocks_of
from tenantry.fleet.fleet import Fleet
from tenantry.messages.errors import Path
from tenantry.messages.text import grouped
from tenantry.model import App, Model, PlacedSettings, Platform, Tenant
from tenantry.model.tenancy import ObjectManifest
from tenantry.model.walk import models_in
from tenantry.source.parsed_file import override_of

_M = TypeVar("_M", bound=Model)


def every(fleet: Fleet, model: type[_M]) -> Iterator[tuple[tuple[str, ...], _M]]:
    """All parts of the file of one model, those in overrides too, each with its path.

    What a tenant has from a template comes with the template and with the tenant; a finding about it is reported once.
    """
    all_parts = fleet.once(("models",), (), lambda: grouped(models_in(fleet.document), lambda part: type(part[1])))
    for type_, parts in cast("dict[type[Model], list[Any]]", all_parts).items():
        if issubclass(type_, model):
            yield from parts


def declared(fleet: Fleet, model: type[_M]) -> Iterator[tuple[tuple[str, ...], _M]]:
    """The same without templates, which come with each tenant, and without overrides."""
    for at, part in every(fleet, model):
        if at[0] in ("tenants", "platform") and not override_of(at):
            yield at, part


def levels(fleet: Fleet) -> Iterator[tuple[tuple[str, ...], Tenant]]:
    """The defaults, the templates and the tenants."""
    yield ("defaults",), fleet.document.defaults
    yield from (
        (("templates", "tenants", name), template) for name, template in fleet.document.templates.tenants.items()
    )
    yield from ((("tenants", name), tenant) for name, tenant in fleet.document.tenants.items())


def objects(fleet: Fleet, key: str) -> Iterator[tuple[tuple[str, ...], ObjectManifest]]:
    """The platform team's manifests. Args: key: `objects` in the namespaces of tenants and add-ons, or `clusterObjects`."""
    yield from ((at, manifest) for at, manifest in every(fleet, ObjectManifest) if at[-2] == key)


def apps(fleet: Fleet) -> Iterator[tuple[tuple[str, ...], App]]:
    """Every app and add-on with its path."""
    for tenant, declared_tenant in fleet.document.tenants.items():
        yield from ((("tenants", tenant, "apps", name), app) for name, app in declared_tenant.apps.items())
    yield from ((("platform", "addons", name), addon) for name, addon in fleet.document.platform.addons.items())


def owner_of(fleet: Fleet, at: Path) -> Tenant | Platform:
    """The tenant of something at a path, or the platform."""
    return fleet.document.tenants[str(at[1])] if at[0] == "tenants" else fleet.document.platform


def blocks(fleet: Fleet, at: tuple[str, ...]) -> Iterator[tuple[Path, dict[str, Any]]]:
    """The `kustomize:` and `helm:` blocks of an app and of what overrides say of it, as written."""
    return blocks_of(fleet.source.data, at)


def roles_of(fleet: Fleet, tenant: str) -> Iterator[tuple[Path, str]]:
    """The ClusterRoles that a tenant gives, in overrides too, each with its place."""
    declared_tenant = fleet.document.tenants[tenant]
    at: Path = ("tenants", tenant)
    levels: list[tuple[Path, PlacedSettings]] = [(at, declared_tenant)]
    levels += [((*at, "overrides", index), override) for index, override in enumerate(declared_tenant.overrides)]
    for place, given in levels:
        if given.role:
            yield (*place, "role"), given.role
        yield from (((*place, "owners", index, "role"), owner.role) for index, owner in enumerate(given.owners or ()))
