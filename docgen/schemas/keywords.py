"""From the schema of a CustomResourceDefinition to plain JSON Schema: what an API server enforces, and no prose.

Every keyword is either kept, translated or known to have no effect. Any other keyword is refused, so that a new version of
Flux cannot bring a constraint that nobody checks.
"""

from typing import Any, TypeAlias

from tenantry_sandbox.tools.catalog import ToolsError

Schema: TypeAlias = dict[str, Any]

RULES = "x-kubernetes-validations"
MAP_KEYS = "x-kubernetes-list-map-keys"

_KEPT = frozenset(
    {
        "default",
        "enum",
        "maxItems",
        "maxLength",
        "maxProperties",
        "maximum",
        "minItems",
        "minLength",
        "minProperties",
        "minimum",
        "pattern",
        MAP_KEYS,
    }
)
_TRANSLATED = frozenset(
    {
        "additionalProperties",
        "items",
        "nullable",
        "properties",
        "required",
        "type",
        "x-kubernetes-int-or-string",
        "x-kubernetes-list-type",
        "x-kubernetes-preserve-unknown-fields",
        RULES,
    }
)
_WIDTH = {"minimum": -(2**63), "maximum": 2**63 - 1}
"""API servers hold whole numbers in 64 bits, which definitions do not say."""
_WITHOUT_EFFECT = frozenset({"description", "title", "x-kubernetes-map-type"})


class UnknownKeyword(ToolsError):
    """A definition has a constraint that would be lost."""


def json_schema(openapi: Schema, at: str = "spec") -> Schema:
    """The constraints of a schema and of all below it.

    Mappings are closed, because a strict API server refuses keys that it does not know. Rules keep their expression alone.
    Args:    at: where the schema stands in the definition, for the error.
    Raises:  UnknownKeyword.
    Source:  kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions, "structural schema".
    """
    _refuse_unknown(openapi, at)
    schema = {keyword: value for keyword, value in openapi.items() if keyword in _KEPT}
    if types := _types(openapi):
        schema["type"] = types
    if types == "integer":
        schema = _WIDTH | schema
    if required := openapi.get("required"):
        schema["required"] = sorted(required)
    if rules := openapi.get(RULES):
        schema[RULES] = [rule["rule"] for rule in rules]
    if openapi.get("x-kubernetes-list-type") == "set":
        schema["uniqueItems"] = True
    return schema | _members(openapi, at)


def _refuse_unknown(openapi: Schema, at: str) -> None:
    unknown = set(openapi) - _KEPT - _TRANSLATED - _WITHOUT_EFFECT
    if openapi.get("x-kubernetes-int-or-string"):
        unknown.discard("anyOf")  # it repeats the same
    if unknown:
        raise UnknownKeyword(
            f"{at} uses '{min(unknown)}', which no schema here can express yet",
            "teach it to docgen/schemas/keywords.py and to tenantry/flux/conformance.py",
        )


def _types(openapi: Schema) -> str | list[str] | None:
    types = [openapi["type"]] if "type" in openapi else []
    if openapi.get("x-kubernetes-int-or-string"):
        types = ["integer", "string"]
    if openapi.get("nullable"):
        types.append("null")
    return types[0] if len(types) == 1 else types or None


def _members(openapi: Schema, at: str) -> Schema:
    """What is said about the entries of a list or a mapping."""
    members: Schema = {}
    if properties := openapi.get("properties"):
        members["properties"] = {key: json_schema(value, f"{at}.{key}") for key, value in properties.items()}
    if "items" in openapi:
        members["items"] = json_schema(openapi["items"], f"{at}[]")
    if openapi.get("type") == "object" and not openapi.get("x-kubernetes-preserve-unknown-fields"):
        others = openapi.get("additionalProperties", False)
        members["additionalProperties"] = others if isinstance(others, bool) else json_schema(others, f"{at}.*")
    return members
