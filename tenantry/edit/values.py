"""Plain data as YAML: as one line in brackets, or as indented lines."""

from __future__ import annotations

from typing import Any

from tenantry.edit.scalars import block, double_quoted, is_plain, scalar
from tenantry.edit.style import WIDTH, Style
from tenantry.messages.errors import Path


def flow(value: Any, style: Style) -> str:
    """A value on one line."""
    if isinstance(value, dict):
        inner = ", ".join(flow_entry(str(key), each, style) for key, each in value.items())
        space = " " if style.padded and inner else ""
        return f"{{{space}{inner}{space}}}"
    if isinstance(value, list):
        return f"[{', '.join(flow(each, style) for each in value)}]"
    return double_quoted(value) if style.quoted and isinstance(value, str) else scalar(value)


def flow_entry(key: str, value: Any, style: Style) -> str:
    """`key: value` on one line."""
    return f"{key_text(key, style)}: {flow(value, style)}"


def key_text(key: str, style: Style) -> str:
    """A key, in quotes where it would not be a string without."""
    return key if is_plain(key) and not style.quoted else double_quoted(key)


def entry(path: Path, value: Any, style: Style, column: int) -> list[str]:
    """The lines of an entry of a block mapping, without their indentation. column: where its key will stand."""
    return _below(f"{key_text(str(path[-1]), style)}:", path, value, style, column)


def item(path: Path, value: Any, style: Style, column: int) -> list[str]:
    """The lines of an entry of a block list, without their indentation. column: where its dash will stand."""
    if not _is_block(path, value, style, column):
        return _below("-", path, value, style, column)
    first, *others = body(path, value, style, column + 2)
    return [f"- {first}", *(f"  {line}" if line else "" for line in others)]


def body(path: Path, value: Any, style: Style, column: int) -> list[str]:
    """The lines of a mapping or list without brackets. column: where its keys or dashes will stand."""
    if isinstance(value, dict):
        return [line for key, each in value.items() for line in entry((*path, str(key)), each, style, column)]
    return [line for index, each in enumerate(value) for line in item((*path, index), each, style, column)]


def _is_block(path: Path, value: Any, style: Style, column: int) -> bool:
    """Whether a value is written without brackets: its namesakes are, or it does not fit on a line."""
    if not isinstance(value, dict | list) or not value:
        return False
    if style.writes_lines and _has_lines(value):
        return True
    width = column + len(str(path[-1])) + 2 + len(flow(value, style)) if path else len(flow(value, style))
    return width > WIDTH or not style.flows(path, value)


def _below(head: str, path: Path, value: Any, style: Style, column: int) -> list[str]:
    """A key or a dash with its value behind or below it."""
    if _is_block(path, value, style, column):
        indent = style.step if isinstance(value, dict) else style.dash
        return [head, *(" " * indent + line if line else "" for line in body(path, value, style, column + indent))]
    if isinstance(value, str) and style.writes_lines and (lines := block(value)):
        sign, *others = lines
        return [f"{head} {sign}", *(" " * style.step + line if line else "" for line in others)]
    return [f"{head} {flow(value, style)}"]


def _has_lines(value: Any) -> bool:
    """Whether a value holds a text of several lines, which is easier to read without brackets."""
    if isinstance(value, dict | list):
        return any(map(_has_lines, value.values() if isinstance(value, dict) else value))
    return isinstance(value, str) and block(value) is not None
