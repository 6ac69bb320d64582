"""Numbers whose text is not what comes out: a tag `1.10` is the number 1.1, and one short commit of 18 is a number in YAML."""

from __future__ import annotations

import re
from decimal import Decimal

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
