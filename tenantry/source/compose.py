"""Text to YAML nodes that know their places, and nodes to plain data, by the core schema of YAML 1.2.

A file that is too large or too deep is refused before any step spends memory on it: libyaml composes nodes recursively without a
bound, and a few aliases can stand for billions of values.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import Any

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode

from tenantry.kube.yaml_text import LOADER
from tenantry.messages.errors import LINE_BREAK, MAX_PROBLEMS, InvalidFleet, Location, Path, Problem
from tenantry.messages.redact import shorten
from tenantry.source.parsed_file import end_of, invalid, location, override_of
from tenantry.source.syntax import explained

INTEGER = "tag:yaml.org,2002:int"
FLOAT = "tag:yaml.org,2002:float"
BOOLEAN = "tag:yaml.org,2002:bool"
NULL = "tag:yaml.org,2002:null"
STRING = "tag:yaml.org,2002:str"
COLLECTIONS = ("tag:yaml.org,2002:map", "tag:yaml.org,2002:seq")
FORMS: dict[str, tuple[re.Pattern[str], list[str]]] = {
    BOOLEAN: (re.compile(r"^(?:true|True|TRUE|false|False|FALSE)$"), list("tTfF")),
    NULL: (re.compile(r"^(?:~|null|Null|NULL|)$"), ["~", "n", "N", ""]),
    INTEGER: (re.compile(r"^(?:[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)$"), list("-+0123456789")),
    FLOAT: (
        re.compile(
            r"^(?:[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$"
        ),
        list("-+0123456789."),
    ),
}
"""How scalars of a type are written, and the characters they may start with."""
LEADING_ZERO = re.compile(r"[-+]?0[0-9]+")
"""Integers that YAML 1.1 reads as octal."""
YAML_1_1_BOOLEANS = frozenset({"yes", "no", "on", "off"})
"""Strings, in lower case, that YAML 1.1 reads as booleans."""


def _integer(text: str) -> int | float:
    if text[:2] in ("0o", "0x"):
        return int(text, 0)
    # Python refuses to convert thousands of digits. Kubernetes cannot hold such a number, so it counts as infinite.
    return int(text) if len(text) <= 32 else math.inf


SCALARS: dict[str, Any] = {
    STRING: str,
    INTEGER: _integer,
    FLOAT: lambda text: float(text.lower().replace(".inf", "inf").replace(".nan", "nan")),
    BOOLEAN: lambda text: text.lower() == "true",
    NULL: lambda _: None,
}
"""From the text of a scalar to its value, by tag."""


def is_exact(value: Any) -> bool:
    """Whether Kubernetes keeps the value as it is: on the way there, numbers become floats of 64 bits."""
    if isinstance(value, float):
        return math.isfinite(value)
    return not isinstance(value, int) or abs(value) <= 2**53


class _Loader(LOADER):  # type: ignore[misc]  # the C loader exists only where libyaml does
    """Composes nodes only; scalars keep YAML 1.2's types."""

    yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012  # PyYAML's own class attribute


for _tag, (_form, _starts) in FORMS.items():
    _Loader.add_implicit_resolver(_tag, _form, _starts)


def compose(text: str, file: str) -> Node | None:
    """The root of the document; None where the text is empty. Raises: InvalidFleet: not YAML, or beyond the bounds."""
    try:
        check_events(yaml.parse(text, Loader=_Loader), file)
        root: Node | None = yaml.compose(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        mistake = explained(error, LINE_BREAK.split(text))
        if mistake is None:  # libyaml misses something behind the last line
            raise invalid(end_of(text, file), "syntax", f"not valid YAML: {error.problem}") from None
        place = Location(file, mistake.line + 1, mistake.column + 1)
        raise invalid(place, "syntax", mistake.message, mistake.fix) from None
    except yaml.reader.ReaderError as error:
        shown = error.character if isinstance(error.character, int) else ord(error.character)
        # libyaml counts the bytes before the character; the reader written in Python counts characters.
        place = end_of(text[: text.find(chr(shown))], file)
        raise invalid(place, "syntax", f"not valid YAML: character #x{shown:04x} is not allowed") from None
    if root is None:
        return None
    if not LINE_BREAK.fullmatch(text[-1:]):
        _keep_inside(root, end_of(text, file))
    if "&" in text and "*" in text:  # else no alias has an anchor
        check_aliases(root, file)
    return root


def _keep_inside(node: Node, end: Location) -> None:
    """Move the last value into the text. libyaml puts the missing value of a last `? key` on a line after the last one."""
    for _ in range(MAX_DEPTH):  # an alias may contain itself
        if isinstance(node, ScalarNode) or not node.value:
            break
        last = node.value[-1]
        node = last[1] if isinstance(node, MappingNode) else last
    if node.start_mark.line >= end.line:
        node.start_mark = yaml.Mark(end.file, 0, end.line - 1, end.column - 1, None, 0)


class Constructor:
    """Turns the nodes of a file into plain data, and collects all problems instead of stopping at the first."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.problems: list[Problem] = []

    def construct(self, node: Node, path: Path = ()) -> Any:
        if isinstance(node, ScalarNode):
            return self._scalar(node, path)
        if node.tag not in COLLECTIONS:
            self._unknown_tag(node, path)
        # Aliases can nest deeper than the text, so checking the events is not enough.
        check_depth(len(path), node, self.file)
        if isinstance(node, MappingNode):
            return self._mapping(node, path)
        return [self.construct(item, (*path, index)) for index, item in enumerate(node.value)]

    def _mapping(self, node: MappingNode, path: Path) -> dict[str, Any]:
        data: dict[str, Any] = {}
        places: dict[str, Node] = {}
        for name, value in node.value:
            key = self._key(name, path, in_braces=bool(node.flow_style))
            if key is None:
                continue
            if key in places:
                message = f"key '{shorten(key)}' is set twice in the same mapping"
                notes = (f"first: {location(self.file, places[key])}",)
                self._add(name, "duplicate-key", message, (*path, key), notes, "remove one of them")
                continue
            places[key] = name
            data[key] = self.construct(value, (*path, key))
        return data

    def _key(self, node: Node, path: Path, *, in_braces: bool = False) -> str | None:
        if isinstance(node, ScalarNode) and node.value == "<<" and not node.style:
            fix = "write the keys out where '<<' is"
            self._add(node, "merge-key", "the merge key '<<' is not part of YAML 1.2", path, fix=fix)
            return None
        if isinstance(node, ScalarNode) and node.tag in (STRING, INTEGER, FLOAT):
            return str(node.value)
        shown = f"'{shorten(node.value)}'" if isinstance(node, ScalarNode) else "a list or mapping"
        if isinstance(node, MappingNode) and in_braces and node.flow_style:
            message = "double braces are two mappings in YAML, and the file is no template"
            self._add(node, "bad-key", message, path, fix="write the value itself, or put the text in quotes")
        else:
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
        elif value is None and any(isinstance(part, int) for part in path[len(override_of(path)) :]):
            # 'null' removes a key of a mapping. In a list it has no meaning; Pulumi's provider drops it, or crashes.
            self._add(node, "null-in-list", "'null' cannot stand in a list", path, fix="leave it out")
        elif node.tag == STRING and not node.style and node.value.lower() in YAML_1_1_BOOLEANS:
            message = f"'{node.value}' is a string in YAML 1.2, but true or false for other readers"
            self._add(node, "ambiguous", message, path, fix="write true or false, or put it in quotes")

    def _unknown_tag(self, node: Node, path: Path) -> None:
        tag = shorten(node.tag.replace("tag:yaml.org,2002:", "!!"))
        self._add(node, "unknown-tag", f"the tag {tag} is not supported", path, fix="remove it")

    def _add(self, node: Node, code: str, message: str, path: Path, notes: tuple[str, ...] = (), fix: str = "") -> None:
        self.problems.append(Problem(path, code, message, notes, fix).at(location(self.file, node)))
        if len(self.problems) > MAX_PROBLEMS:
            raise InvalidFleet(self.problems)


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


def check_depth(depth: int, event: yaml.events.Event | Node, file: str) -> None:
    """Raises: InvalidFleet: the node or event is nested too deeply."""
    if depth > MAX_DEPTH:
        raise invalid(location(file, event), "too-deep", f"values are nested deeper than {MAX_DEPTH} levels")


def check_aliases(root: Node, file: str) -> None:
    """Raises: InvalidFleet: an alias contains itself, or aliases stand for too many values. They are counted, and not unfolded."""
    sizes: dict[int, int] = {}
    opened: set[int] = set()

    def size_of(node: Node) -> int:
        if (known := sizes.get(id(node))) is not None:
            return known
        if id(node) in opened:
            raise invalid(location(file, node), "recursive-alias", "an alias holds itself")
        opened.add(id(node))
        values = [value for _, value in node.value] if isinstance(node, MappingNode) else node.value
        size = sizes[id(node)] = 1 + sum(map(size_of, () if isinstance(node, ScalarNode) else values))
        opened.discard(id(node))
        if size > len(sizes) + MAX_UNFOLDED:
            message = f"aliases unfold to more than {MAX_UNFOLDED} values"
            raise invalid(location(file, node), "too-large", message)
        return size

    size_of(root)
