"""One file while it is edited: its text, the tree of it, and the data that it holds.

Each edit changes the text between two places and is checked at once: the new text holds exactly the data that was asked for,
or the edit is refused with the lines to write by hand. While it is edited, every line of the text ends with a line feed, the
last one too; `after` has the line breaks of the file.
"""

from __future__ import annotations

import codecs
from collections.abc import Sequence
from pathlib import Path as FilePath
from typing import Any, NoReturn

from tenantry.edit.splices import (
    Entry,
    Node,
    Splice,
    column_of,
    has_comment,
    insert_in_brackets,
    insert_lines,
    remove_from_brackets,
    remove_lines,
    replace_lines,
    spliced,
    tree_of,
)
from tenantry.edit.values import Style, behind, entry, flow, indented, style_of
from tenantry.messages.data import depth_of, replaced, value_at
from tenantry.messages.errors import InvalidFleet, Path, Refused
from tenantry.messages.text import format_path
from tenantry.source.parse import parse

_OTHER_BREAKS = frozenset("\r\x85\u2028\u2029")


class Document:
    """A file that is being edited. Raises: InvalidFleet: it is not a YAML mapping in UTF-8."""

    def __init__(self, file: FilePath, before: bytes) -> None:
        self.file = file
        self.before = before
        self.data = parse(before, str(file)).data
        self._mark = codecs.BOM_UTF8 if before.startswith(codecs.BOM_UTF8) else b""
        text = before.removeprefix(self._mark).decode(errors="replace")
        self._newline = "\r\n" if "\r\n" in text else "\n"
        text = text.replace("\r\n", "\n")
        self._ending = "\n" if text.endswith("\n") else ""
        self.text = self._unedited = text.removesuffix("\n") + "\n"
        self._is_regular = self._written() == before and not _OTHER_BREAKS.intersection(text)
        self._root: Node | None = None
        self._style: Style | None = None

    @property
    def root(self) -> Node:
        """The tree of the text. Raises: Refused: its lines end in several ways, or all of it stands in brackets."""
        if self._root is None:
            self._root = tree_of(self.text)
            assert self._root is not None, "the parser refuses empty files"
            if not self._is_regular:
                raise Refused(
                    f"{self.file}: its lines end in several ways", "end all lines of the file in the same way"
                )
            if self._root.flow:
                raise Refused(f"{self.file}: all of it stands in brackets", "edit it by hand, or write it without them")
        return self._root

    @property
    def after(self) -> bytes:
        """The bytes of the file with all edits so far."""
        return self.before if self.text == self._unedited else self._written()

    def _written(self) -> bytes:
        text = self.text.removesuffix("\n") + self._ending
        return self._mark + text.replace("\n", self._newline).encode()

    @property
    def style(self) -> Style:
        if self._style is None:
            self._style = style_of(self.root, self.text)
        return self._style

    def place(self, at: int) -> str:
        """`file:line:column` of a character."""
        return f"{self.file}:{self.text.count(chr(10), 0, at) + 1}:{column_of(self.text, at) + 1}"

    def depth(self, path: Path) -> int:
        """How many parts of a path stand in the file."""
        return depth_of(self.data, path)

    def entry(self, path: Path) -> Entry:
        """The entry at a path that is there. Raises: Refused: it is not there, or an alias stands for what holds it."""
        node, entry = self.root, None
        for depth, part in enumerate(path):
            if (entry := node.entry(part)) is None:
                if depth_of(self.data, path) > depth:
                    self._refuse(node.start, path, "it is written elsewhere in the file")
                raise Refused(f"{self.file} has no '{format_path(path[: depth + 1])}'")
            node = entry.value
        assert entry is not None, "a path has parts"
        return entry

    def node(self, path: Path) -> Node:
        """The mapping, list or scalar at a path that is there."""
        return self.entry(path).value if path else self.root

    def insert(self, path: Path, value: Any, index: int | None = None) -> None:
        """Write a new entry into the mapping or list above a path, before its entry of this index, by default behind all."""
        above, part = path[:-1], path[-1]
        node = self.node(above)
        if node.kind == "alias":
            self._refuse(node.start, path, "it is written elsewhere in the file")
        if node.kind not in ("mapping", "list"):
            what = "empty" if not node.text else f"'{node.text}'"
            message = f"{self.place(node.start)}: '{format_path(above)}' is {what}, not a mapping or a list"
            raise Refused(message, f"set it as a whole: tenantry set {format_path(above)} VALUE")
        at = len(node.entries) if index is None else index
        column = column_of(self.text, node.entries[0].start) if node.entries else self.style.step
        lines = entry(path, value, self.style, column)
        if node.flow:
            self._check_brackets(node, path, lines)
        if not node.entries:
            # A section of the file is never written in brackets.
            section = ["", *indented(lines, column)] if len(above) == 1 and isinstance(part, str) else None
            self.replace(above, {part: value} if isinstance(part, str) else [value], section)
            return
        if node.flow:
            splices = insert_in_brackets(node, at, flow({part: value})[1:-1] if isinstance(part, str) else flow(value))
        else:
            splices = insert_lines(self.text, node, at, lines, root=not above)
        self._apply(splices, inserted(self.data, path, value, at), path, lines)

    def replace(self, path: Path, value: Any, lines: Sequence[str] | None = None) -> None:
        """Write another value at a path that is there. lines: as `behind` gives them; by default in the file's style."""
        entry, parent = self.entry(path), self.node(path[:-1])
        quote = entry.value.style if entry.value.style in ("'", '"') and isinstance(value, str) else ""
        one_line = flow(value, quote)
        if lines is None:
            on_line = parent.flow or (quote and "\n" not in value)
            column = column_of(self.text, entry.start)
            lines = [f" {one_line}"] if on_line else behind(path, value, self.style, column)
        by_hand = [f"{format_path(path[-1:])}:{lines[0]}", *lines[1:]]
        if parent.flow and entry.value.start == entry.value.end:
            self._refuse(entry.start, path, "it has no value", by_hand)
        in_brackets = [Splice(entry.value.start, entry.value.end, one_line)]
        splices = in_brackets if parent.flow else replace_lines(self.text, entry, lines)
        self._apply(splices, replaced(self.data, path, value), path, by_hand)

    def remove(self, path: Path) -> None:
        """Take the entry at a path out, with its comments; what held it alone becomes `{}` or `[]`."""
        entry, parent = self.entry(path), self.node(path[:-1])
        if parent.flow:
            self._check_brackets(parent, path)
        if len(parent.entries) == 1:
            if len(path) == 1:
                raise Refused(f"'{format_path(path)}' is all that {self.file} holds", "delete the file instead")
            self.replace(path[:-1], {} if parent.kind == "mapping" else [])
            return
        index = parent.entries.index(entry)
        if parent.flow:
            splices = remove_from_brackets(parent, index)
        else:
            splices = remove_lines(self.text, parent, index, root=len(path) == 1)
        self._apply(splices, removed(self.data, path), path)

    def _apply(self, splices: Sequence[Splice], expected: Any, path: Path, lines: Sequence[str] = ()) -> None:
        """Change the text, if it then holds exactly the expected data: others may refer to what is edited, by an alias."""
        at, before = min(splices).start, (self.text, self._ending)
        self.text = spliced(self.text, splices)
        for ending in (self._ending, "\n"):  # a text over several lines can need the last line break
            self._ending = ending
            try:
                data = parse(self.after, str(self.file)).data
            except InvalidFleet as invalid:
                if [problem.code for problem in invalid.diagnostics] != ["syntax"]:
                    self.text, self._ending = before
                    raise
                break  # such as an alias whose anchor went with what was replaced
            if same(data, expected):
                self.data, self._root, self._style = data, None, None
                return
        self.text, self._ending = before
        self._refuse(at, path, "another part of the file would change too", lines)

    def _check_brackets(self, node: Node, path: Path, lines: Sequence[str] = ()) -> None:
        if has_comment(self.text, node):
            self._refuse(node.start, path, "these brackets hold comments", lines)
        if node.entries and self.text[node.end - 1] not in "]}":
            self._refuse(node.start, path, "this mapping in a list has no brackets", lines)

    def _refuse(self, at: int, path: Path, why: str, lines: Sequence[str] = ()) -> NoReturn:
        """lines: those to write by hand."""
        message = f"{self.place(at)}: '{format_path(path)}' cannot be edited by command: {why}"
        written = ":\n" + "\n".join(indented([*lines], 4)) if lines else ""
        raise Refused(message, f"edit the file by hand there{written}")


# --- what data becomes by an edit: each function returns a copy, and shares what stays ----------------------------------


def same(before: Any, after: Any) -> bool:
    """Whether two values are the same for every reader: 1, 1.0, true and "1" are four values."""
    if type(before) is not type(after):
        return False
    if isinstance(before, dict):
        return before.keys() == after.keys() and all(same(value, after[key]) for key, value in before.items())
    if isinstance(before, list):
        return len(before) == len(after) and all(map(same, before, after))
    return bool(before == after)


def inserted(data: Any, path: Path, value: Any, index: int) -> Any:
    """With a new entry at a path; of a list, before the one of this index. The order of keys is not a part of the data."""
    above = value_at(data, path[:-1])
    new = [*above[:index], value, *above[index:]] if isinstance(above, list) else above | {path[-1]: value}
    return replaced(data, path[:-1], new)


def removed(data: Any, path: Path) -> Any:
    """Without the entry at a path."""
    above = value_at(data, path[:-1]).copy()
    del above[path[-1]]
    return replaced(data, path[:-1], above)
