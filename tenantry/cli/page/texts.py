"""Values and messages as text for a page: without characters that change how a text is displayed, and bounded."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from itertools import islice
from typing import Any

from tenantry.cli.diff.values import both, shown
from tenantry.cli.page.fleet_map import Value
from tenantry.messages.data import ABSENT
from tenantry.messages.text import printable

_MOST_CHARACTERS = 4_000
_MOST_LINES = 400


def value_of(key: str, before: Any, after: Any) -> Value:
    """A changed value. Of texts with several lines only those that differ are shown, with two around them."""
    if isinstance(before, str) and isinstance(after, str) and "\n" in before + after:
        old, new = before.splitlines(), after.splitlines()
        if len(old) + len(new) <= 2 * _MOST_LINES:
            found = islice(difflib.unified_diff(old, new, n=2, lineterm=""), 2, None)
            return Value(printable(key), lines=tuple(bounded(line) for line in found) or (" the last line break",))
    if before is ABSENT or after is ABSENT:
        return Value(printable(key), _text(before), _text(after))
    told = both(before, after)
    return Value(printable(key), bounded(told[0]), bounded(told[1]))


def _text(value: Any) -> str | None:
    return None if value is ABSENT else bounded(shown(value))


def bounded(text: str) -> str:
    """The text on one line, cut if it is very long."""
    cut = text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]} ... ({len(text)} characters)"
    return printable(cut)


def paragraphs(message: str) -> tuple[str, ...]:
    """The lines of a message that are not empty."""
    return tuple(islice((bounded(line) for line in message.splitlines() if line.strip()), _MOST_LINES))


def places(names: Iterable[str], of: int) -> str:
    """Such as "on edge-1 and edge-2" or "on 479 of 501 clusters"; "" without names."""
    found = list(dict.fromkeys(names))
    if not found:
        return ""
    if len(found) <= 3:
        return f"on {' and '.join(filter(None, (', '.join(found[:-1]), found[-1])))}"
    return f"on all {len(found)} clusters" if len(found) >= of else f"on {len(found)} of {of} clusters"
