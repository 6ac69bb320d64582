"""`tests.table`: every row is run, and those that fail are named."""

from __future__ import annotations

import inspect

import pytest

from tests.table import table


def test_rows_that_fail_are_named_and_the_others_are_run() -> None:
    seen: list[int] = []

    @table("number, limit", [(1, 5), (7, 5), (2, 5), (9, 5)])
    def is_small(number: int, limit: int) -> None:
        seen.append(number)
        assert number < limit

    with pytest.raises(BaseExceptionGroup, match="2 of 4 rows") as failed:
        is_small()
    assert seen == [1, 7, 2, 9]
    assert [each.__notes__ for each in failed.value.exceptions] == [["in the row (7, 5)"], ["in the row (9, 5)"]]


def test_a_row_that_skips_itself_fails() -> None:
    @table("text", ["a", "b"])
    def skips(text: str) -> None:
        if text == "b":
            pytest.skip("no b here")

    with pytest.raises(AssertionError, match="the row 'b' skips itself: no b here"):
        skips()


def test_a_fixture_stays_a_parameter_and_tables_multiply() -> None:
    seen: list[tuple[str, int, int]] = []

    @table("one", [1, 2])
    @table("other", [3, 4])
    def pairs(fixture: str, one: int, other: int) -> None:
        seen.append((fixture, one, other))

    assert [*inspect.signature(pairs).parameters] == ["fixture"]
    pairs(fixture="x")
    assert seen == [("x", 1, 3), ("x", 1, 4), ("x", 2, 3), ("x", 2, 4)]


def test_an_empty_table_is_a_mistake() -> None:
    with pytest.raises(AssertionError, match="tests nothing"):
        table("text", [])
