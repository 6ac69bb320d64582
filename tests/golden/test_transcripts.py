"""What commands print and change: transcripts/<topic>.txt.

Consecutive `=== file NAME` begin the files of a directory. Every other heading begins a case: the lines by which these files
differ, see `changed`, of the first one or of that which `--- NAME` names; and after an empty line commands one after the
other. Each is followed by its output, with `2> ` before what is no data, its exit code if it is not 0, and the lines that it
changes in files. `pytest --update-golden` writes what follows the commands; read it as somebody who ran them.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tenantry.cli.app import run
from tests.golden.changed import changed
from tests.golden.test_edits import difference, restore

pytestmark = pytest.mark.usefixtures("plans_once")
HERE = Path(__file__).with_name("transcripts")


def of_case(files: dict[str, str], edits: list[str]) -> dict[str, str]:
    """The files with the changes of a case."""
    by_name: dict[str, list[str]] = {}
    name = next(iter(files))
    for edit in edits:
        if edit.startswith("--- "):
            name = edit.removeprefix("--- ")
        else:
            by_name.setdefault(name, []).append(edit)
    return files | {name: changed(files.get(name, ""), lines) for name, lines in by_name.items()}


def contents() -> dict[Path, bytes]:
    return {each: each.read_bytes() for each in sorted(Path().rglob("*")) if each.is_file()}


def printed(line: str, capsys: pytest.CaptureFixture[str]) -> str:
    """All that follows a command in a transcript."""
    before = contents()
    code = run(shlex.split(line))
    out, err = capsys.readouterr()
    messages = "".join(f"2> {each}\n" for each in err.splitlines())
    ended = f"exit code: {code}\n" if code else ""
    changes = difference({each: before.get(each, b"") for each in contents()})
    return f"{out}{messages}{ended}{changes}"


@pytest.mark.parametrize("topic", sorted(file.stem for file in HERE.iterdir()))
def test_commands_print_and_change_exactly_this(
    topic: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    *,
    update_golden: bool,
) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    file = HERE / f"{topic}.txt"
    expected = file.read_text(encoding="utf-8")
    found, files, is_used = "", dict[str, str](), True
    _, *sections = re.split(r"^=== (.*)\n", expected, flags=re.MULTILINE)
    for number, (heading, text) in enumerate(zip(sections[::2], sections[1::2], strict=True)):
        found += f"=== {heading}\n"
        if heading.startswith("file "):
            files = {**({} if is_used else files), heading.removeprefix("file "): text}
            is_used = False
            found += text
            continue
        is_used = True
        edits, _, commands = text.partition("\n") if text.startswith("\n") else text.partition("\n\n")
        directory = tmp_path / str(number)
        directory.mkdir()
        monkeypatch.chdir(directory)
        restore({Path(name): each.encode() for name, each in of_case(files, edits.splitlines()).items()})
        found += f"{edits}\n" if edits.endswith("\n") or not edits else f"{edits}\n\n"
        for line in re.findall(r"^\$ tenantry (.*)$", commands, re.MULTILINE):
            found += f"$ tenantry {line}\n{printed(line, capsys)}"
    if update_golden:
        file.write_text(found, encoding="utf-8")
    assert found == expected
