"""Documents are written in the text of `json.dumps`, whatever the data; see `tenantry.cli.json_text`."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings

from tenantry.cli.json_text import indented
from tests.unit.kube.test_yaml_text import DATA, NASTY, outcome


class _Colour(StrEnum):
    RED = "red"


class _Pair(NamedTuple):
    one: int
    other: str


def by_json(value: Any) -> str:
    return json.dumps(value, indent=2, allow_nan=False)


@settings(max_examples=100, deadline=None)
@given(DATA)
def test_whatever_the_data_the_text_is_that_of_json(value: Any) -> None:
    assert outcome(indented, value) == outcome(by_json, value)


@pytest.mark.parametrize(
    "value",
    [
        *([], {}, (), "", 0, -1, 2**70, 1.5, -0.0, 1e22, True, None, [[]], {"a": {}}, {"a": []}, [{}, [[], {}], ()]),
        {"a": [1, {"b": ["c", {"d": None}]}], "e": (True, False)},
        *({1: "a", None: "c"}, {True: "b"}, {"a": _Colour.RED}, {_Colour.RED: 1}, [_Pair(1, "a")], [1, True, 1.0]),
        {text: [text, {text: text}] for text in NASTY},
    ],
)
def test_every_type_is_written_as_json_does(value: Any) -> None:
    assert indented(value) == by_json(value)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), [{"a": -float("inf")}]])
def test_a_number_that_json_lacks_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match="Out of range float values are not JSON compliant"):
        indented(value)
