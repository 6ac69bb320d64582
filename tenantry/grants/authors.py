"""What the included file of a tenant may name: its own entries, never those of the main file."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from types import UnionType
from typing import Annotated, Any, NamedTuple, Union, get_args, get_origin

from tenantry.fleet.fleet import Fleet
from tenantry.flux import references as of_flux
from tenantry.grants.grants import is_filled
from tenantry.messages.data import mapping_at
from tenantry.messages.errors import Path, Problem
from tenantry.model import FluxBlock, Model, Tenant
from tenantry.model.scalars import Refers
from tenantry.model.strict import declared_type

GROUPS: dict[of_flux.Kind, str] = {"Secret": "credentials", "ConfigMap": "configs"}
"""Where the names of each kind are declared."""
_ONE = {"apps": "app", "configs": "config", "sources": "source"}


class Named(NamedTuple):
    """A place where a name stands, and under which key of the tenant the named entry is declared."""

    path: Path
    group: str
    name: str


def names_in(data: dict[str, Any], tenant: str) -> Iterator[Named]:
    """All names by which a tenant's entry refers to its own parts. Parts with the wrong structure are skipped."""
    yield from _of_model(Tenant, mapping_at(data, "tenants", tenant), ("tenants", tenant))


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
    notes = (f"declared: {source.line_of(at)}",)
    if group == "credentials":
        message = (
            f"credentials '{name}' of tenant '{tenant}' are the platform's, and its included file may not use them"
        )
        fix = f"declare others under 'credentials:' of this file; are these the tenant's own, {_lines(fleet, at)} can move here"
        return Problem(path, "platforms-credentials", message, notes, fix)
    message = f"{_ONE[group]} '{name}' of tenant '{tenant}' belongs to the platform's file, and its included file may not name it"
    fix = f"declare one in this file; is it the tenant's own, {_lines(fleet, at)} can move here"
    return Problem(path, "platforms-entry", message, notes, fix)


def _lines(fleet: Fleet, at: Path) -> str:
    first, last = fleet.source.extent(at)
    lines = f"line {first}" if first == last else f"lines {first} to {last}"
    return f"{lines} of {fleet.source.file}"


def _of_model(model: type[Model], value: Any, at: Path) -> Iterator[Named]:
    if not isinstance(value, dict):
        return
    for key, annotation in _fields(model):
        if key in value:
            yield from _below(annotation, value[key], (*at, key))
    if issubclass(model, FluxBlock):
        for kind in (model.flux_kind, *model.parts):
            # Another rule refuses keys that the author may not set.
            yield from (name for name in names_of_spec(kind, value, at) if name.path[len(at)] not in model.owned)


def _below(annotation: Any, value: Any, at: Path) -> Iterator[Named]:
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        group = next((part.group for part in parts[1:] if isinstance(part, Refers)), None)
        if group is None:
            yield from _below(parts[0], value, at)
        elif isinstance(value, str):
            yield Named(at, group, value)
    elif origin in (Union, UnionType):
        for part in parts:
            yield from _below(part, value, at)
    elif origin is dict and isinstance(value, dict):
        for key, below in value.items():
            yield from _below(parts[0], key, (*at, key))
            yield from _below(parts[1], below, (*at, key))
    elif origin is list and isinstance(value, list):
        for index, below in enumerate(value):
            yield from _below(parts[0], below, (*at, index))
    elif isinstance(annotation, type) and issubclass(annotation, Model):
        yield from _of_model(annotation, value, at)


@cache
def _fields(model: type[Model]) -> tuple[tuple[str, Any], ...]:
    """The keys of a model that may hold names, themselves or further below, with their types."""
    fields = ((info.alias or name, declared_type(info)) for name, info in model.model_fields.items())
    return tuple((key, declared) for key, declared in fields if _holds_names(declared))


@cache
def _holds_names(annotation: Any) -> bool:
    if isinstance(annotation, Refers):
        return True
    if isinstance(annotation, type) and issubclass(annotation, Model):
        return issubclass(annotation, FluxBlock) or bool(_fields(annotation))
    return any(_holds_names(part) for part in get_args(annotation))
