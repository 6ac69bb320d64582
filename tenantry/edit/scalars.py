"""Writes a scalar so that the loader reads back exactly this value, and other readers of YAML do too."""

from __future__ import annotations

import re
from typing import Any

import yaml

from tenantry.source.core_schema import FORMS, YAML_1_1_BOOLEANS

_UNSAFE = re.compile(r"""^[\s\-?:,\[\]{}#&*!|>'"%@`]|[\s:]$|: |:\t|\s\#|[,\[\]{}]|^(?:---|\.\.\.)""")
"""What a text without quotes cannot hold, or must not begin or end with. Braces are quoted everywhere, so that placeholders look
alike."""
_DASHED = re.compile(r"-[^\s,\[\]{}#]")
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r", "\0": "\\0", "\b": "\\b", "\x1b": "\\e"}
_OTHER_READERS: dict[str, list[tuple[str, re.Pattern[str]]]] = yaml.SafeLoader.yaml_implicit_resolvers


def scalar(value: Any, like: str = "") -> str:
    """A scalar on one line. like: the quotes to use where the value is a string and they can hold it."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str):
        return repr(value)
    if like == "'" and _is_printable(value):
        return single_quoted(value)
    return value if not like and is_plain(value) else double_quoted(value)


def is_plain(text: str) -> bool:
    """Whether a string can be written without quotes, in a flow mapping too, and is a string for every reader."""
    return bool(
        text
        and _is_printable(text)
        and not (_UNSAFE.search(text) and not (_DASHED.match(text) and not _UNSAFE.search(text[1:])))
        and text.lower() not in YAML_1_1_BOOLEANS
        and not any(form.match(text) for form, _ in FORMS.values())
        and not any(form.match(text) for _, form in _OTHER_READERS.get(text[0], ()))
        and not text.startswith("<<")
    )


def single_quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def double_quoted(text: str) -> str:
    return '"' + "".join(map(_escaped, text)) + '"'


def block(text: str) -> list[str] | None:
    """A text of several lines as a block scalar: its sign and its lines; None if only quotes can hold it exactly."""
    body = text.removesuffix("\n")
    lines = body.split("\n")
    if (
        len(lines) + len(text) - len(body) < 2
        or not all(map(_is_printable_line, lines))
        or not lines[0].strip()
        or lines[0][0] in " \t#"
        or not lines[-1].strip()
    ):
        return None
    return ["|" if body != text else "|-", *lines]


def _escaped(char: str) -> str:
    if char in _ESCAPES:
        return _ESCAPES[char]
    if char.isprintable():
        return char
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _is_printable(text: str) -> bool:
    return all(char.isprintable() for char in text)


def _is_printable_line(line: str) -> bool:
    return line == line.rstrip() and all(char.isprintable() or char == "\t" for char in line)
