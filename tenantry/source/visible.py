"""Characters that a reviewer cannot see: marks without a width, directions of text, line breaks that editors do not show.

No file has them in its text. A team's file has none as an escape in quotes either, which the main file may need for a program.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Any

from tenantry.messages.errors import Path
from tenantry.source.parsed_file import ParsedFile, end_of, invalid

_SUSPECT = re.compile(r"\r(?!\n)|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|[^\x00-\x7f]")
_CATEGORIES = ("Cc", "Cf", "Zl", "Zp")
_BLANK = re.compile(r"[\u034f\u115f\u1160\u17b4\u17b5\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")
"""Letters and marks that are drawn as nothing."""
_OF_EMOJI = "\ufe0f\u200d"
"""What follows a symbol to draw it in colour, or joins it to the next one."""


def check_text(text: str, file: str) -> None:
    """Raises: InvalidFleet: the text of a file has a character that cannot be seen."""
    if (index := _hidden(text)) is not None:
        raise invalid(end_of(text[:index], file), *_words(text[index]))


def check_values(file: ParsedFile) -> None:
    """Raises: InvalidFleet: a value or key has such a character, written as an escape."""
    for path, text in _texts(file.data, ()):
        if (index := _hidden(text)) is not None:
            raise invalid(file.locate(path), *_words(text[index]))


def _hidden(text: str) -> int | None:
    """Where the first such character is."""
    for found in _SUSPECT.finditer(text):
        character = found[0]
        before = text[max(0, found.start() - 2) : found.start()].rstrip(_OF_EMOJI)[-1:]
        if character in _OF_EMOJI and before and unicodedata.category(before) in ("So", "Sk"):
            continue
        if character.isascii() or unicodedata.category(character) in _CATEGORIES or _BLANK.match(character):
            return found.start()
    return None


def _words(character: str) -> tuple[str, str, str]:
    message = f"character U+{ord(character):04X} cannot be seen, and who reviews the file would read something else"
    return "hidden-character", message, "remove it, and look at the line again"


def _texts(value: Any, path: Path) -> Iterator[tuple[Path, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, inner in value.items():
            if isinstance(key, str):
                yield (*path, key), key
            yield from _texts(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _texts(inner, (*path, index))
