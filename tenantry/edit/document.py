"""One file while it is edited: its text, the tree of it, and the data that it holds.

Each edit changes the text between two places and is checked at once: the new text holds exactly the data that was asked for,
or the edit is refused.
"""

from __future__ import annotations

import codecs
import dataclasses
from collections.abc import Sequence
from pathlib import Path as FilePath
from typing import Any, NoReturn

from tenantry.edit import block, flow
from tenantry.edit.data import inserted, removed, renamed, same
from tenantry.edit.lines import BREAKS, Splice, after_lines, column_of, first_line, is_inline, spliced
from tenantry.edit.references import check_holder, check_untouched, check_way
from tenantry.edit.style import Style, is_quoted, style_of
from tenantry.edit.tree import Entry, Node, comments, tree_of
from tenantry.edit.values import behind, double_quoted, entry, flow_entry, indented, key_text, scalar
from tenantry.edit.values import flow as in_flow
from tenantry.messages.data import depth_of, replaced
from tenantry.messages.errors import LINE_BREAK, Path, Refused
from tenantry.messages.text import format_path
from tenantry.source.parse import parse


class Document:
    """A file that is being edited. Raises: InvalidFleet: it is not a YAML mapping in UTF-8."""

    def __init__(self, file: FilePath, before: bytes) -> None:
        self.file = file
        self.before = before
        self._mark = codecs.BOM_UTF8 if before.startswith(codecs.BOM_UTF8) else b""
        self._take(before.removeprefix(self._mark).decode(errors="replace"), parse(before, str(file)).data)
        found = LINE_BREAK.search(self.text)
        self.newline = found[0] if found else "\n"

    def _take(self, text: str, data: dict[str, Any]) -> None:
        self.text, self.data = text, data
        self._root: Node | None = None
        self._style: Style | None = None

    @property
    def root(self) -> Node:
        """The tree of the text. It is made when it is needed: after the last edit it is not."""
        if self._root is None:
            self._root = tree_of(self.text)
        assert self._root is not None, "the parser refuses empty files"
        return self._root

    @property
    def after(self) -> bytes:
        """The bytes of the file with all edits so far."""
        return self._mark + self.text.encode()

    @property
    def style(self) -> Style:
        if self._style is None:
            self._style = style_of(self.root, self.text)
        return self._style

    def place(self, at: int) -> str:
        """`file:line:column` of a character."""
        lines = LINE_BREAK.split(self.text[:at])
        return f"{self.file}:{len(lines)}:{len(lines[-1]) + 1}"

    def depth(self, path: Path) -> int:
        """How many parts of a path stand in the file."""
        return depth_of(self.data, path)

    def entry(self, path: Path) -> Entry:
        """The entry at a path that is there."""
        return self._walk(path)[-1][1]

    def insert(self, path: Path, value: Any, index: int | None = None) -> None:
        """Write a new entry into the mapping or list above a path, before its entry of this index, by default behind all."""
        *above, part = path
        node = self.node(tuple(above))
        check_holder(self, node, path)
        if node.kind not in ("mapping", "list"):
            self._refuse_scalar(tuple(above), node)
        at = len(node.entries) if index is None else index
        if isinstance(part, str) and self.grows(tuple(above)):
            if len(above) > 1:
                self.replace(tuple(above), {part: value})
            else:  # A section of the file is never written in brackets.
                self.insert_lines(path, entry(path, value, self.style, self.style.step), value)
            return
        if node.flow or not node.entries:
            written = (
                flow_entry(part, value, self._style_in(node)) if isinstance(part, str) else in_flow(value, self.style)
            )
            splices = flow.insert(self.text, node, at, written, self.newline, padded=self.style.padded)
        else:
            lines = entry(path, value, self._style_in(node), column_of(self.text, node.entries[0].start))
            splices = block.insert(self.text, node, at, lines, self.newline, root=not above)
        self._apply(splices, inserted(self.data, path, value, at))

    def insert_lines(self, path: Path, lines: Sequence[str], value: Any) -> None:
        """Write an entry behind those of a mapping without brackets, or into `{}`, as these lines."""
        node = self.node(path[:-1])
        check_holder(self, node, path)
        at = len(node.entries)
        if self.grows(path[:-1]):
            below = indented(list(lines), self.style.step)
            splices = block.replace(self.text, self.entry(path[:-1]), ["", *below], self.newline)
        else:
            splices = block.insert(self.text, node, at, lines, self.newline, root=len(path) == 1)
        self._apply(splices, inserted(self.data, path, value, at))

    def grows(self, path: Path) -> bool:
        """Whether `{}` is at a path where lines can take its place: the entry that has it is not in brackets."""
        if not path or self.node(path[:-1]).flow:
            return False
        found = self.entry(path)
        return found.key is not None and self.text[found.key.end : found.value.end] == ": {}"

    def lines_of(self, path: Path, key: str) -> list[str] | None:
        """The lines of an entry with its comments and another key, without indentation; None if it has no lines of its own."""
        found, parent = self.entry(path), self.node(path[:-1])
        if parent.flow or found.key is None or is_inline(self.text, found):
            return None
        start = first_line(self.text, found, header=len(path) == 1)
        own = self.text[found.key.start : found.key.end]
        written = own if key == path[-1] else key_text(key, self._style_in(parent))
        below = self.text[found.key.end : after_lines(self.text, found)].rstrip("".join(BREAKS))
        column = column_of(self.text, found.start)
        return [
            _dedented(line, column) for line in LINE_BREAK.split(self.text[start : found.key.start] + written + below)
        ]

    def has_comments(self, path: Path) -> bool:
        """Whether comments belong to an entry."""
        found = self.entry(path)
        start, end = first_line(self.text, found), after_lines(self.text, found)
        if self.node(path[:-1]).flow:
            start, end = found.start, found.end
        return any(comments(self.text, self.root.nodes(), start, end))

    def replace(self, path: Path, value: Any) -> None:
        """Write another value at a path that is there."""
        found, parent = self.entry(path), self.node(path[:-1])
        check_untouched(self, found.value, path)
        like = found.value.style if found.value.style in ("'", '"') and isinstance(value, str) else ""
        if parent.flow:
            written = scalar(value, like) if like else in_flow(value, self.style)
            splices = flow.replace(self.text, found, written)
        else:
            column, style = column_of(self.text, found.start), self._style_in(parent)
            on_line = like and "\n" not in value
            lines = [f" {scalar(value, like)}"] if on_line else behind(path, value, style, column)
            splices = block.replace(self.text, found, lines, self.newline)
        self._apply(splices, replaced(self.data, path, value))

    def remove(self, path: Path) -> None:
        """Take the entry at a path out, with its comments; what held it alone becomes `{}` or `[]`."""
        found, parent = self.entry(path), self.node(path[:-1])
        check_untouched(self, found.value, path)
        index = parent.entries.index(found)
        if len(parent.entries) > 1:
            remove = flow.remove(self.text, parent, index) if parent.flow else None
            splices = block.remove(self.text, parent, index, root=len(path) == 1) if remove is None else remove
        elif parent.flow:
            splices = flow.empty(self.text, parent)
        elif len(path) == 1:
            raise Refused(f"'{format_path(path)}' is all that {self.file} holds", "delete the file instead")
        else:
            splices = block.empty(self.text, self.entry(path[:-1]), "{}" if parent.kind == "mapping" else "[]")
        self._apply(splices, removed(self.data, path))

    def rename(self, path: Path, key: str) -> None:
        """Give the entry of a mapping another key, at its place."""
        found, parent = self.entry(path), self.node(path[:-1])
        assert found.key is not None, "an entry of a list has no key"
        check_untouched(self, found.key, path)
        old = self.text[found.key.start : found.key.end]
        style = self._style_in(parent)
        written = f"'{key}'" if old.startswith("'") and key.isprintable() and "'" not in key else key_text(key, style)
        written = double_quoted(key) if old.startswith('"') else written
        self._apply([Splice(found.key.start, found.key.end, written)], renamed(self.data, path, key))

    def _apply(self, splices: Sequence[Splice], expected: Any) -> None:
        text = spliced(self.text, splices)
        data = parse(text.encode(), str(self.file)).data
        if not same(data, expected):
            raise _impossible(self.file)
        self._take(text, data)

    def _walk(self, path: Path) -> list[tuple[Node, Entry]]:
        """Each mapping or list on the way to a path, with its entry."""
        node, way = self.root, []
        for depth, part in enumerate(path):
            found = node.entry(part)
            if found is None and node.kind == "alias":
                check_holder(self, node, path)
            if found is None:
                raise Refused(f"{self.file} has no '{format_path(path[: depth + 1])}'")
            way.append((node, found))
            node = found.value
        check_way(self, way, path)
        return way

    def node(self, path: Path) -> Node:
        """The mapping, list or scalar at a path that is there."""
        return self.entry(path).value if path else self.root

    def _refuse_scalar(self, path: Path, node: Node) -> NoReturn:
        what = "empty" if not node.text else f"'{node.text}'"
        raise Refused(f"{self.place(node.start)}: '{format_path(path)}' is {what}, not a mapping or a list")

    def _style_in(self, node: Node) -> Style:
        """The file's style, with the quotes of a mapping's own keys."""
        style = self.style
        if not node.entries or node.kind != "mapping" or is_quoted(node, self.text) == style.quoted:
            return style
        return dataclasses.replace(style, quoted=not style.quoted)


def _impossible(file: FilePath) -> Refused:
    return Refused(f"{file}: this edit cannot be made without changing another part of the file", "edit it by hand")


def _dedented(line: str, column: int) -> str:
    """The line without its first spaces; a line inside of a text over several lines can have fewer of them."""
    return line[column:] if not line[:column].strip(" ") else line.lstrip(" ")
