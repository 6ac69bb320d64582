"""A draft as the text of tenants.yaml, which reads back as the same data."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from textwrap import wrap
from typing import Any

from tenantry.importing.model import Path
from tenantry.messages.text import printable
from tenantry.source.compose import FORMS, YAML_1_1_BOOLEANS

_WIDTH = 100
"""The longest line on which a whole mapping or list stands."""
_ROOMY = ("environments", "clusters", "tenants")
_ONE_LINE = ("git", "oci", "helm", "bucket", "ref", "source", "clusters", "kubeconfig")
_PLAIN = re.compile(r"(?:\.{0,2}/|[A-Za-z_])(?:[A-Za-z0-9_./@+=~ -]|:(?=[^ ]))*")
_PLAIN_NUMBER = re.compile(r"(?!0[xob])[0-9][0-9.]*[a-df-zA-DF-Z][A-Za-z0-9.-]*|[0-9]+\.[0-9]+\.[0-9]+")
"""Sizes, times and versions, such as `4Gi`, `5m` and `1.x`."""
_OTHER_READERS = re.compile(
    r"[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9]*)?|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}.*|[yYnN]|=|<<"
)
"""Texts that readers of YAML 1.1 take for numbers, times or booleans."""

Comments = Mapping[Path, Iterable[str]]


def header(sources: Iterable[str]) -> list[str]:
    """The comment at the top of the file."""
    return [
        "Written by `tenantry import` from:",
        *(f"  {each}" for each in sources),
        "Values are those that were found. Comments mark what needs a decision; see docs/import.md.",
    ]


def text_of(data: Mapping[str, Any], head: Iterable[str] = (), comments: Comments | None = None) -> str:
    """The text. head: a comment at the top; comments: those at places in the data."""
    lines = ["# yaml-language-server: $schema=tenants.schema.json", *(f"# {printable(each)}" for each in head)]
    for key, value in data.items():
        if not isinstance(value, str):
            lines.append("")
        lines += _entry(key, value, 0, (key,), comments or {})
    return "\n".join(lines) + "\n"


def _entry(key: str, value: Any, indent: int, path: Path, comments: Comments) -> Iterator[str]:
    margin = " " * indent
    for each in comments.get(path, ()):
        yield from (f"{margin}# {line}" for line in wrap(printable(each), max(40, _WIDTH - indent - 2)))
    name = f"{margin}{_scalar(key)}:"
    if isinstance(value, str) and _is_block(value):
        yield from _block(name, value, indent + 2)
    elif not isinstance(value, dict | list) or not value or _fits(name, value, path, comments):
        yield f"{name} {_flow(value)}"
    elif isinstance(value, dict):
        yield name
        for below, each in value.items():
            yield from _entry(below, each, indent + 2, (*path, below), comments)
    else:
        yield name
        for index, each in enumerate(value):
            yield from _item(each, indent + 2, (*path, index), comments)


def _item(value: Any, indent: int, path: Path, comments: Comments) -> Iterator[str]:
    margin = " " * indent
    if isinstance(value, dict) and value and not _fits(f"{margin}-", value, path, comments):
        lines = [line for key, each in value.items() for line in _entry(key, each, indent + 2, (*path, key), comments)]
        yield f"{margin}- {lines[0][indent + 2 :]}"
        yield from lines[1:]
    elif isinstance(value, str) and _is_block(value):
        yield from _block(f"{margin}-", value, indent + 2)
    else:
        yield f"{margin}- {_flow(value)}"


def _fits(name: str, value: Any, path: Path, comments: Comments) -> bool:
    """Whether a mapping or list stands on the line of its key: small ones do, so that a file shows more at a glance."""
    if any(each[: len(path)] == path for each in comments) or len(path) < 2 or (len(path) == 2 and path[0] in _ROOMY):
        return False
    if isinstance(value, dict) and _depth(value) > (2 if path[-1] in _ONE_LINE else 1):
        return False
    if isinstance(value, list) and any(isinstance(each, dict | list) and _depth(each) > 1 for each in value):
        return False
    text = _flow(value)
    return "\n" not in text and len(name) + 1 + len(text) <= _WIDTH and _count(value) <= 4


def _depth(value: Any) -> int:
    if not isinstance(value, dict | list):
        return 0
    below = value.values() if isinstance(value, dict) else value
    return 1 + max(map(_depth, below), default=0)


def _count(value: Any) -> int:
    if not isinstance(value, dict | list):
        return 1
    below = value.values() if isinstance(value, dict) else value
    return sum(map(_count, below))


def _flow(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_scalar(key, flow=True)}: {_flow(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_flow, value)) + "]"
    return _scalar(value, flow=True)


# --- scalars ----------------------------------------------------------------------------------------------------------


def _scalar(value: Any, *, flow: bool = False) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    return value if _is_plain(value, flow=flow) else _quoted(value)


def _is_plain(text: str, *, flow: bool) -> bool:
    """Whether every reader of YAML takes the text without quotes for this text."""
    if not (_PLAIN.fullmatch(text) or _PLAIN_NUMBER.fullmatch(text)) or text.endswith((" ", ":")) or " #" in text:
        return False
    if flow and ":" in text and "://" not in text:
        return False
    if text.lower() in YAML_1_1_BOOLEANS or _OTHER_READERS.fullmatch(text):
        return False
    return not any(form.match(text) for form, _ in FORMS.values())


def _quoted(text: str) -> str:
    return '"' + "".join(map(_escaped, text)) + '"'


_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def _escaped(char: str) -> str:
    if char in _ESCAPES:
        return _ESCAPES[char]
    if char.isprintable() and char != "\ufeff":
        return char
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _is_block(text: str) -> bool:
    """Whether a text of several lines can stand below its key as it is."""
    lines = text.split("\n")
    return (
        len(lines) > 1
        and bool(lines[0].strip())
        and not lines[0].startswith(" ")
        and all(each.isprintable() and "\ufeff" not in each and (not each or each.strip()) for each in lines)
    )


def _block(name: str, text: str, indent: int) -> Iterator[str]:
    body = text.rstrip("\n")
    ending = len(text) - len(body)
    yield f"{name} |{'-' if ending == 0 else '' if ending == 1 else '+'}"
    for line in body.split("\n") + [""] * max(0, ending - 1):
        yield f"{' ' * indent}{line}" if line else ""
