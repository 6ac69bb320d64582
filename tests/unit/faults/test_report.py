"""What a run of tests/faults leaves for docs/reliability.md."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.report import PAGE, Results, Row, clipped, read, table, with_section

ROW = Row("isolation", {"what": "a | b", "where": "hub", "answer": "`no`"}, 0.123, "refused")
TABLE = """\
1 tried: 1 refused.

| what | where | answer | seconds | verdict |
| --- | --- | --- | --- | --- |
| a \\| b | hub | `no` | 0.1 | refused |"""
SECTIONS = ("isolation", "crashes", "faults", "drift", "clusters", "walk", "lifecycle")


def test_rows_come_back_by_section_as_they_were_noted(tmp_path: Path) -> None:
    Results([ROW]).write(tmp_path / "results")
    assert {"isolation": [ROW]} == read(tmp_path / "results")


def test_a_section_is_a_table_after_a_line_that_counts() -> None:
    assert TABLE == table([ROW])


def test_each_section_has_columns_of_its_own(tmp_path: Path) -> None:
    other = Row("crashes", {"run": "up", "killed after": "3 objects"}, 12.0, "converged")
    Results([ROW, other]).write(tmp_path)
    crashes = table(read(tmp_path)["crashes"])
    assert crashes.splitlines()[2] == "| run | killed after | seconds | verdict |"
    assert crashes.splitlines()[4] == "| up | 3 objects | 12.0 | converged |"


def test_rows_of_one_section_with_different_columns_are_refused() -> None:
    expected = r"rows of section isolation have the columns \('what', 'where', 'answer'\) and \('run',\)"
    with pytest.raises(ValueError, match=expected):
        table([ROW, Row("isolation", {"run": "up"}, 1.0, "refused")])


def test_a_long_answer_is_clipped_and_a_short_one_is_not() -> None:
    assert clipped("a" * 160) == "a" * 160
    assert clipped("a" * 161) == "a" * 160 + "..."


@pytest.mark.parametrize("section", SECTIONS)
def test_the_page_has_a_place_for_every_section(section: str) -> None:
    assert "\nnew\n" in with_section(PAGE.read_text(encoding="utf-8"), section, "new")


def test_a_section_is_replaced_between_its_markers_and_the_rest_stays() -> None:
    page = "a\n<!-- isolation: begin -->\nold\n<!-- isolation: end -->\nb\n"
    expected = "a\n<!-- isolation: begin -->\nnew\n<!-- isolation: end -->\nb\n"
    assert expected == with_section(page, "isolation", "new")


def test_a_page_without_the_markers_is_refused() -> None:
    with pytest.raises(ValueError, match=r"the page has no markers <!-- crash: begin --> and <!-- crash: end -->"):
        with_section("nothing", "crash", "new")
