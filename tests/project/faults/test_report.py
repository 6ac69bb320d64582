"""What a run of tests/faults writes to docs/reliability.md and tests/faults/results.md."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.report import SUMMARY, TABLES, Results, Row, clipped, counts, main, read, table, with_section

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


@pytest.mark.parametrize("page", [SUMMARY, TABLES], ids=lambda page: page.name)
@pytest.mark.parametrize("section", SECTIONS)
def test_both_pages_have_a_place_for_every_section(section: str, page: Path) -> None:
    assert f"<!-- {section}: begin -->new<!-- {section}: end -->" in with_section(page.read_text(), section, "new")


@pytest.mark.parametrize("section", SECTIONS)
def test_the_summary_has_the_counts_of_the_table(section: str) -> None:
    begin, end = f"<!-- {section}: begin -->", f"<!-- {section}: end -->"
    first, *_ = TABLES.read_text().partition(begin)[2].splitlines()[1:]
    assert first.removesuffix(".") == SUMMARY.read_text().partition(begin)[2].partition(end)[0]


def test_a_section_is_replaced_between_its_markers_and_the_rest_stays() -> None:
    page = "a\n<!-- isolation: begin -->\nold\n<!-- isolation: end -->\nb\n"
    expected = "a\n<!-- isolation: begin -->new<!-- isolation: end -->\nb\n"
    assert expected == with_section(page, "isolation", "new")


def test_a_run_writes_the_counts_to_the_summary_and_the_table_to_the_results(tmp_path: Path) -> None:
    summary, tables = tmp_path / "summary.md", tmp_path / "tables.md"
    summary.write_text("| tries | <!-- isolation: begin -->old<!-- isolation: end --> |\n")
    tables.write_text("<!-- isolation: begin -->\nold\n<!-- isolation: end -->\n")
    Results([ROW]).write(tmp_path / "results")
    main(str(tmp_path / "results"), summary, tables)
    expected = "| tries | <!-- isolation: begin -->1 tried: 1 refused<!-- isolation: end --> |\n"
    assert expected == summary.read_text()
    assert f"<!-- isolation: begin -->\n{TABLE}\n<!-- isolation: end -->\n" == tables.read_text()


def test_verdicts_are_counted_in_the_order_of_the_rows() -> None:
    rows = [Row("isolation", {}, 0.0, verdict) for verdict in ("refused", "not refused", "refused")]
    assert "3 tried: 2 refused, 1 not refused" == counts(rows)


def test_a_page_without_the_markers_is_refused() -> None:
    with pytest.raises(ValueError, match=r"the page has no markers <!-- crash: begin --> and <!-- crash: end -->"):
        with_section("nothing", "crash", "new")
