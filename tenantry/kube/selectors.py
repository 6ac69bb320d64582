"""Label selectors as text, as in flags of controllers: `a=b`, `a!=b`, `a in (b, c)`, `a notin (b)`, `a`, `!a`, with commas between.

Source: k8s.io/apimachinery, labels.Parse.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_PART = re.compile(
    r"\s*(?:(?P<not>!)\s*)?(?P<key>[-A-Za-z0-9_./]+)\s*"
    r"(?:(?P<sign>==|=|!=)\s*(?P<value>[-A-Za-z0-9_.]*)|(?P<word>in|notin)\s*\((?P<values>[-A-Za-z0-9_.,\s]*)\))?\s*(?:,|$)"
)


def selects(selector: str, labels: Mapping[str, str]) -> bool | None:
    """Whether a selector matches labels; None if it cannot be read. An empty one matches everything."""
    position, matches = 0, True
    while position < len(selector):
        part = _PART.match(selector, position)
        if part is None:
            return None
        position = part.end()
        matches = matches and _matches(part, labels)
    return matches


def _matches(part: re.Match[str], labels: Mapping[str, str]) -> bool:
    value = labels.get(part["key"])
    if part["sign"] or part["word"]:
        wanted = {part["value"]} if part["sign"] else {each.strip() for each in part["values"].split(",")}
        negative = part["sign"] == "!=" or part["word"] == "notin"
        return (value in wanted) != negative
    return (value is not None) != bool(part["not"])
