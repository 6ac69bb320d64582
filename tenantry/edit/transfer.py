"""Edits of several entries at once: a mapping becomes another one, an entry moves to another place."""

from __future__ import annotations

from typing import Any

from tenantry.edit.data import nested, same
from tenantry.edit.document import Document
from tenantry.edit.references import check_untouched
from tenantry.edit.schema import ranks_at
from tenantry.edit.values import indented, key_text
from tenantry.messages.data import value_at
from tenantry.messages.errors import Path, Refused
from tenantry.messages.text import counted, format_path


def assign(document: Document, path: Path, value: Any) -> None:
    """Make the value at a path another one, by edits of the entries that differ."""
    old = value_at(document.data, path)
    if same(old, value):
        return
    if isinstance(old, dict) and isinstance(value, dict) and old.keys() & value.keys():
        for key in [each for each in old if each not in value]:
            document.remove((*path, key))
        for key, each in value.items():
            if key in old:
                assign(document, (*path, key), each)
            else:
                document.insert((*path, key), each, in_order(value_at(document.data, path), (*path, key)))
    elif isinstance(old, list) and isinstance(value, list) and old and value:
        _assign_list(document, path, old, value)
    else:
        document.replace(path, value)


def _assign_list(document: Document, path: Path, old: list[Any], new: list[Any]) -> None:
    """Change the entries between those that a list has in common with the new one at its start and at its end."""
    start = next(
        (index for index, pair in enumerate(zip(old, new, strict=False)) if not same(*pair)), min(len(old), len(new))
    )
    rest = min(len(old), len(new)) - start
    end = next((index for index in range(rest) if not same(old[-1 - index], new[-1 - index])), rest)
    gone, come = old[start : len(old) - end], new[start : len(new) - end]
    for index in range(start, start + min(len(gone), len(come))):
        assign(document, (*path, index), new[index])
    for index in range(start + len(gone) - 1, start + len(come) - 1, -1):
        document.remove((*path, index))
    for index in range(start + len(gone), start + len(come)):
        document.insert((*path, index), new[index], index)


def move(source: Document, path: Path, target: Document, to: Path) -> None:
    """Move an entry to a path that is not there, with its comments. Both ends of the way are keys of mappings."""
    if target.depth(to) == len(to):
        raise Refused(f"'{format_path(to)}' is there already ({target.place(target.entry(to).start)})")
    if source is target and to[: len(path)] == path:
        raise Refused(f"'{format_path(path)}' cannot move into itself")
    check_untouched(source, source.entry(path).value, path)
    value = value_at(source.data, path)
    lines = source.lines_of(path, str(to[-1]))
    depth = target.depth(to)
    holder = target.node(to[:depth])
    if lines is not None and ((holder.entries and not holder.flow) or target.grows(to[:depth])):
        for part in reversed(to[depth:-1]):
            lines = [f"{key_text(str(part), target.style)}:", *indented(lines, target.style.step)]
        target.insert_lines(to[: depth + 1], lines, nested(to[depth + 1 :], value))
    elif source.has_comments(path):
        place = source.place(source.entry(path).start)
        raise Refused(f"{place}: the comments of '{format_path(path)}' have no place in brackets", "move it by hand")
    else:
        create(target, to, value)
    source.remove(path)


def create(document: Document, path: Path, value: Any) -> None:
    """Write a value at a path of which the file has some parts only. A list grows at its end."""
    depth = document.depth(path)
    if depth == len(path):
        document.replace(path, value)
        return
    for at in range(depth + 1, len(path)):
        if isinstance(path[at], int) and path[at]:
            raise Refused(f"there is no '{format_path(path[:at])}', so there is no [{path[at]}]", "begin with [0]")
    holder = value_at(document.data, path[:depth])
    new = nested(path[depth + 1 :], value)
    if holder is None:
        document.replace(path[:depth], nested(path[depth : depth + 1], new))
        return
    part = path[depth]
    if isinstance(holder, list) and part != len(holder):
        raise Refused(
            f"'{format_path(path[:depth])}' has {counted(len(holder), 'value')}, so there is no [{part}]",
            f"the next one is [{len(holder)}]",
        )
    document.insert(path[: depth + 1], new, in_order(holder, path[: depth + 1]))


def in_order(holder: Any, path: Path) -> int | None:
    """Before which entry of a mapping a key of the schema comes: those behind it in the reference. None: at the end."""
    known = ranks_at(path[:-1])
    if not isinstance(holder, dict) or path[-1] not in known:
        return None
    before = [index for index, key in enumerate(holder) if known.get(key, -1) < known[path[-1]]]
    return before[-1] + 1 if before else 0
