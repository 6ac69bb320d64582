"""Every block of commands in the documentation is run, here or by tests/e2e, or says why nothing can run it.

`pytest --update-golden` writes what commands print into the pages; read the difference as a reader would.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.blocks import PAGES, ROOT, RUNNERS, blocks
from tests.reader import Difference, Reader

NOT_RUN = 15
"""How many blocks nothing runs. Find a way to run a new one before you raise this."""

RUN_HERE = [page for page in PAGES if any(each.runs == "here" for each in blocks(page))]


@pytest.fixture(autouse=True)
def _alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "Test")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "test@example.com")


@pytest.mark.parametrize("page", RUN_HERE)
def test_the_commands_of_a_page_do_what_it_shows(
    page: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], *, update_golden: bool
) -> None:
    reader, found = Reader(tmp_path, capsys.readouterr), blocks(page)
    if "starts" not in found[0].notes:
        reader.start("repository")
    for block in found:
        reader.follow(block)
    if update_golden:
        _write(ROOT / page, reader.differences)
    assert reader.differences == []


def _write(page: Path, differences: list[Difference]) -> None:
    """Make a page show what its commands print."""
    text = page.read_text(encoding="utf-8")
    for block, command, shown, printed in differences:
        now = block.text.replace(f"{command}\n{shown}", f"{command}\n{printed}")
        text = text.replace(block.text, now, 1)
    page.write_text(text, encoding="utf-8")


def test_blocks_that_nothing_runs_are_few_and_say_why() -> None:
    every = [block for page in PAGES for block in blocks(page) if block.has_commands]
    left = [f"{each.place}: {each.runs}" for each in every if each.runs not in RUNNERS]
    assert len(left) == NOT_RUN, "\n".join(left)


def test_what_is_left_to_the_tutorial_is_in_the_tutorial() -> None:
    followed = {command for block in blocks("docs/tutorial.md") for command, _ in block.commands()}
    left = {c for page in PAGES for block in blocks(page) if block.runs == "tutorial" for c, _ in block.commands()}
    assert left - followed == set()
