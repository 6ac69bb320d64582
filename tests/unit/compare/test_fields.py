"""Two pieces of plain data, and the fields in which they differ."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import strategies as st

from tenantry.compare.fields import Entry, FieldChange, changed_fields
from tenantry.messages.data import ABSENT
from tests.drawn import given

ROLE = {"kind": "Role", "metadata": {"name": "r", "namespace": "n"}, "rules": [1]}
QUOTA = {"kind": "ResourceQuota", "metadata": {"name": "q"}, "spec": {"hard": {"pods": "1"}}}


@pytest.mark.parametrize(
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


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(0, 2) | st.sampled_from(["", "a", "b"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["name", "kind", "a"]), inner, max_size=3)
    ),
    max_leaves=12,
)


@given(VALUES, VALUES)
def test_only_equal_data_has_no_changed_fields_and_the_way_back_has_the_same_ones(before: Any, after: Any) -> None:
    there, back = list(changed_fields(before, after)), list(changed_fields(after, before))
    assert (there == []) == (_key(before) == _key(after))
    assert sorted((each.path, repr(each.before), repr(each.after)) for each in there if _plain(each.path)) == sorted(
        (each.path, repr(each.after), repr(each.before)) for each in back if _plain(each.path)
    )
    assert [] == list(changed_fields(before, before))


def _plain(path: tuple[str | int, ...]) -> bool:
    """Paths whose parts compare; numbers and names do not go together in a sort."""
    return not any(isinstance(part, int) for part in path)


def _key(value: Any) -> str:
    """Text that is the same for equal data only, whatever the order of keys."""
    if isinstance(value, dict):
        return f"{{{sorted((key, _key(each)) for key, each in value.items())}}}"
    return f"[{[_key(each) for each in value]}]" if isinstance(value, list) else repr(value)
