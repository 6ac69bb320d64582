"""Nothing that stands in a fleet comes alive in the comment that `diff` writes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import strategies as st

from tenantry.cli.app import run
from tests.drawn import given
from tests.markdown import alive
from tests.unit.cli.test_diff_hides import TEXTS, hostile


@pytest.fixture(autouse=True)
def _directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@given(st.sampled_from(TEXTS), st.sampled_from(TEXTS))
def test_nothing_of_a_value_comes_alive_in_a_comment(before: str, after: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        said: list[str] = []
        patch.setattr("tenantry.cli.diff.data", said.append)
        for one, other in ((before, after), (after, before)):
            Path("before.yaml").write_text(hostile([one]))
            Path("tenants.yaml").write_text(hostile([other]))
            assert run(["diff", "./before.yaml", "--output", "markdown"]) in (0, 1, 4)
    for document in said:
        inner = re.sub(r"<!-- tenantry diff -->|</?(details|summary)>", "", document)
        assert not [each for each in alive(inner) if not each.startswith(ALLOWED)], document


ALLOWED = ("heading_open", "structure", "strong_open", "[!WARNING]", "[!CAUTION]")
"""What the comment itself is made of."""
