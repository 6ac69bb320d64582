"""The fields in which any two pieces of plain data differ."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tenantry.facts.objects import changed_fields
from tests.drawn import given

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
