"""Reads the YAML of other programs, and writes objects as YAML that every reader takes for the same data.

Numbers whose text is not what comes out: a tag `1.10` is the number 1.1, and a short commit of digits is a number in YAML.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal
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
_WIDTH = 1_000_000
"""Characters after which a line would be broken: no line of an object is."""


def documents(data: Iterable[Any]) -> str:
    """The data as YAML documents, each after `---` and with its own order of keys."""
    return "".join(map(DocumentWriter().document, data))


class _SeveralLines(Exception):
    """A scalar takes more than one line, whose indentation depends on where it stands."""


class DocumentWriter:
    """Puts documents together as PyYAML would write them, and asks it for each scalar once: in a fleet, nearly all come often."""

    def __init__(self) -> None:
        self._keys: dict[str, str] = {}
        self._scalars: dict[str | tuple[type, str], str] = {}

    def document(self, data: Any) -> str:
        """The text of one document, after `---`."""
        parts = ["---"]
        try:
            self._add(data, "\n", "\n", parts)
        except _SeveralLines:
            return dumped(data)
        return "".join((*parts, "\n"))

    def _add(self, value: Any, first: str, rest: str, parts: list[str]) -> None:
        """Args: first, rest: what comes before the first line of a collection, and before its others."""
        if isinstance(value, dict) and value:
            for key, inner in value.items():
                parts.append(f"{first}{self._key(key)}:")
                below = rest if isinstance(inner, list) else f"{rest}  "
                self._add(inner, below, below, parts)
                first = rest
        elif isinstance(value, list) and value:
            for inner in value:
                parts.append(f"{first}-")
                self._add(inner, " ", f"{rest}  ", parts)
                first = rest
        else:
            parts.append(f" {self._scalar(value)}")

    def _key(self, key: str) -> str:
        if (text := self._keys.get(key)) is None:
            text = self._keys[key] = _line({key: None}).removesuffix(": null")
        return text

    def _scalar(self, value: Any) -> str:
        # By text, because 1 and true are equal, and so are 0.0 and -0.0.
        known = value if isinstance(value, str) else (type(value), repr(value))
        if (text := self._scalars.get(known)) is None:
            text = self._scalars[known] = _line([value]).removeprefix("- ")
        return text


def _line(data: Any) -> str:
    """The one line that some data takes. Raises: _SeveralLines."""
    _, *lines = dumped(data).splitlines()
    if len(lines) != 1:
        raise _SeveralLines
    return lines[0]


def dumped(data: Any) -> str:
    """The document as PyYAML writes it."""
    text: str = yaml.dump(data, Dumper=_Dumper, sort_keys=False, explicit_start=True, width=_WIDTH)
    return text


LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The fast loader of libyaml, if it is installed."""


class ManifestLoader(LOADER):  # type: ignore[misc]
    """Reads scalars as Kubernetes' own library does: neither times nor sexagesimal numbers such as `22:22`."""


_TAGS = ("bool", "null", "merge")
ManifestLoader.yaml_implicit_resolvers = {
    first: [pair for pair in pairs if pair[0].rsplit(":", 1)[1] in _TAGS]
    for first, pairs in LOADER.yaml_implicit_resolvers.items()
}
_INT = re.compile(r"[-+]?(?:0b[01_]+|0x[0-9a-fA-F_]+|0o?[0-7_]+|0|[1-9][0-9_]*)$")
_FLOAT = re.compile(
    r"[-+]?(?:\.[0-9]+|[0-9][0-9_]*(?:\.[0-9_]*)?)(?:[eE][-+]?[0-9]+)?$|[-+]?\.(?:inf|Inf|INF)$|\.(?:nan|NaN|NAN)$"
)
ManifestLoader.add_implicit_resolver("tag:yaml.org,2002:int", _INT, list("-+0123456789"))
ManifestLoader.add_implicit_resolver("tag:yaml.org,2002:float", _FLOAT, list("-+0123456789."))


def document(text: str | bytes) -> Any:
    """The data of a text with one document. Raises: yaml.YAMLError, ValueError, RecursionError."""
    return yaml.load(text, Loader=LOADER)  # both are safe


_WORDS = "account|build|commit|digest|hash|id|image|number|ref|release|rev|revision|serial|sha|tag|version"  # of what is text
_NAMED = re.compile(rf"(?:(?:^|[^a-zA-Z])(?i:{_WORDS})|[a-z0-9](?:{_WORDS.title()}|ID|SHA))$")
"""Keys whose values are texts, although they may consist of digits, by their last word."""
_DECIMAL = re.compile(r"[-+]?[0-9]*\.[0-9]*[1-9]|[-+]?[0-9]+\.0?|[-+]?0?\.[0-9]+")
"""Decimal numbers as people write those with which they mean a number."""
LARGE = 1_000_000
"""From here on a template of Go prints a number of a chart's values with an exponent: Helm reads all numbers as floats."""


def outcome(text: str, value: object, key: str, *, of_chart: bool) -> str:
    """What a program gets for a plain number at a key, if that is not its text; "" for all else, and for ordinary numbers.

    Whole numbers, `0x1f` and `1.0` are ordinary unless the key is that of a text: `runAsUser: 1000660000` is printed as a part of a
    mapping, where its digits stay.
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return ""
    named = bool(_NAMED.search(key))
    if isinstance(value, float):
        result = "" if not named and _DECIMAL.fullmatch(text) else _of_go(value)
    else:
        result = "" if not named else _of_go(value) if of_chart and abs(value) >= LARGE else str(value)
    return "" if result == text else result


def _of_go(value: float) -> str:
    """A number as Go prints a float of 64 bits."""
    number = Decimal(repr(float(value))).normalize()
    exponent = number.adjusted() if number else 0
    if -5 < exponent < 6:
        return format(number, "f")
    digits = "".join(map(str, number.as_tuple().digits))
    sign = "-" if number < 0 else ""
    return f"{sign}{digits[0]}{'.' if digits[1:] else ''}{digits[1:]}e{exponent:+03d}"
