"""Tells where a CEL rule is satisfied by single keys, as most rules of most objects are: loading the CEL engine takes a while.

Called by: `cel`, which asks the engine about everything else. Never says that a rule is broken.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

_ATOM = re.compile(r"(?P<absent>!?)has\(self\.(?P<key>\w+)\)|self\.(?P<field>\w+) (?P<sign>[!=]=) '(?P<text>[^']*)'")


def is_evident(rule: str, value: Any) -> bool:
    """Whether one of the alternatives of a rule consists of plain conditions that all hold."""
    return isinstance(value, dict) and any(all(_holds(each, value) for each in option) for option in _options(rule))


def _holds(condition: re.Match[str], value: dict[str, Any]) -> bool:
    if key := condition["key"]:
        return (key not in value) is bool(condition["absent"])
    found = value.get(condition["field"])
    return isinstance(found, str) and (found == condition["text"]) is (condition["sign"] == "==")


@cache
def _options(rule: str) -> tuple[tuple[re.Match[str], ...], ...]:
    """The alternatives of a rule that consist of plain conditions."""
    if "?" in rule:  # binds weaker than `||`
        return ()
    parsed = (_conditions(option) for option in _split(rule, " || "))
    return tuple(tuple(each) for each in parsed if all(each))  # type: ignore[arg-type]


def _conditions(option: str) -> list[re.Match[str] | None]:
    """The conditions of an alternative, all of which must hold; None for one that is not plain."""
    inner = option[1:-1] if option.startswith("(") and option.endswith(")") else option
    return [_ATOM.fullmatch(each) for each in _split(inner, " && ")]


def _split(text: str, operator: str) -> Iterator[str]:
    """The parts between an operator, where it is not in parentheses."""
    held = ""
    for part in text.split(operator):
        held = f"{held}{operator}{part}" if held else part
        if held.count("(") == held.count(")"):
            yield held
            held = ""
    if held:
        yield held
