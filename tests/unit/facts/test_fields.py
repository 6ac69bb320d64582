"""Two pieces of plain data, and the fields in which they differ."""

from __future__ import annotations

from typing import Any

from tenantry.facts.objects import FieldChange, changed_fields
from tenantry.messages.data import ABSENT
from tests.table import table

ROLE = {"kind": "Role", "metadata": {"name": "r", "namespace": "n"}, "rules": [1]}
QUOTA = {"kind": "ResourceQuota", "metadata": {"name": "q"}, "spec": {"hard": {"pods": "1"}}}


@table(
    ("before", "after", "expected"),
    [
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, []),
        ({"a": 1}, {"a": True}, [(("a",), 1, True)]),
        ({"a": 1}, {"a": 1.0}, [(("a",), 1, 1.0)]),
        ({"a": None}, {}, [(("a",), None, ABSENT)]),
        ({}, {"a": {"b": 1}}, [(("a",), ABSENT, {"b": 1})]),
        ({"a": {"b": 1}}, {"a": [1]}, [(("a",), {"b": 1}, [1])]),
        ({"a": [1, 2, 3]}, {"a": [1, 5, 3]}, [(("a", 1), 2, 5)]),
        ({"a": [1, 2, 3]}, {"a": [1, 3]}, [(("a", 1), 2, ABSENT)]),
        ({"a": [1, 3]}, {"a": [1, 2, 2, 3]}, [(("a", 1), ABSENT, 2), (("a", 2), ABSENT, 2)]),
        ({"a": [1]}, {"a": [True]}, [(("a", 0), 1, True)]),
        (
            {"a": [{"name": "x", "v": 1}, {"name": "y", "v": 2}]},
            {"a": [{"name": "y", "v": 2}]},
            [(("a", 0), {"name": "x", "v": 1}, ABSENT)],
        ),
        (
            {"a": [{"name": "x"}, {"name": "y"}]},
            {"a": [{"name": "y"}, {"name": "x"}]},
            [(("a", 0, "name"), "x", "y"), (("a", 1, "name"), "y", "x")],
        ),
        (
            {"a": [ROLE, QUOTA]},
            {"a": [ROLE, {**QUOTA, "spec": {"hard": {}}}]},
            [(("a", 1, "spec", "hard", "pods"), "1", ABSENT)],
        ),
        ({"a": [ROLE]}, {"a": [ROLE, QUOTA]}, [(("a", 1), ABSENT, QUOTA)]),
    ],
)
def test_each_outermost_value_that_differs_is_found(before: Any, after: Any, expected: list[Any]) -> None:
    assert list(changed_fields(before, after)) == [FieldChange(*each) for each in expected]
