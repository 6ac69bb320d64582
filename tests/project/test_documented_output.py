"""The examples' pages show what `validate` and `set` print; tests/project/test_blocks.py has the other pages."""

from __future__ import annotations

import re
import shlex
import shutil
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
def test_an_examples_readme_shows_what_commands_print(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copy((ROOT / page).with_name("tenants.yaml"), tmp_path)
    monkeypatch.chdir(tmp_path)
    shown = [each for each in outputs(page) if each[0].startswith(("tenantry validate", "tenantry set"))]
    assert [(command, printed(command, capsys)) for command, _ in shown] == shown
