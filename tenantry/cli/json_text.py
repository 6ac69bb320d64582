"""Writes plain data as JSON: the same text as `json.dumps` with an indentation of 2, several times as fast.

Python's own encoder is written in C, but not for indented text. A plan repeats few texts, so each is written once here.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from json.encoder import encode_basestring_ascii
from math import isfinite
from typing import Any


def indented(value: Any) -> str:
    """The JSON text of a value. Raises: ValueError: it holds NaN or an infinite number."""
    parts: list[str] = []
    try:
        _Writer(parts).write(value, "\n")
    except _Unsure:
        return json.dumps(value, indent=2, allow_nan=False)
    return "".join(parts)


class _Unsure(Exception):
    """The value holds a type that is left to Python's own encoder."""


_CONSTANTS = {True: "true", False: "false", None: "null"}


class _Writer:
    """Appends the text of values to `parts`. start: the line break and the indentation of the line that a value begins on."""

    def __init__(self, parts: list[str]) -> None:
        self._parts = parts
        self._texts = _Texts()
        self._keys: dict[str, _Keys] = {}

    def write(self, value: Any, start: str) -> None:
        kind = type(value)
        if kind is str:
            self._parts.append(self._texts[value])
        elif kind is dict:
            self._mapping(value, start)
        elif kind is list or kind is tuple:
            self._list(value, start)
        elif kind is bool or value is None:
            self._parts.append(_CONSTANTS[value])
        elif kind is int or (kind is float and isfinite(value)):
            self._parts.append(repr(value))
        else:
            raise _Unsure

    def _mapping(self, data: dict[Any, Any], start: str) -> None:
        parts, texts, inner = self._parts, self._texts, f"{start}  "
        if (keys := self._keys.get(inner)) is None:
            keys = self._keys[inner] = _Keys(inner)
        before = "{"
        for key, value in data.items():
            if type(key) is not str:
                raise _Unsure
            parts.append(before)
            parts.append(keys[key])
            before = ","
            if type(value) is str:
                parts.append(texts[value])
            else:
                self.write(value, inner)
        parts.append(f"{start}}}" if data else "{}")

    def _list(self, data: Iterable[Any], start: str) -> None:
        inner, before = f"{start}  ", "["
        for value in data:
            self._parts.append(f"{before}{inner}")
            before = ","
            self.write(value, inner)
        self._parts.append(f"{start}]" if data else "[]")


class _Texts(dict[str, str]):
    """The JSON of each text."""

    def __missing__(self, text: str) -> str:
        self[text] = written = encode_basestring_ascii(text)
        return written


class _Keys(dict[str, str]):
    """The JSON of each key with a colon, after a line break and the indentation."""

    def __init__(self, start: str) -> None:
        self._start = start

    def __missing__(self, key: str) -> str:
        self[key] = written = f"{self._start}{encode_basestring_ascii(key)}: "
        return written
