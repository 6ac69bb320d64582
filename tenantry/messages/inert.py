"""Makes text that others wrote inert in Markdown: nothing in it becomes a link, an image, HTML, a mention or structure.

Called by: every format that is a comment or a page of Markdown. For a terminal, `text.printable` does the same.
Never: hides secrets (`masking`), or is needed for HTML, which the templates escape.
"""

from __future__ import annotations

import re

from tenantry.messages.text import printable

MOST_CHARACTERS = 400
"""The most characters of one value. A line can have a million."""


def short(text: str, most: int = MOST_CHARACTERS) -> str:
    """The text, or its beginning with three dots."""
    return text if len(text) <= most else f"{text[:most]}..."


def code(text: str, most: int = MOST_CHARACTERS) -> str:
    """A code span on one line, for a paragraph, a list or a quote. Forges leave mentions and references in code alone."""
    shown = printable(short(text, most)) or " "
    ticks = "`" * (max(map(len, re.findall("`+", shown)), default=0) + 1)
    # A space beside a backtick is needed; Markdown removes one on each side again.
    padded = f" {shown} " if shown.strip() and (shown[0] in "` " or shown[-1] in "` ") else shown
    return f"{ticks}{padded}{ticks}"
