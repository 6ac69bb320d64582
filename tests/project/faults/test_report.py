"""What a run of tests/faults writes to docs/reliability.md and tests/faults/results.md."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.report import SUMMARY, TABLES, Results, Row, main, with_section

ROW = Row("isolation", {"what": "a | b", "where": "hub", "answer": "`no`"}, 0.123, "refused")
TABLE = """\
1 tried: 1 refused.

| what | where | answer | seconds | verdict |
| --- | --- | --- | --- | --- |
| a \\| b | hub | `no` | 0.1 | refused |"""
SECTIONS = ("isolation", "crashes", "faults", "drift", "clusters", "walk", "lifecycle")


@pytest.mark.parametrize("page", [SUMMARY, TABLES], ids=lambda page: page.name)
@pytest.mark.parametrize("section", SECTIONS)
def test_both_pages_have_a_place_for_every_section(section: str, page: Path) -> None:
    assert f"<!-- {section}: begin -->new<!-- {section}: end -->" in with_section(page.read_text(), section, "new")


@pytest.mark.parametrize("section", SECTIONS)
def test_the_summary_has_the_counts_of_the_table(section: str) -> None:
    begin, end = f"<!-- {section}: begin -->", f"<!-- {section}: end -->"
    first, *_ = TABLES.read_text().partition(begin)[2].splitlines()[1:]
    assert first.removesuffix(".") == SUMMARY.read_text().partition(begin)[2].partition(end)[0]


def test_a_run_writes_the_counts_to_the_summary_and_the_table_to_the_results(tmp_path: Path) -> None:
    summary, tables = tmp_path / "summary.md", tmp_path / "tables.md"
    summary.write_text("| tries | <!-- isolation: begin -->old<!-- isolation: end --> |\n")
    tables.write_text("<!-- isolation: begin -->\nold\n<!-- isolation: end -->\n")
    Results([ROW]).write(tmp_path / "results")
    main(str(tmp_path / "results"), summary, tables)
    expected = "| tries | <!-- isolation: begin -->1 tried: 1 refused<!-- isolation: end --> |\n"
    assert expected == summary.read_text()
    assert f"<!-- isolation: begin -->\n{TABLE}\n<!-- isolation: end -->\n" == tables.read_text()
