"""A file as plain data, with the place of every value, and errors that point there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from copy import copy
from dataclasses import dataclass
from typing import Any

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from tenantry.messages.data import ABSENT, value_at
from tenantry.messages.errors import LINE_BREAK, InvalidFleet, Location, Path, Problem


def location(file: str, marked: Any, text: str = "") -> Location:
    """Where a node or an event starts; both carry marks that count from 0."""
    return Location(file, marked.start_mark.line + 1, marked.start_mark.column + 1).within(text)


def end_of(text: str, file: str) -> Location:
    """The place right behind a text."""
    lines = LINE_BREAK.split(text)
    return Location(file, len(lines), len(lines[-1]) + 1)


def invalid(place: Location, code: str, message: str, fix: str = "") -> InvalidFleet:
    """The error of a file with this one problem."""
    return InvalidFleet([Problem((), code, message, fix=fix).at(place)])


class ParsedFile:
    """A parsed file: `data` is plain data, `locate` finds the place of any path in it.

    fills: what included files say of each tenant. frame: the file without that; None: they say nothing.
    problems: those of included files; they do not prevent checks of the rest.
    pieces: the files that are pieces of this one. lacks_pieces: whether another one cannot be read.
    unmerged: the data as authors wrote it, before parts of it were merged and filled in.
    has_templates: whether entries have what their templates say. template_findings: what is wrong with templates; incomplete: the
    entries that lack what such a template would have given them. removed: of an entry, the path of each value of a template that a
    `null` removes, and where that stands.
    """

    def __init__(self, file: str, root: Node, data: dict[str, Any], text: str) -> None:
        self.file = file
        self.data = data
        self.text = text
        self.fills: Mapping[str, Fill] = {}
        self.frame: ParsedFile | None = None
        self.problems: tuple[Problem, ...] = ()
        self.pieces: tuple[str, ...] = ()
        self.lacks_pieces = False
        self.has_templates = False
        self.template_findings: tuple[Problem, ...] = ()
        self.incomplete: frozenset[Path] = frozenset()
        self.removed: Mapping[Path, Mapping[Path, Path]] = {}
        self._root = root
        self._written: Mapping[Path, Written] = {}
        self._longest = 0  # of the paths in `_written`
        self._unmerged: dict[str, Any] | None = None
        self._origin: Callable[[Path], Path] = lambda path: path
        self._children: dict[int, dict[Any, tuple[Node, Node]]] = {}
        self._located: dict[tuple[Path, bool], Location] = {}

    def including(self, fills: Mapping[str, Fill], problems: Iterable[Problem]) -> ParsedFile:
        """The same file with what included files say."""
        completed = copy(self)
        completed.fills, completed.problems = fills, tuple(problems)
        completed._located = {}
        return completed

    def joined(
        self, data: dict[str, Any], written: Mapping[Path, Written], problems: Iterable[Problem] = ()
    ) -> ParsedFile:
        """The same file with joined data. written: where each part stands that is not at its own place in this file.
        problems: those found by joining.
        """
        joined = self.including(self.fills, (*self.problems, *problems))
        joined.data, joined._written = data, {**self._written, **written}
        joined._longest = max((self._longest, *map(len, written)))
        return joined

    def merged(self, data: dict[str, Any], origin: Callable[[Path], Path]) -> ParsedFile:
        """The same file with merged data. origin: from a path in it to the path in this one that the value comes from."""
        merged, before = self.including(self.fills, self.problems), self.origin
        merged.data, merged._origin = data, lambda path: before(origin(path))
        merged._unmerged = self.unmerged
        return merged

    def rename(self, name: Callable[[str], str]) -> None:
        """Give this file and the files that it includes other names in all places, such as those of a revision."""
        files = (self, *(fill.file for fill in self.fills.values()), *(file for file, _ in self._written.values()))
        for file in {id(parsed): parsed for parsed in files}.values():
            file.file = name(file.file)
            file._located.clear()

    @property
    def unmerged(self) -> dict[str, Any]:
        return self.data if self._unmerged is None else self._unmerged

    def origin(self, path: Path) -> Path:
        """Where in the document the author wrote the value at a path: in another part, if it is merged from there."""
        return path if self._is_filled_in(path) else self._origin(path)

    def _is_filled_in(self, path: Path) -> bool:
        """Whether joining put the value at a path of a tenant there, over what its templates say."""
        fill = self.fills.get(str(path[1])) if path[:1] == ("tenants",) and len(path) > 2 else None
        lengths = range(min(len(path), self._longest), 2, -1) if fill else ()
        heads = (self._written.get(path[:length]) for length in lengths)
        first = next((head for head in heads if head), None)
        return first is not None and fill is not None and (first[0] is fill.file or first[0].file == self.file)

    def filled_by(self, path: Path) -> Fill | None:
        """What an included file says of a tenant, if the value at a path of the tenant is written there."""
        fill = self.fills.get(str(path[1])) if path[:1] == ("tenants",) and len(path) > 1 else None
        written = self._elsewhere(self.origin(path)) if fill else None
        return fill if fill and written and written[0] is fill.file else None

    def _elsewhere(self, path: Path) -> Written | None:
        """Where the value at a path is written, if not at this path of this file."""
        for length in range(min(len(path), self._longest), 1, -1):
            if (head := path[:length]) in self._written:
                file, at = self._written[head]
                return file, (*at, *path[len(head) :])
        return None

    def written_at(self, path: Path) -> Written:
        """The file in which the value at `path` is written, and its path there."""
        written = self.origin(path)
        return self._elsewhere(written) or (self, written)

    def locate(self, path: Path, *, key: bool = False) -> Location:
        """The place of the value at `path`, or of its key; of the deepest part that exists where the path does not."""
        if (path, key) not in self._located:
            file, at = self.written_at(path)
            self._located[path, key] = file._place(at, key=key)
        return self._located[path, key]

    def _place(self, path: Path, *, key: bool) -> Location:
        node, place = self._root, self._root
        for part in path:
            child = self._child(node, part)
            if child is None:
                return location(self.file, place, self.text)
            name, node = child
            place = name if key else node
        return location(self.file, place, self.text)

    def _child(self, node: Node, part: str | int) -> tuple[Node, Node] | None:
        """The nodes of a key and its value. For a list, both are the entry."""
        if isinstance(node, MappingNode):
            if id(node) not in self._children:
                # Of duplicate keys the first counts, as in `construct`.
                self._children[id(node)] = {
                    name.value: (name, value) for name, value in reversed(node.value) if isinstance(name, ScalarNode)
                }
            return self._children[id(node)].get(part)
        if isinstance(node, SequenceNode) and isinstance(part, int) and part < len(node.value):
            return node.value[part], node.value[part]
        return None

    def plain_text(self, path: Path) -> str | None:
        """The text of the scalar at `path`, if it is written without quotes; None for anything else."""
        file, at = self.written_at(path)
        node: Node | None = file._root
        for part in at:
            child = file._child(node, part) if node else None
            node = child[1] if child else None
        return str(node.value) if isinstance(node, ScalarNode) and not node.style else None

    def value(self, path: Path) -> Any:
        """The value at `path`; None where there is none."""
        return value_at(self.data, path)

    def has(self, path: Path) -> bool:
        """Whether there is a value at `path`."""
        return value_at(self.data, path, ABSENT) is not ABSENT

    def line_of(self, path: Path) -> str:
        """`file:line:column` of the key at `path`, to point the reader to a second place."""
        return str(self.locate(path, key=True))


@dataclass(frozen=True, slots=True)
class Fill:
    """What an included file says of one tenant. at: the entry of `include` that matches the file."""

    file: ParsedFile
    at: Path


def named(entry: Any, key: str) -> tuple[str, ...]:
    """The names under a key of an entry, in their order: of one, or of a list."""
    names = entry.get(key) if isinstance(entry, dict) else None
    names = [names] if isinstance(names, str) else names
    return tuple(name for name in names if isinstance(name, str)) if isinstance(names, list) else ()


Written = tuple[ParsedFile, Path]
"""A file, and a path in it."""


def without_override(path: Path) -> Path:
    """The path of what an override changes, for a path into one; every other path as it is."""
    at = override_of(path)
    return (*at[:-2], *path[len(at) :]) if at else path


def override_of(path: Path) -> Path:
    """The override that a path of tenants.yaml lies in, such as `("tenants", "rocky", "overrides", 0)`; () if in none.

    A tenant or a value of a chart can be called `overrides`, too.
    """
    match path:
        case ("defaults" | "platform", "overrides", int(), *_):
            return path[:3]
        case ("tenants", _, "overrides", int(), *_):
            return path[:4]
        case ("platform", "addons", _, "overrides", int(), *_) | ("templates", "tenants", _, "overrides", int(), *_):
            return path[:5]
        case ("tenants", _, "apps", _, "overrides", int(), *_):
            return path[:6]
        case ("templates", "tenants", _, "apps", _, "overrides", int(), *_):
            return path[:7]
    return ()
