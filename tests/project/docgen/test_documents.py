"""The page of JSON documents follows from the models."""

from __future__ import annotations

from pathlib import Path

import pytest

from docgen.documents.__main__ import PAGE, main
from docgen.documents.page import page
from tenantry.cli.documents.kinds import KINDS


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == page()


def test_every_document_has_a_section() -> None:
    text = page()
    assert [kind for kind, models in KINDS.items() if models and f"\n## {kind}\n" not in text] == []


def test_a_stale_page_is_found_and_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "output-reference.md"
    assert main(["--check"], file) == 1
    assert "fix: run `make reference`" in capsys.readouterr().err
    assert (main([], file), main(["--check"], file)) == (0, 0)
