"""Writes plain data as YAML: the same bytes as PyYAML with the settings below, about ten times as fast.

PyYAML decides at every occurrence of a text how to write it. A fleet repeats few texts in many objects, so this module
decides once for each text. Where it is not sure, it asks PyYAML. The tests compare every byte.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import yaml

_BASE: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


class _Dumper(_BASE):  # type: ignore[misc]  # the C dumper exists only where libyaml does
    """Writes repeated values out instead of using anchors, which are hard to read."""

    def ignore_aliases(self, _: Any) -> bool:
        return True


# PyYAML would not quote these strings, but other readers of YAML read them as numbers or booleans.
_Dumper.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$"), None
)
_Dumper.add_implicit_resolver("tag:yaml.org,2002:int", re.compile(r"^[-+]?0o[0-7]+$"), None)
_Dumper.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile(r"^[yYnN]$"), None)

_RESOLVERS: dict[str | None, list[tuple[str, re.Pattern[str]]]] = _Dumper.yaml_implicit_resolvers
_WIDTH = 1_000_000
_LONG = 50_000
"""Characters from which a text could reach the width, where PyYAML breaks lines."""
_LONG_KEY = 100
"""Characters from which a key may be too long for the form `key: value`."""

_PLAIN = re.compile(r"""(?:[A-Za-z0-9_/]|\./)(?:[!"$-9;-~]|[:#](?=[!-~])|[ ](?=[!"$-~]))*""")
"""Printable ASCII that starts with no sign of YAML, and contains neither `: ` nor ` #`."""


def documents(data: Iterable[Any]) -> str:
    """The data as YAML documents, each with its order of keys."""
    writer = Writer()
    return "".join(map(writer.document, data))


class _Unsure(Exception):
    """PyYAML has to write this document."""


class Writer:
    """Writes documents, and remembers their texts. Use one for all documents of a fleet."""

    def __init__(self) -> None:
        self._values = _Values()
        self._keys: dict[str, _Keys] = {}

    def document(self, data: Any) -> str:
        """One document, from `---` to its last line break."""
        if type(data) is not dict or not data:
            return _by_pyyaml(data)
        parts = ["---"]
        try:
            self._mapping(data, "\n", parts)
        except _Unsure:
            return _by_pyyaml(data)
        parts.append("\n")
        return "".join(parts)

    def _mapping(self, data: dict[Any, Any], start: str, parts: list[str]) -> None:
        """start: the line break and the indentation before each key."""
        keys, values = self._keys.get(start) or self._keys_after(start), self._values
        inner = start + "  "
        for key, value in data.items():
            if type(key) is not str:
                raise _Unsure
            parts.append(keys[key])
            if type(value) is str:
                parts.append(values[value] or values.lines(value, start))
            else:
                self._other(value, inner, start, parts)

    def _sequence(self, data: Iterable[Any], start: str, parts: list[str]) -> None:
        inner, values = start + "  ", self._values
        for value in data:
            parts.append(start + "-")
            if type(value) is str:
                parts.append(values[value] or values.lines(value, start))
                continue
            below = len(parts)
            self._other(value, inner, inner, parts)
            if parts[below].startswith(inner):
                # The first key or entry below an entry stands on its line.
                parts[below] = " " + parts[below][len(inner) :]

    def _other(self, value: Any, mapping: str, sequence: str, parts: list[str]) -> None:
        """Anything but a text. mapping, sequence: what comes before each key or entry below."""
        kind = type(value)
        if kind is dict:
            if value:
                self._mapping(value, mapping, parts)
            else:
                parts.append(" {}")
        elif kind is list or kind is tuple:
            if value:
                self._sequence(value, sequence, parts)
            else:
                parts.append(" []")
        elif kind is bool or value is None:
            parts.append(_CONSTANTS[value])
        elif kind is int:
            parts.append(f" {value}")
        else:
            raise _Unsure

    def _keys_after(self, start: str) -> _Keys:
        self._keys[start] = keys = _Keys(start)
        return keys


_CONSTANTS = {True: " true", False: " false", None: " null"}


class _Keys(dict[str, str]):
    """The text of each key with a colon, after a line break and the indentation."""

    def __init__(self, start: str) -> None:
        self._start = start

    def __missing__(self, key: str) -> str:
        self[key] = text = f"{self._start}{_key(key)}:"
        return text


class _Values(dict[str, str]):
    """The text of each value after a space; "" if it takes several lines, so that it depends on the indentation."""

    def __init__(self) -> None:
        self._lines: dict[tuple[str, str], str] = {}

    def __missing__(self, value: str) -> str:
        self[value] = text = _value(value)
        return text

    def lines(self, value: str, start: str) -> str:
        """The text of a value that takes several lines, after a key or an entry behind `start`."""
        text = self._lines.get((value, start))
        if text is None:
            self._lines[value, start] = text = _lines(value, start)
        return text


def _key(key: str) -> str:
    if len(key) < _LONG_KEY and _is_plain(key):
        return key
    _, text, *more = _by_pyyaml({key: None}).split("\n")
    if more != [""] or text.startswith("? "):
        raise _Unsure
    return text.removesuffix(": null")


def _value(value: str) -> str:
    if len(value) > _LONG:
        raise _Unsure
    if _is_plain(value):
        return f" {value}"
    lines = _by_pyyaml([value]).split("\n")
    return lines[1][1:] if len(lines) == 3 else ""


def _lines(value: str, start: str) -> str:
    nested: Any = value
    for _ in range(len(start) // 2 + 1):
        nested = {"k": nested}
    return " " + _by_pyyaml(nested).partition("k: ")[2][:-1]


def _is_plain(text: str) -> bool:
    """Whether a text needs no quotes: no reader takes it for anything else."""
    if not _PLAIN.fullmatch(text):
        return False
    return not any(pattern.match(text) for first in (text[0], None) for _, pattern in _RESOLVERS.get(first, ()))


def _by_pyyaml(data: Any) -> str:
    text: str = yaml.dump_all([data], Dumper=_Dumper, sort_keys=False, explicit_start=True, width=_WIDTH)
    return text
