"""Text of a fleet in Markdown: nothing in it becomes a link, a mention, an image or HTML."""

from __future__ import annotations

import re

from tenantry.messages.text import printable

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>()#+!|~&])")


def inert(text: str) -> str:
    """The text as a part of a sentence."""
    return _SPECIAL.sub(r"\\\1", printable(text)).replace("@", "@\u200b")


def code(text: str) -> str:
    """The text as a code span."""
    text = printable(text)
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", text)), default=0))
    space = " " if text.startswith("`") or text.endswith("`") or not text.strip() else ""
    return f"{fence}{space}{text}{space}{fence}"
