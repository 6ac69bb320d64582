"""Selectors of tenants whose labels hold placeholders, such as `cell: "{cell}"`, filled in before anything is placed.

The filled data knows where the author wrote each selector, so findings are reported there.

Called by: `load`, on the joined data of all files. So nothing here may rely on the type of a value.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tenantry.fleet.template import fill
from tenantry.messages.data import mapping_at, value_at
from tenantry.messages.errors import Found, Path, Problem
from tenantry.messages.placeholders import Scalar, all_names_in
from tenantry.source.parsed_file import ParsedFile

_GRANTED = ("grants", "clusters")


def with_filled_selectors(source: ParsedFile) -> tuple[ParsedFile, tuple[Problem, ...]]:
    """The file with filled selectors, and a finding for each placeholder that a tenant does not have."""
    tenants = source.data.get("tenants")
    if not isinstance(tenants, dict):
        return source, ()
    filled: dict[str, Any] = {}
    findings: list[Problem] = []
    for name, own in tenants.items():
        if not isinstance(own, dict | None):
            continue
        for at, path in _own(name, own or {}):
            selector = source.value(path)
            by_file = set() if source.filled_by(path) else _by_file(source, name)
            variables = {key: value for key, value in _variables(source.data, name).items() if key not in by_file}
            try:
                whole = _filled(selector, variables, path)
            except Found as found:
                findings += found.findings
                continue
            filled[name] = _with(filled.get(name, own or {}), at, whole)
    if not filled:
        return source, tuple(findings)
    data = {**source.data, "tenants": {**tenants, **filled}}
    return source.merged(data, lambda path: path), tuple(findings)


def _filled(selector: dict[str, Any], variables: dict[str, Scalar], at: Path) -> dict[str, Any]:
    """The selector with the placeholders in its labels filled in, those that it leaves out too. Raises: Found."""
    whole = dict(selector)
    if "labels" in selector:
        whole["labels"] = fill(selector["labels"], variables, (*at, "labels"))
    if labels := mapping_at(selector, "exclude", "labels"):
        whole["exclude"] = {**selector["exclude"], "labels": fill(labels, variables, (*at, "exclude", "labels"))}
    return whole


def _with(data: Any, path: Path, value: Any) -> dict[str, Any]:
    """A copy with a value at a path, and with the mappings that lead there."""
    below = data if isinstance(data, dict) else {}
    return {**below, path[0]: _with(below.get(path[0]), path[1:], value) if path[1:] else value}


def _own(tenant: str, own: dict[str, Any]) -> Iterator[tuple[Path, Path]]:
    """The tenant's selectors with placeholders: the path below the tenant, and that in the file."""
    apps = own.get("apps")
    below: list[Path] = [("clusters",), _GRANTED]
    below += [("apps", app, "clusters") for app in (apps if isinstance(apps, dict) else ())]
    yield from ((at, ("tenants", tenant, *at)) for at in below if _has_placeholders(value_at(own, at)))


def _has_placeholders(selector: Any) -> bool:
    return any(any(all_names_in(mapping_at(selector, *at, "labels"))) for at in ((), ("exclude",)))


def _by_file(source: ParsedFile, tenant: str) -> set[str]:
    """The variables that the tenant's included file sets. They cannot decide where the main file places the tenant."""
    at = ("tenants", tenant, "variables")
    return {name for name in mapping_at(source.data, *at) if source.filled_by((*at, name))}


def _variables(data: dict[str, Any], tenant: str) -> dict[str, Scalar]:
    given = mapping_at(data, "tenants", tenant, "variables")
    scalars = {name: value for name, value in given.items() if isinstance(value, str | int | float)}
    return {**scalars, "tenant": tenant}
