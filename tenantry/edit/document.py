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

from tenantry.edit.lines import Splice, column_of, spliced
from tenantry.edit.splices import (
    empty_brackets,
    empty_lines,
    insert_in_brackets,
    insert_lines,
    remove_from_brackets,
    remove_lines,
    replace_in_brackets,
    replace_lines,
)
from tenantry.edit.tree import Entry, Node, tree_of
from tenantry.edit.values import (
    Style,
    behind,
    entry,
    flow_entry,
    indented,
    is_quoted,
    scalar,
    style_of,
)
from tenantry.edit.values import flow as in_flow
from tenantry.messages.data import depth_of, replaced, value_at
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
        self._check_holder(node, path)
        if node.kind not in ("mapping", "list"):
            what = "empty" if not node.text else f"'{node.text}'"
            raise Refused(f"{self.place(node.start)}: '{format_path(tuple(above))}' is {what}, not a mapping or a list")
        at = len(node.entries) if index is None else index
        if isinstance(part, str) and self.grows(tuple(above)):
            if len(above) > 1:
                self.replace(tuple(above), {part: value})
            else:  # A section of the file is never written in brackets.
                self.insert_written(path, entry(path, value, self.style, self.style.step), value)
            return
        if node.flow or not node.entries:
            written = (
                flow_entry(part, value, self._style_in(node)) if isinstance(part, str) else in_flow(value, self.style)
            )
            splices = insert_in_brackets(self.text, node, at, written, self.newline, padded=self.style.padded)
        else:
            lines = entry(path, value, self._style_in(node), column_of(self.text, node.entries[0].start))
            splices = insert_lines(self.text, node, at, lines, self.newline, root=not above)
        self._apply(splices, inserted(self.data, path, value, at))

    def insert_written(self, path: Path, lines: Sequence[str], value: Any) -> None:
        """Write an entry behind those of a mapping without brackets, or into `{}`, as these lines."""
        node = self.node(path[:-1])
        self._check_holder(node, path)
        at = len(node.entries)
        if self.grows(path[:-1]):
            below = indented(list(lines), self.style.step)
            splices = replace_lines(self.text, self.entry(path[:-1]), ["", *below], self.newline)
        else:
            splices = insert_lines(self.text, node, at, lines, self.newline, root=len(path) == 1)
        self._apply(splices, inserted(self.data, path, value, at))

    def grows(self, path: Path) -> bool:
        """Whether `{}` is at a path where lines can take its place: the entry that has it is not in brackets."""
        if not path or self.node(path[:-1]).flow:
            return False
        found = self.entry(path)
        return found.key is not None and self.text[found.key.end : found.value.end] == ": {}"

    def replace(self, path: Path, value: Any) -> None:
        """Write another value at a path that is there."""
        found, parent = self.entry(path), self.node(path[:-1])
        self.check_untouched(found.value, path)
        like = found.value.style if found.value.style in ("'", '"') and isinstance(value, str) else ""
        if parent.flow:
            written = scalar(value, like) if like else in_flow(value, self.style)
            splices = replace_in_brackets(self.text, found, written)
        else:
            column, style = column_of(self.text, found.start), self._style_in(parent)
            on_line = like and "\n" not in value
            lines = [f" {scalar(value, like)}"] if on_line else behind(path, value, style, column)
            splices = replace_lines(self.text, found, lines, self.newline)
        self._apply(splices, replaced(self.data, path, value))

    def remove(self, path: Path) -> None:
        """Take the entry at a path out, with its comments; what held it alone becomes `{}` or `[]`."""
        found, parent = self.entry(path), self.node(path[:-1])
        self.check_untouched(found.value, path)
        index = parent.entries.index(found)
        if len(parent.entries) > 1:
            remove = remove_from_brackets(self.text, parent, index) if parent.flow else None
            splices = remove_lines(self.text, parent, index, root=len(path) == 1) if remove is None else remove
        elif parent.flow:
            splices = empty_brackets(self.text, parent)
        elif len(path) == 1:
            raise Refused(f"'{format_path(path)}' is all that {self.file} holds", "delete the file instead")
        else:
            splices = empty_lines(self.text, self.entry(path[:-1]), "{}" if parent.kind == "mapping" else "[]")
        self._apply(splices, removed(self.data, path))

    def _apply(self, splices: Sequence[Splice], expected: Any) -> None:
        text = spliced(self.text, splices)
        data = parse(text.encode(), str(self.file)).data
        if not same(data, expected):
            message = f"{self.file}: this edit cannot be made without changing another part of the file"
            raise Refused(message, "edit it by hand")
        self._take(text, data)

    def _walk(self, path: Path) -> list[tuple[Node, Entry]]:
        """Each mapping or list on the way to a path, with its entry."""
        node, way = self.root, []
        for depth, part in enumerate(path):
            found = node.entry(part)
            if found is None and node.kind == "alias":
                self._check_holder(node, path)
            if found is None:
                raise Refused(f"{self.file} has no '{format_path(path[: depth + 1])}'")
            way.append((node, found))
            node = found.value
        for node, step in way:
            self._check_holder(node, path)
            if step.explicit:
                self._refuse(step.start, path, "its key is written with '? '")
        return way

    def node(self, path: Path) -> Node:
        """The mapping, list or scalar at a path that is there."""
        return self.entry(path).value if path else self.root

    def _style_in(self, node: Node) -> Style:
        """The file's style, with the quotes of a mapping's own keys."""
        style = self.style
        if not node.entries or node.kind != "mapping" or is_quoted(node, self.text) == style.quoted:
            return style
        return dataclasses.replace(style, quoted=not style.quoted)

    # --- what other parts of the file refer to, and so cannot be edited ---------------------------------------------------

    def _check_holder(self, node: Node, path: Path) -> None:
        """Raises: Refused: an edit in this mapping or list would be one elsewhere too."""
        self._check_plain(node, path, f"the edit would change every '*{node.anchor}' too")
        if node.bare:
            self._refuse(node.start, path, "this mapping in a list lacks its braces")

    def check_untouched(self, value: Node, path: Path) -> None:
        """Raises: Refused: a value that is replaced or removed refers to another, or another refers to it."""
        for node in value.nodes():
            self._check_plain(node, path, f"'*{node.anchor}' elsewhere refers to this value")

    def _check_plain(self, node: Node, path: Path, anchored: str) -> None:
        """anchored: what is wrong with the edit of a value that others refer to."""
        if node.kind == "alias":
            self._refuse(node.start, path, f"'*{node.text}' stands here for a value that is written elsewhere")
        if node.anchor and any(one.kind == "alias" and one.text == node.anchor for one in self.root.nodes()):
            self._refuse(node.start, path, anchored)
        if node.tag:
            self._refuse(node.start, path, "the value has a tag")

    def _refuse(self, at: int, path: Path, why: str) -> NoReturn:
        message = f"{self.place(at)}: '{format_path(path)}' cannot be edited by command: {why}"
        raise Refused(message, "edit the file by hand there")


# --- what data becomes by an edit: each function returns a copy, and shares what stays ----------------------------------


def same(one: Any, other: Any) -> bool:
    """Whether two values are the same for every reader: 1, 1.0, true and "1" are four values."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(value, other[key]) for key, value in one.items())
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


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


def nested(path: Path, value: Any) -> Any:
    """The value below mappings with these keys, or lists."""
    for part in reversed(path):
        value = [value] if isinstance(part, int) else {part: value}
    return value
