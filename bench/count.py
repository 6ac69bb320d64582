"""The size of the project, as a table: `python -m bench.count`. It counts the files that Git tracks."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import click
from pydantic import BaseModel

from tenantry.cli.app import app
from tenantry.model.document import Document
from tenantry.model.selector import OVERRIDING, When

_ROOT = Path(__file__).parents[1]
_GENERATED = ("cli.md", "tenants-reference.md")
"""Pages that `make reference` writes whole."""


def counts() -> dict[str, int]:
    commands = [each for each in _commands(app) if not isinstance(each, click.Group)]
    models = _models(Document, set())
    return {
        **_lines_and_files("tenantry, components", _python("tenantry") + _python("components")),
        "commands": len(commands),
        "options": sum(isinstance(each, click.Option) for command in commands for each in command.params),
        "keys of tenants.yaml": sum(len(each.model_fields) for each in models),
        "models of tenants.yaml": len(models),
        **_lines_and_files("tests", _python("tests")),
        **_lines_and_files("docs", _pages()),
    }


def _lines_and_files(of: str, files: list[Path]) -> dict[str, int]:
    """Blank lines and comments count."""
    lines = sum(each.read_bytes().count(b"\n") for each in files)
    return {f"{of}: lines": lines, f"{of}: files": len(files)}


def _python(directory: str) -> list[Path]:
    return [each for each in _tracked(directory) if each.suffix == ".py"]


def _pages() -> list[Path]:
    """The pages below docs/ that people write, without architecture decision records."""
    pages = [each for each in _tracked("docs") if each.suffix == ".md" and "adr" not in each.parts]
    return [each for each in pages if each.name not in _GENERATED]


def _tracked(directory: str) -> list[Path]:
    command = ["git", "-C", str(_ROOT), "ls-files", "-z", "--", directory]
    names = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return [path for name in names.split("\0") if name and (path := _ROOT / name).is_file()]


def _commands(command: click.Command) -> Iterator[click.Command]:
    """The command and all below it. An option of a group counts for none of them."""
    yield command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            if found := command.get_command(context, name):
                yield from _commands(found)


def _models(kind: Any, found: set[type[BaseModel]]) -> set[type[BaseModel]]:
    """The models that a type leads to, once each. A key is a field of one of them."""
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        if kind not in found:
            found.add(kind)
            for field in kind.model_fields.values():
                for part in (field.annotation, *field.metadata):
                    _models(part, found)
    elif kind is OVERRIDING:
        _models(When, found)  # the key that an override has beside those of what it changes
    else:
        for part in get_args(kind):
            _models(part, found)
    return found


def main() -> None:
    found = counts()
    width = max(map(len, found))
    for name, count in found.items():
        print(f"{name:{width}}  {count:>7,}")


if __name__ == "__main__":
    main()
