"""A file as plain data, with the place of every value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from tenantry.messages.data import value_at
from tenantry.messages.errors import Diagnostic, Location, Path
from tenantry.messages.lines import Lines
from tenantry.source.places import location


class ParsedFile:
    """A parsed file: `data` is plain data, `locate` finds the place of any path in it.

    problems: those of included files. They do not prevent checks of the rest.
    """

    def __init__(self, file: str, root: Node, data: dict[str, Any], lines: Lines) -> None:
        self.file = file
        self.data = data
        self.lines = lines
        self.problems: tuple[Diagnostic, ...] = ()
        self._root = root
        self._tenants_from: Mapping[str, ParsedFile] = {}
        self._children: dict[int, dict[Any, tuple[Node, Node]]] = {}

    def joined(
        self, data: dict[str, Any], tenants_from: Mapping[str, ParsedFile], problems: tuple[Diagnostic, ...]
    ) -> ParsedFile:
        """The same file with the data of all included files; `tenants_from`: the file that declares each included tenant."""
        joined = ParsedFile(self.file, self._root, data, self.lines)
        joined.problems = problems
        joined._tenants_from = tenants_from
        return joined

    def locate(self, path: Path, *, key: bool = False) -> Location:
        """The place of the value at `path`, or of its key; of the deepest part that exists where the path does not."""
        if path[:1] == ("tenants",) and (other := self._tenants_from.get(str(*path[1:2]))):
            return other.locate(path, key=key)
        node, place = self._root, self._root
        for part in path:
            found = self._child(node, part)
            if found is None:
                return location(self.file, place, self.lines)
            name, node = found
            place = name if key else node
        return location(self.file, place, self.lines)

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

    def value(self, path: Path) -> Any:
        """The value at `path`; None where there is none."""
        return value_at(self.data, path)

    def line_of(self, path: Path) -> str:
        """`file:line:column` of the key at `path`, to point the reader to a second place."""
        return str(self.locate(path, key=True))
