"""Pages of the documentation, taken apart as text."""

from __future__ import annotations

import re

FENCE = re.compile(r"^ *```(\w*)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
"""A fenced block: its language and its text."""


def prose(text: str) -> str:
    """A page without its fenced blocks, in which a `#` starts no heading and brackets are no link."""
    return FENCE.sub("", text)
