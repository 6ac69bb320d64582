"""Tells where a CEL rule is satisfied by single keys, as most rules of most objects are: loading the CEL engine takes a while.

Called by: `cel`, which asks the engine about everything else. Never says that a rule is broken.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

_ATOM = re.compile(r"(?P<absent>!?)has\(self\.(?P<key>\w+)\)|self\.(?P<field>\w+) (?P<sign>[!=]=) '(?P<text>[^']*)'")


class _Condition(NamedTuple):
    """A plain condition on one key of a value.

    text: what the key's text has to be, or has to differ from; None: the key has to be present, or absent.
    """

    key: str
    text: str | None
    positive: bool


def is_evident(rule: str, value: Any) -> bool:
    """Whether one of the alternatives of a rule consists of plain conditions that all hold."""
    if not isinstance(value, dict):
        return False
    for option in _options(rule):
        for key, text, positive in option:
            if text is None:
                holds = (key in value) is positive
            else:
                found = value.get(key)
                holds = isinstance(found, str) and (found == text) is positive
            if not holds:
                break
        else:
            return True
    return False


@cache
def _options(rule: str) -> tuple[tuple[_Condition, ...], ...]:
    """The alternatives of a rule that consist of plain conditions."""
    if "?" in rule:  # binds weaker than `||`
        return ()
    parsed = (_conditions(option) for option in _split(rule, " || "))
    return tuple(tuple(each) for each in parsed if all(each))  # type: ignore[arg-type]


def _conditions(option: str) -> list[_Condition | None]:
    """The conditions of an alternative, all of which must hold; None for one that is not plain."""
    inner = option[1:-1] if option.startswith("(") and option.endswith(")") else option
    return [_condition(each) for each in _split(inner, " && ")]


def _condition(text: str) -> _Condition | None:
    found = _ATOM.fullmatch(text)
    if found is None:
        return None
    if found["key"]:
        return _Condition(found["key"], None, not found["absent"])
    return _Condition(found["field"], found["text"], found["sign"] == "==")


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
