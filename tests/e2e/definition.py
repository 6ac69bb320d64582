"""A CustomResourceDefinition with the schema of a data file, as docgen/schemas derives them: an API server enforces it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Schema = Mapping[str, Any]
_OWN = ("additionalProperties", "uniqueItems", "type")
_BOUNDS = {("minimum", str(-(2**63))), ("maximum", str(2**63 - 1))}
"""Those of every whole number, which an API server knows, and cannot read in a definition."""


def definition(record: Mapping[str, Any]) -> dict[str, Any]:
    """The definition of a kind whose objects have this spec, and no other constraint."""
    group, kind, plural = record["group"], record["kind"], record["plural"]
    properties = {"spec": structural(record["spec"])}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "names": {"kind": kind, "plural": plural, "singular": kind.lower(), "listKind": f"{kind}List"},
            "scope": record["scope"],
            "versions": [
                {
                    "name": record["version"],
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": {"type": "object", "properties": properties}},
                }
            ],
        },
    }


def structural(schema: Schema) -> dict[str, Any]:
    """A derived schema as API servers want it: mappings are closed by default, and those that are open say so."""
    made = {key: value for key, value in schema.items() if key not in _OWN and (key, str(value)) not in _BOUNDS}
    made |= _type(schema.get("type"))
    others = schema.get("additionalProperties")
    if isinstance(others, Mapping):
        made["additionalProperties"] = structural(others)
    elif others is None and schema.get("type") in (None, "object"):
        made["x-kubernetes-preserve-unknown-fields"] = True
    if "properties" in schema:
        made["properties"] = {key: structural(value) for key, value in schema["properties"].items()}
    if "items" in schema:
        made["items"] = structural(schema["items"])
    if "x-kubernetes-list-map-keys" in schema:
        made["x-kubernetes-list-type"] = "map"
    if schema.get("uniqueItems"):
        made["x-kubernetes-list-type"] = "set"
    if "x-kubernetes-validations" in schema:
        made["x-kubernetes-validations"] = [{"rule": each} for each in schema["x-kubernetes-validations"]]
    return made


def _type(written: str | list[str] | None) -> dict[str, Any]:
    kinds = [written] if isinstance(written, str) else written or []
    nullable = {"nullable": True} if "null" in kinds else {}
    named = [each for each in kinds if each != "null"]
    if named == ["integer", "string"]:
        return {"x-kubernetes-int-or-string": True, **nullable}
    return {"type": named[0], **nullable} if named else nullable
