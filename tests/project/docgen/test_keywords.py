"""From a definition's schema to JSON Schema."""

from __future__ import annotations

from typing import Any

import pytest

from docgen.schemas.keywords import UnknownKeyword, json_schema

LONG = {"minimum": -(2**63), "maximum": 2**63 - 1}


@pytest.mark.parametrize(
    ("openapi", "expected"),
    [
        pytest.param({"type": "string", "description": "x", "title": "x"}, {"type": "string"}, id="prose is left out"),
        pytest.param(
            {"type": "string", "minLength": 1, "maxLength": 2, "pattern": "^a", "enum": ["a"], "default": "a"},
            {"type": "string", "minLength": 1, "maxLength": 2, "pattern": "^a", "enum": ["a"], "default": "a"},
            id="constraints are kept",
        ),
        pytest.param({"type": "integer"}, {"type": "integer", **LONG}, id="whole numbers have 64 bits"),
        pytest.param(
            {"type": "integer", "minimum": 0},
            {"type": "integer", **LONG, "minimum": 0},
            id="bounds of whole numbers are kept",
        ),
        pytest.param({"type": "string", "nullable": True}, {"type": ["string", "null"]}, id="nullable"),
        pytest.param(
            {"x-kubernetes-int-or-string": True, "anyOf": [{"type": "integer"}, {"type": "string"}]},
            {"type": ["integer", "string"]},
            id="a number or a string",
        ),
        pytest.param(
            {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["b", "a"]},
            {
                "type": "object",
                "properties": {"a": {"type": "string"}},
                "required": ["a", "b"],
                "additionalProperties": False,
            },
            id="mappings are closed",
        ),
        pytest.param(
            {"type": "object", "additionalProperties": {"type": "string", "description": "x"}},
            {"type": "object", "additionalProperties": {"type": "string"}},
            id="unless any key is allowed",
        ),
        pytest.param(
            {"type": "object", "x-kubernetes-preserve-unknown-fields": True}, {"type": "object"}, id="or kept as it is"
        ),
        pytest.param(
            {"type": "array", "items": {"type": "string", "description": "x"}, "x-kubernetes-list-type": "set"},
            {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
            id="sets",
        ),
        pytest.param(
            {
                "type": "array",
                "items": {"type": "string"},
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["a"],
            },
            {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-map-keys": ["a"]},
            id="lists with unique keys",
        ),
        pytest.param(
            {"type": "string", "x-kubernetes-validations": [{"rule": "self != 'x'", "message": "x is bad"}]},
            {"type": "string", "x-kubernetes-validations": ["self != 'x'"]},
            id="rules without their messages",
        ),
    ],
)
def test_a_schema_becomes_json_schema(openapi: dict[str, Any], expected: dict[str, Any]) -> None:
    assert expected == json_schema(openapi)


@pytest.mark.parametrize("keyword", ["anyOf", "format", "x-kubernetes-embedded-resource"])
def test_what_would_get_lost_is_refused(keyword: str) -> None:
    openapi = {"type": "object", "properties": {"a": {"type": "array", "items": {keyword: 1}}}}

    with pytest.raises(UnknownKeyword) as refused:
        json_schema(openapi, "Widget.spec")

    assert str(refused.value) == (
        f"Widget.spec.a[] uses '{keyword}', which no schema here can express yet\n"
        "  fix: teach it to docgen/schemas/keywords.py and to tenantry/flux/conformance.py"
    )
