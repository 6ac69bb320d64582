"""Text to YAML nodes, which know their places."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode

from tenantry.messages.errors import InvalidFleet, Location
from tenantry.messages.lines import LINE_BREAK
from tenantry.source.bounds import MAX_DEPTH, check_aliases, check_events, surely_allowed
from tenantry.source.core_schema import FORMS
from tenantry.source.places import end_of, invalid
from tenantry.source.syntax import explained

PARSER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(PARSER):  # type: ignore[misc]  # the C loader exists only where libyaml does
    """Composes nodes only; scalars keep YAML 1.2's types."""

    yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012  # PyYAML's own class attribute


for _tag, (_form, _starts) in FORMS.items():
    _Loader.add_implicit_resolver(_tag, _form, _starts)


class _Beyond(Exception):
    """A file is possibly beyond the bounds."""


class _BoundedLoader(_Loader):
    """Composes nodes as long as the file is surely within the bounds. The parser calls both methods for each node but aliases."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._left = surely_allowed(text)
        self._depth = 0

    def descend_resolver(self, *_: object) -> None:
        self._left -= 1
        self._depth += 1
        if self._left < 0 or self._depth > MAX_DEPTH:
            raise _Beyond

    def ascend_resolver(self) -> None:
        self._depth -= 1


def compose(text: str, file: str) -> Node | None:
    """The root of the document; None where the text is empty. Raises: InvalidFleet: not YAML, or beyond the bounds."""
    try:
        root = _bounded_root(text, file)
    except yaml.MarkedYAMLError as error:
        raise _syntax_error(error, text, file) from None
    except yaml.reader.ReaderError as error:
        raise _bad_character(error, text, file) from None
    if root is None:
        return None
    if not LINE_BREAK.fullmatch(text[-1:]):
        _keep_inside(root, end_of(text, file))
    if "&" in text and "*" in text:  # else no alias has an anchor
        check_aliases(root, file)
    return root


def _bounded_root(text: str, file: str) -> Node | None:
    """Parse the text once. If something is wrong, parse it again: its events first, so that the first problem is reported."""
    with suppress(_Beyond, yaml.MarkedYAMLError, yaml.reader.ReaderError):
        return _root(text, _BoundedLoader)
    check_events(yaml.parse(text, Loader=_Loader), file)
    return _root(text, _Loader)


def _root(text: str, kind: type[_Loader]) -> Node | None:
    loader = kind(text)
    try:
        root: Node | None = loader.get_single_node()
    finally:
        loader.dispose()
    return root


def _syntax_error(error: yaml.MarkedYAMLError, text: str, file: str) -> InvalidFleet:
    found = explained(error, LINE_BREAK.split(text))
    if found is None:  # libyaml misses something behind the last line
        return invalid(end_of(text, file), "syntax", f"not valid YAML: {error.problem}")
    return invalid(Location(file, found.line + 1, found.column + 1), "syntax", found.message, found.fix)


def _bad_character(error: yaml.reader.ReaderError, text: str, file: str) -> InvalidFleet:
    shown = error.character if isinstance(error.character, int) else ord(error.character)
    # libyaml counts the bytes before the character; the reader written in Python counts characters.
    place = end_of(text[: text.find(chr(shown))], file)
    return invalid(place, "syntax", f"not valid YAML: character #x{shown:04x} is not allowed")


def _keep_inside(node: Node, end: Location) -> None:
    """Move the last value into the text. libyaml puts the missing value of a last `? key` on a line after the last one."""
    for _ in range(MAX_DEPTH):  # an alias may contain itself
        if isinstance(node, ScalarNode) or not node.value:
            break
        last = node.value[-1]
        node = last[1] if isinstance(node, MappingNode) else last
    if node.start_mark.line >= end.line:
        node.start_mark = yaml.Mark(end.file, 0, end.line - 1, end.column - 1, None, 0)
