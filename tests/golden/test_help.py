"""Every help page in a terminal of 80 columns: help/<command>.txt.

`pytest --update-golden` writes them; look at them before committing.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from tenantry.cli.app import app, run
from tests.terminal import in_terminal

HERE = Path(__file__).with_name("help")
_MARK = "=== "


def commands(command: click.Command = app, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The command itself and all below it, as their words on the command line."""
    yield path
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below
            yield from commands(below, (*path, name))


def print_all() -> int:
    codes = set()
    for path in commands():
        print(_MARK + "-".join(("tenantry", *path)))
        codes.add(run([*path, "--help"]))
    return max(codes)


def pages(columns: int) -> dict[str, str]:
    """The page of each command, by the name of its file."""
    code, screen = in_terminal(print_all, columns)
    assert code == 0, screen
    parts = (part.partition("\n") for part in screen.split(_MARK)[1:])
    return {f"{name}.txt": text for name, _, text in parts}


def test_every_help_page_is_as_it_was_looked_at(*, update_golden: bool) -> None:
    found = pages(80)
    if update_golden:
        HERE.mkdir(exist_ok=True)
        for old in HERE.glob("*.txt"):
            old.unlink()
        for name, text in found.items():
            (HERE / name).write_text(text)
    assert found == {file.name: file.read_text() for file in HERE.glob("*.txt")}


@pytest.mark.parametrize("columns", [80, 120])
def test_no_page_is_wider_than_its_terminal_or_shows_markup(columns: int) -> None:
    lines = [line for page in pages(columns).values() for line in page.splitlines()]
    assert [line for line in lines if len(line) > columns or "\b" in line or "\\b" in line] == []
