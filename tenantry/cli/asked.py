"""Whether a command line asks for a document, JSON or YAML, also one that is wrong: then nothing has parsed it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import click

from tenantry.cli.options import FORMAT_OPTIONS, JSON, FormatOption

ERROR = "Error"
"""The kind of a document if no command was found that has one of its own."""


class Asked(NamedTuple):
    """The document that a command line asks for."""

    kind: str
    is_yaml: bool


def document_asked(root: click.Command, arguments: Sequence[str]) -> Asked | None:
    """None: it does not ask for a document."""
    command: click.Command | None = root
    output, words = "", deque(arguments)
    while words and (word := words.popleft()) != "--":
        name, value = _split(word, takes := _with_value(command))
        if name in takes:
            value = value if value is not None else (words.popleft() if words else "")
            output = value if name in FORMAT_OPTIONS else output
        elif name == JSON and not _has_own_json(command):
            output = "json"
        elif not name.startswith("-") and isinstance(command, click.Group):
            command = command.get_command(click.Context(command), name)
        if command and command.context_settings.get("ignore_unknown_options"):
            return None  # what follows is the command line of another program
    option = next((param for param in command.params if isinstance(param, FormatOption)), None) if command else None
    is_yaml = output == "yaml" and (option is None or option.is_yaml_document)
    return Asked((option and option.kind) or ERROR, is_yaml) if output == "json" or is_yaml else None


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


def _has_own_json(command: click.Command | None) -> bool:
    """Whether `--json` means something else: of `up` and `preview`, Pulumi's output."""
    return command is not None and any(JSON in param.opts for param in command.params)
