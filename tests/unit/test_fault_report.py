"""What a run of tests/faults leaves for docs/reliability.md."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.report import Results, Row, read, table, with_section

ROW = Row("isolation", "neighbour", "a | b", "hub", "system:serviceaccount:rocky:rocky", "`no`", 0.123, "refused")
TABLE = """\
1 tried: 1 refused.

| what | where | as | answer | seconds | verdict |
| --- | --- | --- | --- | --- | --- |
| a \\| b | hub | rocky:rocky | `no` | 0.1 | refused |"""


def test_rows_come_back_by_section_as_they_were_noted(tmp_path: Path) -> None:
    Results([ROW]).write(tmp_path / "results")
    assert {"isolation": [ROW]} == read(tmp_path / "results")


def test_a_section_is_a_table_after_a_line_that_counts() -> None:
    assert TABLE == table([ROW])


def test_a_section_is_replaced_between_its_markers_and_the_rest_stays() -> None:
    page = "a\n<!-- isolation: begin -->\nold\n<!-- isolation: end -->\nb\n"
    expected = "a\n<!-- isolation: begin -->\nnew\n<!-- isolation: end -->\nb\n"
    assert expected == with_section(page, "isolation", "new")


def test_a_page_without_the_markers_is_refused() -> None:
    with pytest.raises(ValueError, match=r"the page has no markers <!-- crash: begin --> and <!-- crash: end -->"):
        with_section("nothing", "crash", "new")
