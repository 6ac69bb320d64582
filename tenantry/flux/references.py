"""Finds where Flux's specs name Secrets and ConfigMaps. It uses Flux's schemas, so it also knows fields of a new version.

Flux reads them with its controllers' rights, in the namespace of the object that names them. For a remote placement that
namespace also holds the clusters' kubeconfigs. So the fleet accepts only names that a tenant declared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, Literal, NamedTuple, TypeAlias

from tenantry.flux.schemas import schema_of
from tenantry.messages.data import replaced, value_at
from tenantry.messages.errors import Path

Kind: TypeAlias = Literal["Secret", "ConfigMap"]

_FLEETS_OWN = "kubeConfig"
"""This field names the Secret of a cluster. Only the plan sets it."""


class Reference(NamedTuple):
    """The name of an object at a path of a spec."""

    path: Path
    kind: Kind
    name: str


def references(flux_kind: str, spec: dict[str, Any]) -> Iterator[Reference]:
    """All Secrets and ConfigMaps that a spec, or a part of one, names. Values with the wrong structure are skipped."""
    for path in secret_paths(flux_kind):
        if isinstance(name := value_at(spec, (*path, "name")), str):
            yield Reference((*path, "name"), "Secret", name)
    for path in list_paths(flux_kind):
        entries = value_at(spec, path)
        for index, entry in enumerate(entries if isinstance(entries, list) else ()):
            if (kind := value_at(entry, ("kind",))) in ("Secret", "ConfigMap") and isinstance(entry.get("name"), str):
                yield Reference((*path, index, "name"), kind, entry["name"])


def included_sources(flux_kind: str, spec: dict[str, Any]) -> Iterator[tuple[Path, str]]:
    """The Git sources that a Git source includes, each with the path of its name."""
    entries = spec.get("include") if flux_kind == "GitRepository" else None
    for index, entry in enumerate(entries if isinstance(entries, list) else ()):
        if isinstance(name := value_at(entry, ("repository", "name")), str):
            yield ("include", index, "repository", "name"), name


def renamed(flux_kind: str, spec: dict[str, Any], rename: Callable[[Kind, str], str]) -> dict[str, Any]:
    """A copy of the spec with other names in its references."""
    for reference in references(flux_kind, spec):
        spec = replaced(spec, reference.path, rename(reference.kind, reference.name))
    return spec


@cache
def secret_paths(flux_kind: str) -> tuple[tuple[str, ...], ...]:
    """The fields with the name of a Secret."""
    return tuple(path for path, schema in _fields(schema_of(flux_kind).spec) if path[-1].lower().endswith("secretref"))


@cache
def list_paths(flux_kind: str) -> tuple[tuple[str, ...], ...]:
    """The fields that list Secrets and ConfigMaps."""
    kinds = (
        (path, schema.get("items", {}).get("properties", {}).get("kind", {}).get("enum", ()))
        for path, schema in _fields(schema_of(flux_kind).spec)
    )
    return tuple(path for path, names in kinds if names and set(names) <= {"Secret", "ConfigMap"})


def _fields(schema: dict[str, Any], at: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], dict[str, Any]]]:
    for key, part in schema.get("properties", {}).items():
        if key != _FLEETS_OWN:
            yield (*at, key), part
            yield from _fields(part, (*at, key))
