"""Rules about all fields of a tenant's objects, and about the labels that identify them: what stands in no table is refused."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tenantry.policy.fields import flux, kubernetes, metadata
from tenantry.policy.fields.table import Field, Filled, problems
from tenantry.policy.resource import TENANT, Resource, as_text
from tenantry.policy.rule import Violation
from tenantry.policy.stack import Stack
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
    for field, check in kubernetes.REQUIRED.items() if is_baseline else ():
        if problem := check(resource.spec.get(field), of):
            yield f"spec.{field}", problem


def _table(resource: Resource, *, is_baseline: bool) -> Field | None:
    kind = (resource.group, resource.kind)
    spec = kubernetes.SPEC if is_baseline else flux.SPECS.get(kind)
    return {"spec": spec} if spec is not None else kubernetes.OBJECTS.get(kind)


def _without_metadata(manifest: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in manifest.items() if key not in ("apiVersion", "kind", "metadata")}


def _content(manifest: Mapping[str, Any]) -> Any:
    return as_text(_without_metadata(manifest))


MANAGED_BY = "app.kubernetes.io/managed-by"
ENVIRONMENT = "tenantry/environment"


def objects_carry_the_fleets_labels(resource: Resource) -> Iterator[Violation]:
    """Every object has labels for its manager and its environment. The fleet's objects are found and counted by these
    labels.
    """
    if not resource.kind:
        return  # no object that can have labels
    if resource.labels.get(MANAGED_BY) != "tenantry":
        yield Violation(resource, f"{resource} has no label {MANAGED_BY}: tenantry", f"add {MANAGED_BY}: tenantry")
    if not resource.labels.get(ENVIRONMENT):
        fix = f"add {ENVIRONMENT} with the environment's name"
        yield Violation(resource, f"{resource} has no label {ENVIRONMENT}", fix)


def objects_in_tenants_namespaces_carry_the_tenants_label(stack: Stack) -> Iterator[Violation]:
    """Every object in a tenant's namespace has the tenant's label. Network policies, alerts and lists of a tenant's
    objects select by this label.
    """
    for resource in stack.objects:
        if resource.name in stack.tenant_namespaces and resource.kind == "Namespace":
            if not resource.tenant:
                yield Violation(resource, f"{resource} does not say whose it is", f"add the label {TENANT}")
            continue
        tenant = stack.tenant_namespaces.get(resource.namespace)
        if tenant and resource.tenant != tenant:
            says = f"carries {TENANT}: {resource.tenant}" if resource.tenant else f"has no label {TENANT}"
            what = f"{resource} {says}, but its namespace belongs to tenant '{tenant}'"
            yield Violation(resource, what, f"set {TENANT}: {tenant}, or put it into another namespace")
