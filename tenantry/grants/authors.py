"""What the included file of a tenant may name: its own entries, never those of the main file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from tenantry.fleet.fleet import Fleet
from tenantry.fleet.parts import parts
from tenantry.flux import references as of_flux
from tenantry.grants.grants import is_filled
from tenantry.messages.data import mapping_at
from tenantry.messages.errors import Path, Problem
from tenantry.model import FluxBlock, Tenant
from tenantry.model.scalars import Refers

GROUPS: dict[of_flux.Kind, str] = {"Secret": "credentials", "ConfigMap": "configs"}
"""Where the names of each kind are declared."""


class Named(NamedTuple):
    """A place where a name stands, and under which key of the tenant the named entry is declared."""

    path: Path
    group: str
    name: str


def names_in(data: dict[str, Any], tenant: str) -> Iterator[Named]:
    """All names by which a tenant's entry refers to its own parts. Parts with the wrong structure are skipped."""
    for path, type_, written in parts(Tenant, mapping_at(data, "tenants", tenant), ("tenants", tenant), _holds_names):
        if group := _group(type_):
            if isinstance(written, str):
                yield Named(path, group, written)
        elif isinstance(written, dict):
            for kind in (type_.flux_kind, *type_.parts):
                named = names_of_spec(kind, written, path)
                # Another rule refuses keys that the author may not set.
                yield from (name for name in named if name.path[len(path)] not in type_.owned)


def _holds_names(type_: Any) -> bool:
    return bool(_group(type_)) or (isinstance(type_, type) and issubclass(type_, FluxBlock))


def _group(type_: Any) -> str:
    """The group of the entries to one of which a text of this type refers; "" if it refers to none."""
    return next((mark.group for mark in getattr(type_, "__metadata__", ()) if isinstance(mark, Refers)), "")


def names_of_spec(flux_kind: str, spec: dict[str, Any], at: Path = ()) -> Iterator[Named]:
    """Those in Flux's own keys: in a block of the file, or in a planned spec whose names are still those of the file."""
    for reference in of_flux.references(flux_kind, spec):
        yield Named((*at, *reference.path), GROUPS[reference.kind], reference.name)
    for path, name in of_flux.included_sources(flux_kind, spec):
        yield Named((*at, *path), "sources", name)


def foreign_names(fleet: Fleet, tenant: str) -> Iterator[Problem]:
    """A finding for each name in a tenant's included file that is not the file's to use."""
    for path, group, name in names_in(fleet.source.data, tenant):
        if is_filled(fleet, path) and not is_own(fleet, tenant, group, name):
            yield platforms_entry(fleet, tenant, path, group, name)


def is_own(fleet: Fleet, tenant: str, group: str, name: str) -> bool:
    """Whether the main file does not declare the entry; what nobody declares, another rule reports."""
    at = ("tenants", tenant, group, name)
    return name not in fleet.raw(*at[:-1]) or is_filled(fleet, at)


def names_all(fleet: Fleet, tenant: str, group: str) -> bool:
    """Whether the included file declares everything that the tenant has of a group."""
    return all(is_own(fleet, tenant, group, name) for name in fleet.raw("tenants", tenant, group))


def platforms_entry(fleet: Fleet, tenant: str, path: Path, group: str, name: str) -> Problem:
    """An included file names an entry of the main file. Args: path: where."""
    source, at = fleet.source, ("tenants", tenant, group, name)
    first, last = source.extent(at)
    lines = f"line {first}" if first == last else f"lines {first} to {last}"
    return Problem(
        path,
        "platforms-entry",
        f"'{name}' under '{group}' of tenant '{tenant}' belongs to the platform's file, and its included file may not name it",
        (f"declared: {source.line_of(at)}",),
        fix=f"declare one in this file; is it the tenant's own, {lines} of {source.file} can move here",
    )
