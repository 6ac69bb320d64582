"""A command of the cookbook changes tenants.yaml as the block above it does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from tests.blocks import ROOT, blocks
from tests.reader import Reader

PAGE = "docs/cookbook.md"
TEXT = (ROOT / PAGE).read_text(encoding="utf-8")


def test_commands_do_what_the_blocks_above_them_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    reader, found = Reader(tmp_path, capsys.readouterr), {}
    reader.runs = "nothing"
    edits = [block for block in blocks(PAGE) if block.notes.keys() & {"merges", "patches"}]
    for line in re.finditer(r"^\*\*By command\*\*: (.*(?:\n.+)*)$", TEXT, re.MULTILINE):
        above = [block for block in edits if block.line < TEXT.count("\n", 0, line.start())][-1]
        reader.follow(above)
        expected = yaml.safe_load((reader.here / "tenants.yaml").read_text())
        reader.start(above.notes["starts"])
        commands = re.findall(r"`([^`]+)`", line.group(1))
        codes = [reader.printed(command)[0] for command in commands]
        done = yaml.safe_load((reader.here / "tenants.yaml").read_text())
        found[line.group(1)] = done == expected and set(codes) <= {0, 1}
    assert [command for command, same in found.items() if not same] == []
    assert len(found) == 1


def test_each_command_of_the_table_changes_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    reader = Reader(tmp_path, capsys.readouterr)
    commands = re.findall(r"^\| [^|]+ \| `(tenantry (?:add|set) [^`]+)` \|", TEXT, re.MULTILINE)
    unchanged = []
    for command in commands:
        reader.start("recipes")
        before = (reader.here / "tenants.yaml").read_text(encoding="utf-8")
        code, printed = reader.printed(command)
        if code not in (0, 1) or (reader.here / "tenants.yaml").read_text(encoding="utf-8") == before:
            unchanged.append(f"{command}\n{printed}")
    assert unchanged == []
    assert len(commands) == 17
