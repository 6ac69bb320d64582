"""Rules about all fields of a tenant's objects: what stands in no table is refused."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tenantry.policy.fields import baseline, flux, kubernetes, metadata
from tenantry.policy.fields.table import Field, Filled, problems
from tenantry.policy.resource import Resource, as_text
from tenantry.policy.rule import Violation
from tenantry.policy.tenants import Place, Tenants


def tenants_fill_known_fields(tenants: Tenants) -> Iterator[Violation]:
    """A tenant's objects are of known kinds, and have only fields that a tenant may fill, with values that it may have. What a
    new version of Flux brings is refused until somebody decides what a tenant may do with it.
    """
    for resource, place in tenants.placed:
        for path, problem in _problems(Filled(resource, place), is_baseline=tenants.is_baseline(resource)):
            what = f"{resource} of tenant '{place.tenant}' {problem}" + (f" in {path}" if path else "")
            yield Violation(resource, what, _fix(place))


def _fix(place: Place) -> str:
    return f"remove it; what the platform decides stands in the main file's entry of tenant '{place.tenant}'"


def _problems(of: Filled, *, is_baseline: bool) -> Iterator[tuple[str, str]]:
    resource, place = of.resource, of.place
    written = place.declared(resource)
    yield from metadata.problems(of, written)
    if place.is_cluster_right(resource):
        return  # which compares all of it
    if written:
        if _content(resource.props) != _content(written):
            yield "", "is not as the main file says"
        return
    table = _table(resource, is_baseline=is_baseline)
    if table is None:
        yield "", f"is of the kind {resource.kind}, of which no tenant has any"
        return
    yield from problems(table, _without_metadata(resource.props), of, "")
    for field, check in baseline.REQUIRED.items() if is_baseline else ():
        if problem := check(resource.spec.get(field), of):
            yield f"spec.{field}", problem


def _table(resource: Resource, *, is_baseline: bool) -> Field | None:
    kind = (resource.group, resource.kind)
    spec = baseline.SPEC if is_baseline else flux.SPECS.get(kind)
    return {"spec": spec} if spec is not None else kubernetes.OBJECTS.get(kind)


def _without_metadata(manifest: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in manifest.items() if key not in ("apiVersion", "kind", "metadata")}


def _content(manifest: Mapping[str, Any]) -> Any:
    return as_text(_without_metadata(manifest))
