"""The examples' pages show what `validate` prints; tests/project/test_blocks.py has the other pages."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from tenantry.cli.app import run

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = [each.relative_to(ROOT).as_posix() for each in sorted(ROOT.glob("examples/*/README.md"))]
_BLOCK = re.compile(r"^ *```console\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)


def outputs(page: str) -> Iterator[tuple[str, str]]:
    """Every command that a page shows, with the output below it."""
    for block in _BLOCK.findall((ROOT / page).read_text(encoding="utf-8")):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            yield command, output


def printed(command: str, capsys: pytest.CaptureFixture[str]) -> str:
    """What a command of ours prints in the current directory, and to stdout and stderr alike."""
    _, *arguments = shlex.split(command)
    run(arguments)
    captured = capsys.readouterr()
    return captured.out + captured.err


@pytest.mark.parametrize("page", EXAMPLES)
def test_an_examples_readme_shows_what_validate_prints(
    page: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir((ROOT / page).parent)
    shown = [output for command, output in outputs(page) if command == "tenantry validate"]
    assert [printed("tenantry validate", capsys) for _ in shown] == shown
