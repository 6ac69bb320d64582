"""Walks over a value alongside its schema."""

from __future__ import annotations

from typing import Any

from tenantry.flux.conformance import _described, completed

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "mode": {"type": "string", "default": "on"},
        "entries": {
            "type": "array",
            "items": {"type": "object", "properties": {"n": {"type": "integer", "default": 1}}},
        },
        "labels": {"type": "object", "additionalProperties": {"type": "string"}},
        "values": {},
    },
}


def test_defaults_are_filled_in_where_their_block_is_there() -> None:
    assert completed(SCHEMA, {"entries": [{}, {"n": 2}]}) == {"mode": "on", "entries": [{"n": 1}, {"n": 2}]}


def test_a_value_that_is_given_stays() -> None:
    assert completed(SCHEMA, {"mode": "off", "values": {"mode": 1}}) == {"mode": "off", "values": {"mode": 1}}


def test_the_value_itself_is_not_changed() -> None:
    value: dict[str, Any] = {"entries": [{}]}

    completed(SCHEMA, value)

    assert value == {"entries": [{}]}


def test_values_of_the_wrong_type_pass_through() -> None:
    assert completed(SCHEMA, {"mode": [], "entries": "x"}) == {"mode": [], "entries": "x"}


def test_only_what_may_be_anything_is_hidden() -> None:
    value = {"labels": {"a": "b"}, "entries": [{"n": 1}], "values": {"a": 10**40}}
    assert _described(SCHEMA, value) == value | {"values": None}
