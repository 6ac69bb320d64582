"""How large and how deep the YAML of a file may be.

Both checks refuse a file before any step spends memory on it: libyaml composes nodes recursively without a bound, and a few
aliases can stand for billions of values.
"""

from __future__ import annotations

from collections.abc import Iterable

import yaml
from yaml.nodes import MappingNode, Node, SequenceNode

from tenantry.source.parsed_file import invalid, location

MAX_NODES = 3_000_000
"""Keys and values of a file. A fleet of 100,000 apps has fewer. Each takes about half a kilobyte of memory."""
MAX_UNFOLDED = 250_000
"""How many values aliases may add to those that are written."""
MAX_DEPTH = 64


def check_events(events: Iterable[yaml.events.Event], file: str) -> None:
    """Count what the file holds. Raises: InvalidFleet: too many keys and values, or nested too deeply."""
    depth = 0
    for count, event in enumerate(events):
        if count > MAX_NODES:
            raise invalid(location(file, event), "too-large", f"there are more than {MAX_NODES} keys and values")
        if isinstance(event, yaml.events.CollectionStartEvent):
            depth += 1
            check_depth(depth, event, file)
        elif isinstance(event, yaml.events.CollectionEndEvent):
            depth -= 1


def surely_allowed(text: str) -> int:
    """How many nodes `check_events` allows in any case: a node is two events at most, an alias is one, and there are four more."""
    return (MAX_NODES - 4 - text.count("*")) // 2


def check_depth(depth: int, found: yaml.events.Event | Node, file: str) -> None:
    """Raises: InvalidFleet: the node or event is nested too deeply."""
    if depth > MAX_DEPTH:
        raise invalid(location(file, found), "too-deep", f"values are nested deeper than {MAX_DEPTH} levels")


def check_aliases(root: Node, file: str) -> None:
    """Raises: InvalidFleet: an alias contains itself, or aliases stand for too many values."""
    _Unfolded(file).size(root)


class _Unfolded:
    """Computes how many values the nodes of a file are once aliases are unfolded, without unfolding them."""

    def __init__(self, file: str) -> None:
        self.file = file
        self._sizes: dict[int, int] = {}
        self._open: set[int] = set()

    def size(self, node: Node) -> int:
        if (known := self._sizes.get(id(node))) is not None:
            return known
        if id(node) in self._open:
            raise invalid(location(self.file, node), "recursive-alias", "an alias holds itself")
        self._open.add(id(node))
        size = 1 + sum(map(self.size, _below(node)))
        self._open.discard(id(node))
        self._sizes[id(node)] = size
        if size > len(self._sizes) + MAX_UNFOLDED:
            message = f"aliases unfold to more than {MAX_UNFOLDED} values"
            raise invalid(location(self.file, node), "too-large", message)
        return size


def _below(node: Node) -> Iterable[Node]:
    if isinstance(node, MappingNode):
        return (value for _, value in node.value)
    return node.value if isinstance(node, SequenceNode) else ()
