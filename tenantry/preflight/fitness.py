"""Checks that the management cluster serves Flux's kinds, and that its CRDs have every field that the plan uses.

An API server silently drops unknown fields, so with an old Flux, settings of the file would have no effect.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tenantry.flux.schemas import Schema, kinds, schema_of
from tenantry.kube.objects import KubeObject, Manifest, ObjectId
from tenantry.messages.errors import Problem, error
from tenantry.plan.plan import Plan
from tenantry.preflight.in_place import serves_in_place, without_in_place

CRD_API = "apiextensions.k8s.io/v1"


def definitions(plan: Plan) -> dict[str, ObjectId]:
    """The CRD of each Flux kind that a plan uses, by kind."""
    used = sorted({each.id.kind for each in plan.objects} & set(kinds()))
    return {kind: ObjectId(CRD_API, "CustomResourceDefinition", "", _crd(schema_of(kind))) for kind in used}


def check_fitness(plan: Plan, found: Mapping[str, Manifest | None]) -> Iterator[Problem]:
    """Args: found: the CRDs on the cluster by kind; None: the CRD is not installed."""
    if (releases := found.get("HelmRelease")) and not serves_in_place(releases):
        plan = without_in_place(plan)
    for kind, definition in found.items():
        schema = schema_of(kind)
        planned = [each for each in plan.objects if each.id.kind == kind]
        if definition is None:
            message = f"the cluster does not serve {kind} ({_crd(schema)}), and the plan has {len(planned)}"
            yield error("no-kind", message, f"install Flux's {_controller(schema)} and its CRDs, {_known(schema)}")
            continue
        yield from _established(kind, definition)
        yield from _fields(plan, schema, definition, planned)


def _established(kind: str, definition: Manifest) -> Iterator[Problem]:
    conditions = (definition.get("status") or {}).get("conditions") or ()
    state = {each["type"]: each for each in conditions}
    if state.get("Established", {}).get("status") != "True":
        said = state.get("NamesAccepted", {}).get("message") or "no reason is given"
        message = f"the cluster has a definition of {kind}, but does not serve it: {said}"
        yield error("not-established", message, "wait a moment; otherwise install Flux's CRDs again")


@dataclass(slots=True)
class _Use:
    """The use of a field that the CRD does not have: one object, and how many more use it."""

    example: KubeObject
    more: int = 0


def _fields(plan: Plan, schema: Schema, definition: Manifest, planned: list[KubeObject]) -> Iterator[Problem]:
    served = {each["name"]: each for each in definition["spec"]["versions"] if each.get("served")}
    for version in sorted({each.id.api_version.rpartition("/")[2] for each in planned}):
        users = [each for each in planned if each.id.api_version.endswith(f"/{version}")]
        if version not in served:
            message = (
                f"the cluster serves {schema.kind} as {', '.join(sorted(served)) or 'nothing'}, and the plan needs"
                f" {schema.group}/{version}"
            )
            yield error("old-version", message, f"upgrade Flux's {_controller(schema)}: {_known(schema)}")
            continue
        structure = served[version].get("schema", {}).get("openAPIV3Schema", {}).get("properties", {}).get("spec", {})
        unknown: dict[str, _Use] = {}
        for each in users:
            for message in dict.fromkeys(_unknown(structure, each.manifest.get("spec") or {}, "spec")):
                if message in unknown:
                    unknown[message].more += 1
                else:
                    unknown[message] = _Use(each)
        for message, use in unknown.items():
            yield error("unknown-field", f"{schema.kind} {message}; {_told(plan, use)}", _upgrade(schema))


def _unknown(structure: Mapping[str, Any], value: Any, path: str) -> Iterator[str]:
    """Describe the fields and enum values in a value that a structural schema does not have."""
    if structure.get("x-kubernetes-preserve-unknown-fields") or "type" not in structure:
        return  # any value is allowed, such as the values of a chart
    if isinstance(value, dict):
        fields, others = structure.get("properties", {}), structure.get("additionalProperties")
        for key, part in value.items():
            if key in fields:
                yield from _unknown(fields[key], part, f"{path}.{key}")
            elif isinstance(others, dict):
                yield from _unknown(others, part, f"{path}.{key}")
            elif not others:
                yield f"has no field '{path}.{key}' on the cluster, which would drop it"
    elif isinstance(value, list):
        for part in value:
            yield from _unknown(structure.get("items", {}), part, f"{path}[]") if "items" in structure else ()
    elif isinstance(value, str) and value not in structure.get("enum", (value,)):
        yield f"does not allow '{value}' for '{path}' on the cluster, which would reject it"


def _told(plan: Plan, use: _Use) -> str:
    """Kustomization rocky/web (app 'web' of tenant 'rocky') and 2 more use it"""
    app = next((each for each in plan.apps if each.id == use.example.id), None)
    if app is None:
        whose = f" (tenant '{use.example.owner.tenant}')" if use.example.owner.tenant else " (the platform)"
    else:
        whose = f" (app '{app.name}' of tenant '{app.tenant}')" if app.tenant else f" (add-on '{app.name}')"
    more = f" and {use.more} more use it" if use.more else " uses it"
    return f"{use.example.id}{whose}{more}"


def _upgrade(schema: Schema) -> str:
    return f"upgrade Flux's {_controller(schema)}: {_known(schema)}; or remove the field from tenants.yaml"


def _known(schema: Schema) -> str:
    return f"{schema.source.version} supports everything that the plan uses"


def _controller(schema: Schema) -> str:
    """github.com/fluxcd/source-watcher/v2 -> source-watcher"""
    return schema.source.module.split("/")[2]


def _crd(schema: Schema) -> str:
    return f"{schema.plural}.{schema.group}"
