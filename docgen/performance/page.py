"""docs/performance.md with the tables of bench/results.json: what stands between its markers is written, the prose is left."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

from bench.run import RESULTS
from bench.tables import Table, from_data

PAGE = Path(__file__).parents[2] / "docs" / "performance.md"
_PART = re.compile(r"(<!-- table: (?P<case>[a-z]+)(?: (?P<ids>[-a-z0-9 ]+))? -->\n).*?(<!-- end -->)", re.DOTALL)


def page(file: Path = PAGE, results: Path = RESULTS) -> str:
    """The text of the page. `<!-- table: CASE [ID...] -->` stands for all tables of a case, or for those with these ids."""
    cases = json.loads(results.read_text(encoding="utf-8"))["cases"]

    def filled(match: re.Match[str]) -> str:
        case = cases[match["case"]]
        tables = [from_data(each) for each in case["tables"]]
        wanted = (match["ids"] or "").split()
        shown = [table for table in tables if not wanted or table.id in wanted]
        facts = f"`python -m bench.run {match['case']}`, {case['date']}, {case['machine']}."
        return match[1] + "\n" + "\n\n".join(map(_markdown, shown)) + f"\n\n{facts}\n\n" + match[4]

    return _PART.sub(filled, file.read_text(encoding="utf-8"))


def _markdown(table: Table) -> str:
    headings, cells = table.headings(), list(table.cells())
    align = ["---", *("--:" for _ in headings[1:])]
    lines = (f"| {' | '.join(each)} |" for each in (headings, align, *cells))
    return f"**{table.title}.** {table.about}\n\n" + "\n".join(lines)


def tables_of(results: Path = RESULTS) -> Mapping[str, Table]:
    """All tables by their ids."""
    cases = json.loads(results.read_text(encoding="utf-8"))["cases"]
    return {each["id"]: from_data(each) for case in cases.values() for each in case["tables"]}
