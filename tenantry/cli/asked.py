"""Whether a command line asks for a document in JSON, also one that is wrong: then nothing has parsed it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise, takewhile

import click

from tenantry.cli.options import FORMAT_OPTIONS, FormatOption

ERROR = "Error"
"""The kind of a document if no command was found that has one of its own."""


def document_asked(root: click.Command, arguments: Sequence[str]) -> str:
    """The kind of the document that a command line asks for; "" if it asks for none."""
    words = [*takewhile(lambda word: word != "--", arguments)]
    output, command = "", root
    for word, following in pairwise([*words, ""]):
        if word in FORMAT_OPTIONS:
            output = following
        elif word.startswith(("--output=", "-o")):
            output = word.removeprefix("--output=").removeprefix("-o")
        if isinstance(command, click.Group) and (found := command.get_command(click.Context(command), word)):
            command = found
        if command.context_settings.get("ignore_unknown_options"):
            return ""  # what follows is the command line of another program
    option = next((param for param in command.params if isinstance(param, FormatOption)), None)
    return ((option and option.kind) or ERROR) if output == "json" else ""
