"""Whether a command line asks for a document in JSON, also one that is wrong: then nothing has parsed it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence

import click

from tenantry.cli.options import FORMAT_OPTIONS, FormatOption

ERROR = "Error"
"""The kind of a document if no command was found that has one of its own."""


def document_asked(root: click.Command, arguments: Sequence[str]) -> str:
    """The kind of the document that a command line asks for; "" if it asks for none."""
    command: click.Command | None = root
    output, words = "", deque(arguments)
    while words and (word := words.popleft()) != "--":
        name, value = _split(word, takes := _with_value(command))
        if name in takes:
            value = value if value is not None else (words.popleft() if words else "")
            output = value if name in FORMAT_OPTIONS else output
        elif not name.startswith("-") and isinstance(command, click.Group):
            command = command.get_command(click.Context(command), name)
        if command and command.context_settings.get("ignore_unknown_options"):
            return ""  # what follows is the command line of another program
    option = next((param for param in command.params if isinstance(param, FormatOption)), None) if command else None
    return ((option and option.kind) or ERROR) if output == "json" else ""


def _split(word: str, takes: Iterable[str]) -> tuple[str, str | None]:
    """An option and its value, if the word has both: --output=json, -ojson. Any other word is as it is."""
    if word.startswith("--") and "=" in word:
        name, _, value = word.partition("=")
        return name, value
    if word.startswith("-") and word[:2] in takes and len(word) > 2:
        return word[:2], word[2:]
    return word, None


def _with_value(command: click.Command | None) -> set[str]:
    """The options that take a value: those of the command, and that of the format, which any command could have."""
    options = (
        (param for param in command.params if isinstance(param, click.Option) and not param.is_flag) if command else ()
    )
    return {*FORMAT_OPTIONS, *(name for option in options for name in option.opts)}
