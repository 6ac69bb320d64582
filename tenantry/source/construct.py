"""YAML nodes to plain data.

It refuses whatever could hide a mistake: duplicate keys, keys that are not strings, merge keys, and numbers that Kubernetes
or Helm would read differently.
"""

from __future__ import annotations

from typing import Any

from yaml.nodes import MappingNode, Node, ScalarNode

from tenantry.messages.errors import MAX_PROBLEMS, Diagnostic, InvalidFleet, Path
from tenantry.messages.redact import shorten
from tenantry.source.bounds import check_depth
from tenantry.source.core_schema import (
    COLLECTIONS,
    FLOAT,
    FORMS,
    INTEGER,
    LEADING_ZERO,
    SCALARS,
    STRING,
    YAML_1_1_BOOLEANS,
    is_exact,
)
from tenantry.source.places import location


class Constructor:
    """Turns the nodes of a file into plain data, and collects all problems instead of stopping at the first."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.problems: list[Diagnostic] = []

    def construct(self, node: Node, path: Path = ()) -> Any:
        if isinstance(node, ScalarNode):
            return self._scalar(node, path)
        if node.tag not in COLLECTIONS:
            self._unknown_tag(node, path)
        # Aliases can nest deeper than the text, so checking the events is not enough.
        check_depth(len(path), node, self.file)
        return self._mapping(node, path) if isinstance(node, MappingNode) else self._sequence(node, path)

    def _sequence(self, node: Node, path: Path) -> list[Any]:
        return [self.construct(item, (*path, index)) for index, item in enumerate(node.value)]

    def _mapping(self, node: MappingNode, path: Path) -> dict[str, Any]:
        data: dict[str, Any] = {}
        places: dict[str, Node] = {}
        for name, value in node.value:
            key = self._key(name, path)
            if key is None:
                continue
            if key in places:
                first = location(self.file, places[key])
                self._add(
                    name,
                    "duplicate-key",
                    f"key '{shorten(key)}' is set twice in the same mapping",
                    (*path, key),
                    (f"first: {first}",),
                )
                continue
            places[key] = name
            data[key] = self.construct(value, (*path, key))
        return data

    def _key(self, node: Node, path: Path) -> str | None:
        if isinstance(node, ScalarNode) and node.value == "<<" and not node.style:
            fix = "write the keys out where '<<' is"
            self._add(node, "merge-key", "the merge key '<<' is not part of YAML 1.2", path, fix=fix)
            return None
        if isinstance(node, ScalarNode) and node.tag in (STRING, INTEGER, FLOAT):
            return str(node.value)
        shown = f"'{shorten(node.value)}'" if isinstance(node, ScalarNode) else "a list or mapping"
        self._add(node, "bad-key", f"{shown} cannot be a key", path, fix="use a string; put it in quotes")
        return None

    def _scalar(self, node: ScalarNode, path: Path) -> Any:
        text: str = node.value
        if node.tag not in SCALARS:
            self._unknown_tag(node, path)
        elif node.tag in FORMS and not FORMS[node.tag][0].match(text):
            self._add(node, "syntax", f"not a valid {node.tag.rpartition(':')[2]}", path)
        elif node.tag == INTEGER and LEADING_ZERO.fullmatch(text):
            message = f"'{shorten(text, 12)}' is decimal in YAML 1.2, but octal where Helm and kubectl read it"
            self._add(
                node,
                "bad-number",
                message,
                path,
                fix="remove the leading zeros, write '0o' for octal, or put it in quotes",
            )
        else:
            value = SCALARS[node.tag](text)
            self._check_value(node, value, path)
            return value
        return None

    def _check_value(self, node: ScalarNode, value: Any, path: Path) -> None:
        """Refuse a value that would reach the cluster as another value."""
        if not is_exact(value):
            message = "Kubernetes cannot store this number exactly"
            self._add(node, "bad-number", message, path, fix="put it in quotes")
        elif value is None and any(isinstance(part, int) for part in _below_override(path)):
            # 'null' removes a key of a mapping. In a list it has no meaning; Pulumi's provider drops it, or crashes.
            self._add(node, "null-in-list", "'null' cannot stand in a list", path, fix="leave it out")
        elif node.tag == STRING and not node.style and node.value.lower() in YAML_1_1_BOOLEANS:
            message = f"'{node.value}' is a string in YAML 1.2, but true or false for other readers"
            self._add(node, "ambiguous", message, path, fix="write true or false, or put it in quotes")

    def _unknown_tag(self, node: Node, path: Path) -> None:
        tag = shorten(node.tag.replace("tag:yaml.org,2002:", "!!"))
        self._add(node, "unknown-tag", f"the tag {tag} is not supported", path, fix="remove it")

    def _add(self, node: Node, code: str, message: str, path: Path, notes: tuple[str, ...] = (), fix: str = "") -> None:
        self.problems.append(Diagnostic(location(self.file, node), code, message, path, notes, fix))
        if len(self.problems) > MAX_PROBLEMS:
            raise InvalidFleet(self.problems)


_OVERRIDDEN = ((0, "defaults"), (1, "tenants"), (1, "selfService"), (3, "tenants"), (2, "platform"))
"""Where `overrides` can stand: after how many more parts of a path that begins with a word."""


def _below_override(path: Path) -> Path:
    """The path below an entry of `overrides.where`, whose `null` removes a key like any other override; else the whole path."""
    for more, first in _OVERRIDDEN:
        over = path[more + 1 : more + 4]
        if path[:1] == (first,) and over[:2] == ("overrides", "where") and isinstance(over[-1], int):
            return path[more + 4 :]
    return path
