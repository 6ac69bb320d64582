"""A result is its own document: fields are keys, and values have one form in JSON."""

from __future__ import annotations

import json
from collections import OrderedDict
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from enum import Enum, StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple

import pytest

from tenantry.cli.commands import as_document
from tenantry.cli.output import as_json, plain
from tenantry.facts.objects import FieldChange
from tenantry.messages.data import ABSENT
from tenantry.messages.errors import NOWHERE, InvalidFleet, Location, Problem, Refused, error
from tests.table import table
from tests.unit.kube.test_yaml_text import NASTY


class Colour(StrEnum):
    RED = "red"


class Number(Enum):
    ONE = 1


class Pair(NamedTuple):
    left_over: int
    right: str


@dataclass(frozen=True, slots=True)
class Result:
    max_deletions: Any
    pair: Pair


@dataclass(frozen=True, slots=True)
class Chosen:
    json_keys: ClassVar = ("is_fit", "name")
    name: str
    secret: str = "hunter2"

    @property
    def is_fit(self) -> bool:
        return True


@table(
    ("value", "expected"),
    [
        (Result(1, Pair(2, "x")), {"maxDeletions": 1, "pair": {"leftOver": 2, "right": "x"}}),
        (Chosen("web"), {"isFit": True, "name": "web"}),
        ([Colour.RED, Number.ONE, {Colour.RED: Number.ONE}], ["red", 1, {"red": 1}]),
        ((Path("a/b"), {Path("c"): None}), ["a/b", {"c": None}]),
        (datetime(2026, 1, 2, 3, 4, 5, 678, tzinfo=UTC), "2026-01-02T03:04:05Z"),
        (datetime(2026, 1, 2, 3, tzinfo=timezone(timedelta(hours=2))), "2026-01-02T01:00:00Z"),
        (frozenset({"b", "a"}), ["a", "b"]),
        (MappingProxyType({"snake_case": OrderedDict(a=(1,))}), {"snake_case": {"a": [1]}}),
        ({1: 2, None: 3, False: 4}, {"1": 2, "null": 3, "false": 4}),
    ],
)
def test_a_value_has_one_form(value: Any, expected: Any) -> None:
    assert json.loads(as_json(value)) == plain(value) == expected


def test_what_is_absent_is_left_out_and_null_is_a_value() -> None:
    assert plain(FieldChange(("spec", "path"), ABSENT, None)) == {"path": ["spec", "path"], "after": None}
    assert plain({"a": ABSENT, "b": None}) == {"b": None}


def test_a_problem_has_a_location_if_it_is_in_a_file() -> None:
    problem = Problem(("tenants", 0), "unused", "m", ("n",), "f", at_key=True)
    assert plain(problem.at(Location("tenants.yaml", 3, 5))) == {
        "location": {"file": "tenants.yaml", "line": 3, "column": 5},
        "severity": "error",
        "code": "unused",
        "message": "m",
        "path": ["tenants", 0],
        "notes": ["n"],
        "fix": "f",
    }
    assert "location" not in plain(problem)
    assert problem.location is NOWHERE


def test_what_quotes_a_file_is_printed_without_secrets() -> None:
    secret = "password=hunter2hunter2"
    problem = error("unused", secret, secret).at(Location("tenants.yaml", 1, 1))
    for failure in (Refused(secret, secret), InvalidFleet([problem]), ZeroDivisionError(secret)):
        assert "hunter2" not in as_json(as_document(failure), "Validation")


def test_a_document_begins_with_its_version_and_its_kind() -> None:
    assert list(json.loads(as_json(Pair(1, "x"), "List")).items())[:2] == [
        ("apiVersion", "tenantry/v1"),
        ("kind", "List"),
    ]


def test_a_type_without_a_form_is_a_bug() -> None:
    for value in (object(), b"hunter2", iter(())):
        with pytest.raises(TypeError, match=r"^\w+ has no form in JSON$"):
            as_json({"value": value})


@table(
    "value",
    [
        *([], {}, "", 0, -1, 2**70, 1.5, -0.0, 1e22, True, None, [[]], {"a": {}}, {"a": []}, [{}, [[], {}]]),
        {"a": [1, {"b": ["c", {"d": None}]}], "e": [True, False]},
        {text: [text, {text: text}] for text in NASTY if "\ud800" not in text},
    ],
)
def test_every_type_is_written_as_json_does(value: Any) -> None:
    holds(value)


def holds(value: Any) -> None:
    text = as_json({"objects": [{"value": value}]}, "Objects")
    assert text.isascii()
    assert json.loads(text)["objects"] == [{"value": value}]
