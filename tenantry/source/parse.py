"""Text to plain data, with a way back from a path in the data to its line and column.

Nothing of tenants.yaml is understood here. YAML is read by the core schema of YAML 1.2 (`on`, `no` and `12:30` are
strings, as in JSON), because 1.1's guesses turn names and times into something else. What could hide a mistake is
refused: duplicate keys, keys that are no strings, merge keys, several documents, aliases that unfold beyond all
measure, and numbers that Kubernetes or Helm would read as another number or not at all.

Source: yaml.org/spec/1.2.2, section 10.3.
"""

from __future__ import annotations

import codecs
import math
import re
from collections.abc import Iterable, Mapping
from pathlib import Path as FilePath
from typing import Any, NamedTuple

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from tenantry.messages.data import value_at
from tenantry.messages.errors import (
    MAX_PROBLEMS,
    Diagnostic,
    InvalidFleet,
    Location,
    Path,
    Refused,
)
from tenantry.messages.lines import LINE_BREAK, Lines
from tenantry.messages.redact import shorten
from tenantry.source.syntax import explained

MAX_BYTES = 32 * 1024 * 1024
MAX_NODES = 3_000_000
"""Keys and values of a file; a fleet of 100,000 apps stays below, and each takes about half a kilobyte."""
MAX_UNFOLDED = 250_000
"""How many values aliases may add to those that are written."""
MAX_DEPTH = 64

_BASE: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_BASE):  # type: ignore[misc]  # the C loader exists only where libyaml does
    """Composes nodes only; scalars keep YAML 1.2's types."""

    yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012  # PyYAML's own class attribute


_INTEGER = "tag:yaml.org,2002:int"
_FLOAT = "tag:yaml.org,2002:float"
_BOOLEAN = "tag:yaml.org,2002:bool"
_NULL = "tag:yaml.org,2002:null"
_STRING = "tag:yaml.org,2002:str"

_FORMS: dict[str, tuple[re.Pattern[str], list[str]]] = {
    _BOOLEAN: (re.compile(r"^(?:true|True|TRUE|false|False|FALSE)$"), list("tTfF")),
    _NULL: (re.compile(r"^(?:~|null|Null|NULL|)$"), ["~", "n", "N", ""]),
    _INTEGER: (re.compile(r"^(?:[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)$"), list("-+0123456789")),
    _FLOAT: (
        re.compile(
            r"^(?:[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$"
        ),
        list("-+0123456789."),
    ),
}
"""How scalars of a type are written, and the characters they may start with."""

for _tag, (_form, _starts) in _FORMS.items():
    _Loader.add_implicit_resolver(_tag, _form, _starts)

_LEADING_ZERO = re.compile(r"[-+]?0[0-9]+")


class Form(NamedTuple):
    """What a kind of file is expected to hold, for the words to one that holds nothing of it."""

    keys: str
    fix: str


MAIN = Form("keys such as 'environments:' and 'tenants:'", "start with 'apiVersion: tenantry/v1' and 'environments:'")


class ParsedFile:
    """A parsed file: `data` is plain data, `locate` finds the place of any path in it.

    problems: what is wrong with files that belong to it, and does not keep the rest from being checked.
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
        """The same file with data that others complete; `tenants_from`: which of them a tenant comes from."""
        joined = ParsedFile(self.file, self._root, data, self.lines)
        joined.problems = problems
        joined._tenants_from = tenants_from
        return joined

    def locate(self, path: Path, *, key: bool = False) -> Location:
        """The place of the value at `path`, or of its key; of the deepest part that exists where the path ends early."""
        if path[:1] == ("tenants",) and (other := self._tenants_from.get(str(*path[1:2]))):
            return other.locate(path, key=key)
        node, place = self._root, self._root
        for part in path:
            found = self._child(node, part)
            if found is None:
                return _location(self.file, place, self.lines)
            name, node = found
            place = name if key else node
        return _location(self.file, place, self.lines)

    def _child(self, node: Node, part: str | int) -> tuple[Node, Node] | None:
        """A key and its value, or an entry of a list twice."""
        if isinstance(node, MappingNode):
            if id(node) not in self._children:
                # The first of several counts, as everywhere.
                self._children[id(node)] = {
                    name.value: (name, value) for name, value in reversed(node.value) if isinstance(name, ScalarNode)
                }
            return self._children[id(node)].get(part)
        if isinstance(node, SequenceNode) and isinstance(part, int) and part < len(node.value):
            return node.value[part], node.value[part]
        return None

    def value(self, path: Path) -> Any:
        """What stands at `path`; None where nothing does."""
        return value_at(self.data, path)

    def line_of(self, path: Path) -> str:
        """`file:line:column` of the key at `path`, to point the reader to a second place."""
        return str(self.locate(path, key=True))


def read(file: FilePath, form: Form = MAIN) -> ParsedFile:
    """Read and parse a file.

    Raises: Refused where there is no such file; InvalidFleet where its text is not a YAML mapping in UTF-8.
    """
    try:
        with file.open("rb") as opened:
            raw = opened.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise Refused(f"{file}: no such file", "name the fleet's file with --file") from None
    except OSError as error:
        raise Refused(f"{file}: {error.strerror}", "name a readable file with --file") from None
    return parse(raw, str(file), form)


def parse(raw: bytes, file: str, form: Form = MAIN) -> ParsedFile:
    """Parse the bytes of a file; `file` is used in messages only. Raises: InvalidFleet."""
    if len(raw) > MAX_BYTES:
        raise _invalid(Location(file, 1, 1), "too-large", f"the file exceeds {MAX_BYTES} bytes")
    text = _decode(raw, file)
    lines = Lines(text)
    try:
        return _parsed(text, lines, file, form)
    except InvalidFleet as invalid:
        raise invalid.quoting(lines) from None


def _parsed(text: str, lines: Lines, file: str, form: Form) -> ParsedFile:
    root = _compose(text, file)
    if root is None:
        raise _invalid(Location(file, 1, 1), "empty-file", "the file is empty", form.fix)
    _Unfolded(file).check(root)
    builder = _Builder(file)
    data = builder.build(root)
    if builder.problems:
        raise InvalidFleet(builder.problems)
    if not isinstance(data, dict):
        raise _invalid(_location(file, root), "not-a-mapping", f"the file must be a mapping of {form.keys}")
    return ParsedFile(file, root, data, lines)


def _decode(raw: bytes, file: str) -> str:
    raw = raw.removeprefix(codecs.BOM_UTF8)
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        place = _end_of(raw[: error.start].decode(), file)
        message = f"byte 0x{raw[error.start]:02x} is not UTF-8"
        raise _invalid(place, "not-utf-8", message, "save the file as UTF-8") from None


def _compose(text: str, file: str) -> Node | None:
    """The root of the document; None where there is nothing in it."""
    try:
        _check_measure(text, file)
        loader = _Loader(text)
        try:
            root: Node | None = loader.get_single_node()
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as error:
        found = explained(error, LINE_BREAK.split(text))
        if found is None:  # libyaml misses something behind the last line
            raise _invalid(_end_of(text, file), "syntax", f"not valid YAML: {error.problem}") from None
        place = Location(file, found.line + 1, found.column + 1)
        raise _invalid(place, "syntax", found.message, found.fix) from None
    except yaml.reader.ReaderError as error:
        shown = error.character if isinstance(error.character, int) else ord(error.character)
        # libyaml counts the bytes before the character, the reader written in Python the characters.
        place = _end_of(text[: text.find(chr(shown))], file)
        raise _invalid(place, "syntax", f"not valid YAML: character #x{shown:04x} is not allowed") from None
    if root and not LINE_BREAK.fullmatch(text[-1:]):
        _keep_inside(root, _end_of(text, file))
    return root


def _keep_inside(node: Node, end: Location) -> None:
    """Move what libyaml has a line behind a last one without a line break: the value that a last `? key` lacks."""
    for _ in range(MAX_DEPTH):  # an alias could lead round for ever
        if isinstance(node, ScalarNode) or not node.value:
            break
        last = node.value[-1]
        node = last[1] if isinstance(node, MappingNode) else last
    if node.start_mark.line >= end.line:
        node.start_mark = yaml.Mark(end.file, 0, end.line - 1, end.column - 1, None, 0)


def _check_measure(text: str, file: str) -> None:
    """Refuse from the flat events what composing could not take: it recurses, in C without a bound, and keeps every node."""
    depth = 0
    for count, event in enumerate(yaml.parse(text, Loader=_Loader)):
        if count > MAX_NODES:
            raise _invalid(_location(file, event), "too-large", f"there are more than {MAX_NODES} keys and values")
        if isinstance(event, yaml.events.CollectionStartEvent):
            depth += 1
            if depth > MAX_DEPTH:
                raise _invalid(_location(file, event), "too-deep", f"values are nested deeper than {MAX_DEPTH} levels")
        elif isinstance(event, yaml.events.CollectionEndEvent):
            depth -= 1


class _Unfolded:
    """How many values the nodes of a file are once aliases are unfolded, found without unfolding them."""

    def __init__(self, file: str) -> None:
        self.file = file
        self._sizes: dict[int, int] = {}
        self._open: set[int] = set()

    def check(self, node: Node) -> int:
        """The size of a node. Raises: InvalidFleet: an alias holds itself, or they unfold beyond measure."""
        if (known := self._sizes.get(id(node))) is not None:
            return known
        if id(node) in self._open:
            raise _invalid(_location(self.file, node), "recursive-alias", "an alias holds itself")
        self._open.add(id(node))
        size = 1 + sum(map(self.check, _below(node)))
        self._open.discard(id(node))
        self._sizes[id(node)] = size
        if size > len(self._sizes) + MAX_UNFOLDED:
            message = f"aliases unfold to more than {MAX_UNFOLDED} values"
            raise _invalid(_location(self.file, node), "too-large", message)
        return size


def _below(node: Node) -> Iterable[Node]:
    if isinstance(node, MappingNode):
        return (value for _, value in node.value)
    return node.value if isinstance(node, SequenceNode) else ()


class _Builder:
    """Nodes to plain data; gathers what is wrong instead of stopping at the first."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.problems: list[Diagnostic] = []

    def build(self, node: Node, path: Path = ()) -> Any:
        if isinstance(node, ScalarNode):
            return self._scalar(node, path)
        if node.tag not in _COLLECTIONS:
            self._unknown_tag(node, path)
        # Aliases can nest deeper than the text does.
        if len(path) > MAX_DEPTH:
            raise _invalid(_location(self.file, node), "too-deep", f"values are nested deeper than {MAX_DEPTH} levels")
        return self._mapping(node, path) if isinstance(node, MappingNode) else self._sequence(node, path)

    def _sequence(self, node: Node, path: Path) -> list[Any]:
        return [self.build(item, (*path, index)) for index, item in enumerate(node.value)]

    def _mapping(self, node: MappingNode, path: Path) -> dict[str, Any]:
        data: dict[str, Any] = {}
        places: dict[str, Node] = {}
        for name, value in node.value:
            key = self._key(name, path)
            if key is None:
                continue
            if key in places:
                first = _location(self.file, places[key])
                self._add(
                    name,
                    "duplicate-key",
                    f"key '{shorten(key)}' is set twice in the same mapping",
                    (*path, key),
                    (f"first: {first}",),
                )
                continue
            places[key] = name
            data[key] = self.build(value, (*path, key))
        return data

    def _key(self, node: Node, path: Path) -> str | None:
        if isinstance(node, ScalarNode) and node.value == "<<" and not node.style:
            fix = "write the keys out where '<<' is"
            self._add(node, "merge-key", "the merge key '<<' is not part of YAML 1.2", path, fix=fix)
            return None
        if isinstance(node, ScalarNode) and node.tag in (_STRING, _INTEGER, _FLOAT):
            return str(node.value)
        shown = f"'{shorten(node.value)}'" if isinstance(node, ScalarNode) else "a list or mapping"
        self._add(node, "bad-key", f"{shown} cannot be a key", path, fix="use a string; put it in quotes")
        return None

    def _scalar(self, node: ScalarNode, path: Path) -> Any:
        text: str = node.value
        if node.tag not in _SCALARS:
            self._unknown_tag(node, path)
        elif node.tag in _FORMS and not _FORMS[node.tag][0].match(text):
            self._add(node, "syntax", f"not a valid {node.tag.rpartition(':')[2]}", path)
        elif node.tag == _INTEGER and _LEADING_ZERO.fullmatch(text):
            message = f"'{shorten(text, 12)}' is decimal in YAML 1.2, but octal where Helm and kubectl read it"
            self._add(
                node,
                "bad-number",
                message,
                path,
                fix="remove the leading zeros, write '0o' for octal, or put it in quotes",
            )
        else:
            value = _SCALARS[node.tag](text)
            self._check_value(node, value, path)
            return value
        return None

    def _check_value(self, node: ScalarNode, value: Any, path: Path) -> None:
        """Refuse what would be another value by the time it reaches the cluster."""
        if not _survives(value):
            message = "Kubernetes cannot store this number exactly"
            self._add(node, "bad-number", message, path, fix="put it in quotes")
        elif value is None and any(isinstance(part, int) for part in path):
            # Only mappings know what removing means; Pulumi's provider drops such a value, or ends.
            self._add(node, "null-in-list", "'null' cannot stand in a list", path, fix="leave it out")
        elif node.tag == _STRING and not node.style and node.value.lower() in _YAML_1_1_BOOLEANS:
            message = f"'{node.value}' is a string in YAML 1.2, but true or false for other readers"
            self._add(node, "ambiguous", message, path, fix="write true or false, or put it in quotes")

    def _unknown_tag(self, node: Node, path: Path) -> None:
        tag = shorten(node.tag.replace("tag:yaml.org,2002:", "!!"))
        self._add(node, "unknown-tag", f"the tag {tag} is not supported", path, fix="remove it")

    def _add(self, node: Node, code: str, message: str, path: Path, notes: tuple[str, ...] = (), fix: str = "") -> None:
        self.problems.append(Diagnostic(_location(self.file, node), code, message, path, notes, fix))
        if len(self.problems) > MAX_PROBLEMS:
            raise InvalidFleet(self.problems)


def _integer(text: str) -> int | float:
    if text[:2] in ("0o", "0x"):
        return int(text, 0)
    # Python refuses to convert thousands of digits; as a number of Kubernetes that is infinite.
    return int(text) if len(text) <= 32 else math.inf


def _survives(value: Any) -> bool:
    """Whether a number reaches Kubernetes as it stands here: on the way it is a float of 64 bits."""
    if isinstance(value, float):
        return math.isfinite(value)
    return not isinstance(value, int) or abs(value) <= 2**53


def _float(text: str) -> float:
    return float(text.lower().replace(".inf", "inf").replace(".nan", "nan"))


_SCALARS: dict[str, Any] = {
    _STRING: str,
    _INTEGER: _integer,
    _FLOAT: _float,
    _BOOLEAN: lambda text: text.lower() == "true",
    _NULL: lambda _: None,
}

_YAML_1_1_BOOLEANS = frozenset({"yes", "no", "on", "off"})

_COLLECTIONS = ("tag:yaml.org,2002:map", "tag:yaml.org,2002:seq")


def _location(file: str, found: Any, lines: Lines | None = None) -> Location:
    """Where a node or an event starts; both carry marks that count from 0."""
    return Location(file, found.start_mark.line + 1, found.start_mark.column + 1).within(lines)


def _end_of(text: str, file: str) -> Location:
    """The place right behind a text."""
    lines = LINE_BREAK.split(text)
    return Location(file, len(lines), len(lines[-1]) + 1)


def _invalid(place: Location, code: str, message: str, fix: str = "") -> InvalidFleet:
    return InvalidFleet([Diagnostic(place, code, message, fix=fix)])
