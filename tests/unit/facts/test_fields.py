"""Two pieces of plain data, and the fields in which they differ."""

from __future__ import annotations

from typing import Any

from tenantry.facts.objects import Entry, FieldChange, changed_fields
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
            {"a": [{"name": "y", "v": 3}]},
            [(("a", Entry("x")), {"name": "x", "v": 1}, ABSENT), (("a", Entry("y"), "v"), 2, 3)],
        ),
        (
            {"a": [{"name": "x"}, {"name": "y"}]},
            {"a": [{"name": "y"}, {"name": "x"}]},
            [(("a",), ["x", "y"], ["y", "x"])],
        ),
        ({"a": [{"name": "x"}, {"name": "x"}]}, {"a": [{"name": "x"}]}, [(("a", 1), {"name": "x"}, ABSENT)]),
        (
            {"a": [QUOTA]},
            {"a": [ROLE, {**QUOTA, "spec": {"hard": {}}}]},
            [
                (("a", Entry("ResourceQuota q"), "spec", "hard", "pods"), "1", ABSENT),
                (("a", Entry("Role r")), ABSENT, ROLE),
            ],
        ),
        (
            {"a": [ROLE, {**ROLE, "metadata": {"name": "r", "namespace": "m"}}]},
            {"a": [ROLE]},
            [(("a", Entry("Role r in m")), {**ROLE, "metadata": {"name": "r", "namespace": "m"}}, ABSENT)],
        ),
    ],
)
def test_each_outermost_value_that_differs_is_found(before: Any, after: Any, expected: list[Any]) -> None:
    assert list(changed_fields(before, after)) == [FieldChange(*each) for each in expected]
