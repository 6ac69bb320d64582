"""The tables of docs/performance.md come from the results; its prose is left alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench.tables import Row, Table, as_data
from docgen.performance.page import page

PROSE = """\
# Title

Before.

<!-- table: start -->
old
<!-- end -->

<!-- table: growth growth-b -->
<!-- end -->

After.
"""


@pytest.fixture
def results(tmp_path: Path) -> Path:
    tables = {
        "start": [Table("start", "Start", "How.", (Row("one", 2.0, 1.0), Row("two", 1.0, 0.5)), "two")],
        "growth": [Table(f"growth-{each}", each, "How.", (Row("row", more={"x": 1.0}),)) for each in "ab"],
    }
    cases = {
        name: {"date": "2026-01-02", "machine": "2 cores", "tables": [as_data(each) for each in found]}
        for name, found in tables.items()
    }
    file = tmp_path / "results.json"
    file.write_text(json.dumps({"cases": cases}))
    return file


def test_what_stands_between_markers_is_written_and_the_rest_stays(tmp_path: Path, results: Path) -> None:
    file = tmp_path / "page.md"
    file.write_text(PROSE)
    written = page(file, results)
    assert written == (
        """\
# Title

Before.

<!-- table: start -->

**Start.** How.

|  | seconds | processor | ratio |
| --- | --: | --: | --: |
| one | 2 | 1 | 2.00 |
| two | 1 | 0.5 | 1.00 |

`python -m bench.run start`, 2026-01-02, 2 cores.

<!-- end -->

<!-- table: growth growth-b -->

**b.** How.

|  | x |
| --- | --: |
| row | 1 |

`python -m bench.run growth`, 2026-01-02, 2 cores.

<!-- end -->

After.
"""
    )
    file.write_text(written)
    assert page(file, results) == written
