"""What differs between a frozen outcome and that of now."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from typing import Any

from tests.frozen.outcomes import OUTCOMES
from tests.frozen.store import Input, text_of

_MISSING = object()


def differences(part: str, name: str, case: str, frozen: str) -> Iterator[str]:
    """A line for each difference. case, frozen: the input and the outcome, as JSON."""
    outcome = outcome_of(part, json.loads(case))
    if outcome != frozen:
        for path, before, after in _between(json.loads(frozen), json.loads(outcome), ()):
            yield f"{part}/{name}: {'.'.join(path)}: {_shown(before)} -> {_shown(after)}"


def outcome_of(part: str, case: Input) -> str:
    """As JSON; an exception is an outcome, too."""
    try:
        return text_of(OUTCOMES[part](case))
    except Exception as error:
        return text_of(f"{type(error).__name__}: {error}")


def _between(before: Any, after: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any, Any]]:
    if isinstance(before, dict) and isinstance(after, dict):
        for key in {**before, **after}:
            yield from _between(before.get(key, _MISSING), after.get(key, _MISSING), (*path, key))
        both = [[key for key in one if key in other] for one, other in ((before, after), (after, before))]
        if both[0] != both[1]:
            yield (*path, "(order of keys)"), both[0], both[1]
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, (one, other) in enumerate(zip(before, after, strict=True)):
            yield from _between(one, other, (*path, str(index)))
    elif isinstance(before, list) and isinstance(after, list):
        for sign, one, other in (("-", before, after), ("+", after, before)):
            yield from (
                ((*path, sign), *((item, _MISSING) if sign == "-" else (_MISSING, item)))
                for item in one
                if item not in other
            )
        if all(item in after for item in before) and all(item in before for item in after):
            yield path, before, after
    elif before != after or type(before) is not type(after):
        yield path, before, after


def _shown(value: Any) -> str:
    return "(nothing)" if value is _MISSING else text_of(value)


def first(lines: Iterator[str], most: int) -> list[str]:
    """The first lines, and a line more if there are others, each cut to what fits a screen."""
    found = list(islice(lines, most + 1))
    return [line if len(line) <= 400 else f"{line[:400]} ..." for line in found[:most]] + ["..."] * (len(found) > most)
