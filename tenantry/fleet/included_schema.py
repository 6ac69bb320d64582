"""The JSON Schema of teams' files: that of tenants.yaml without what belongs to the platform.

Called by: `tenantry schema --included`, for the file of any tenant, or of one.
Never: says whether an address or an interval is granted, which no schema can express; `tenantry validate` does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, get_args

from tenantry import model
from tenantry.fleet.editor_schema import for_editors
from tenantry.fleet.fleet import Fleet
from tenantry.fleet.json_schema import DIALECT, json_schema
from tenantry.fleet.placement import cluster_is_granted, tenant_barrier
from tenantry.grants.fields import ADVANCED
from tenantry.grants.frames import BLOCKS, OF_NAMESPACES, OVERRIDES, PARTS, SELECTOR
from tenantry.grants.grants import grants_of
from tenantry.grants.model import GRANTABLE
from tenantry.grants.rules import owners_roles
from tenantry.messages.errors import Refused

_REFERENCE = "#/$defs/"
_NOTHING: dict[str, Any] = {"not": {}}


@dataclass(frozen=True, slots=True)
class _Granted:
    """What a file may say beside its parts; None: the schema is for any file, so any value may be granted.

    tenant: "" for any. notes: what a schema can only tell, by the key of the tenant that it is about.
    """

    settings: frozenset[str] = frozenset(get_args(GRANTABLE))
    roles: tuple[str, ...] = ("view", "edit")
    clusters: tuple[str, ...] | None = None
    environments: tuple[str, ...] | None = None
    tenant: str = ""
    notes: Mapping[str, str] | None = None


def included_schema() -> dict[str, Any]:
    """What an included file can say if everything that can be granted is granted."""
    return _schema(_Granted())


def included_schema_of(fleet: Fleet, tenant: str) -> dict[str, Any]:
    """What the included file of a tenant may say. Raises: Refused: no included file speaks of the tenant."""
    if tenant not in fleet.document.tenants or (grants := grants_of(fleet, tenant)) is None:
        speaking = ", ".join(fill for fill in fleet.source.fills if fill in fleet.document.tenants)
        fix = f"name one of: {speaking}" if speaking else f"add 'include:' to {fleet.source.file}"
        raise Refused(f"no included file speaks of a tenant '{tenant}'", fix)
    notes = {
        "sources": f"Granted addresses: {_listed(grants.sources)}.",
        "alerts": f"Granted addresses, in addition to those of sources: {_listed(grants.alerts)}.",
    }
    return _schema(
        _Granted(
            settings=frozenset(grants.settings or ()),
            roles=owners_roles(fleet, tenant),
            clusters=tuple(cluster for cluster in fleet.clusters if cluster_is_granted(fleet, tenant, cluster)),
            environments=tuple(name for name in fleet.document.environments if not tenant_barrier(fleet, name, tenant)),
            tenant=tenant,
            notes=notes,
        )
    )


def _listed(patterns: Iterable[str] | None) -> str:
    return ", ".join(patterns or ()) or "none"


def _schema(granted: _Granted) -> dict[str, Any]:
    whole = json_schema()
    definitions = whole["$defs"]
    _keep(definitions["Tenant"], {*PARTS, SELECTOR, OVERRIDES, *BLOCKS, *granted.settings})
    _keep(definitions["TenantOverride"], {"when", *PARTS, *BLOCKS, *granted.settings})
    _keep(definitions["ExtraNamespace"], {"name", *granted.settings.intersection(OF_NAMESPACES)})
    definitions["TenantOwner"]["properties"]["role"] |= _one_of(granted.roles)
    del definitions["App"]["properties"]["waves"]
    if "advanced" not in granted.settings:
        _drop_advanced(definitions)
    for key, note in (granted.notes or {}).items():
        described = definitions["Tenant"]["properties"][key]
        described["description"] = f"{described['description']}\n\n{note}"
    if granted.clusters is not None:
        # An override brings nothing to a cluster, whichever it names.
        definitions["AnySelector"] = deepcopy(definitions["Selector"])
        definitions["When"] = _renamed(definitions["When"], "Selector", "AnySelector")
        names = definitions["Selector"]["properties"]["names"]["anyOf"][0]
        names["items"] = _one_of(granted.clusters)
    if granted.environments is not None:
        definitions["App"]["properties"]["environments"]["anyOf"][0]["items"] = _one_of(granted.environments)
    tenants = whole["properties"]["tenants"]
    if granted.tenant:
        reference = tenants.pop("additionalProperties")
        del tenants["propertyNames"]
        tenants |= {"properties": {granted.tenant: reference}, "additionalProperties": False}
    title = f"the included file of tenant {granted.tenant}" if granted.tenant else "included files of Tenantry"
    return for_editors(
        {
            "$schema": DIALECT,
            "title": title,
            "type": "object",
            "properties": {"tenants": tenants},
            "required": ["tenants"],
            "additionalProperties": False,
            "$defs": _used(tenants, definitions),
        }
    )


def _keep(definition: dict[str, Any], keys: set[str]) -> None:
    """Leave the properties that the file may set."""
    definition["properties"] = {key: part for key, part in definition["properties"].items() if key in keys}


def _renamed(schema: Any, name: str, other: str) -> Any:
    """The schema with references to another definition in the place of those to one."""
    if isinstance(schema, dict):
        return {key: _renamed(value, name, other) for key, value in schema.items()}
    if isinstance(schema, list):
        return [_renamed(value, name, other) for value in schema]
    return f"{_REFERENCE}{other}" if schema == f"{_REFERENCE}{name}" else schema


def _drop_advanced(definitions: Mapping[str, Any]) -> None:
    """Take the keys away, in whatever holds a block of their kind; what is below a key of its own stays."""
    for name, definition in definitions.items():
        kind = getattr(getattr(model, name, None), "flux_kind", "")
        for path in ADVANCED.get(kind, ()):
            if len(path) == 1:
                definition["properties"].pop(path[0], None)


def _one_of(names: tuple[str, ...]) -> dict[str, Any]:
    return {"enum": list(names)} if names else dict(_NOTHING)


def _used(schema: Any, definitions: Mapping[str, Any]) -> dict[str, Any]:
    """The definitions that a schema refers to, itself or by others, in their order."""
    found: set[str] = set()
    waiting = [schema]
    while waiting:
        for name in _references(waiting.pop()):
            if name not in found:
                found.add(name)
                waiting.append(definitions[name])
    return {name: definition for name, definition in definitions.items() if name in found}


def _references(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        if isinstance(reference := schema.get("$ref"), str):
            yield reference.removeprefix(_REFERENCE)
        for value in schema.values():
            yield from _references(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from _references(value)
