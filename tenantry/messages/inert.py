"""Makes text that others wrote inert in Markdown: nothing in it becomes a link, an image, HTML, a mention or structure.

Called by: every format that is a comment or a page of Markdown. For a terminal, `text.printable` does the same.
Never: hides secrets (`masking`), or is needed for HTML, which the templates escape.

A value of a fleet always goes through `code`, a sentence of the review through `prose`, and several lines through `fence`.
The results can stand in a paragraph, a list or a quote, and with `in_table` in a cell of a table. Do not wrap or cut them.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator
from itertools import groupby

from tenantry.messages.text import printable

MOST_CHARACTERS = 400
"""The most characters of one value. A line can have a million."""


def short(text: str, most: int = MOST_CHARACTERS) -> str:
    """The text, or its beginning with three dots."""
    return text if len(text) <= most else f"{text[:most]}..."


def code(text: str, most: int = MOST_CHARACTERS, *, in_table: bool = False) -> str:
    """A code span on one line. GitHub and GitLab leave mentions and references in code alone."""
    shown = printable(short(text, most)) or " "
    ticks = "`" * (_longest_ticks(shown) + 1)
    # A space beside a backtick is needed; Markdown removes one on each side again.
    padded = f" {shown} " if shown.strip() and (shown[0] in "` " or shown[-1] in "` ") else shown
    # In a table, a bar ends the cell even within code.
    return f"{ticks}{padded.replace('|', chr(92) + '|') if in_table else padded}{ticks}"


def prose(text: str, *, in_table: bool = False) -> str:
    """A sentence: words as they are, and whatever could mean something to Markdown or a forge in code spans."""
    return " ".join(_pieces(_WORDS.findall(printable(text)), in_table=in_table))


def in_html(text: str) -> str:
    """Text within an HTML element of a comment, where Markdown means nothing, but mentions do."""
    return html.escape(printable(short(text))).replace("@", "@\u200b").replace("#", "#\u200b")


def fence(lines: Iterable[str], language: str = "", most: int = MOST_CHARACTERS) -> str:
    """A block of code that no line of it can end."""
    shown = [printable(short(line, most)) for line in lines]
    ticks = "`" * max(_longest_ticks("\n".join(shown)) + 1, 3)
    return "\n".join([f"{ticks}{language}", *shown, ticks])


def _longest_ticks(text: str) -> int:
    return max(map(len, re.findall("`+", text)), default=0)


_WORD = re.compile(r"[\"'(]*[A-Za-z0-9]+(?:[./:'%+=-]+[A-Za-z0-9]+)*(?:[\"'),;.?]|:(?!\w))*")
"""Letters, digits and punctuation that nothing is made of."""
_SIGNS = frozenset({"->", "(", ")", "+", "-", "/"})
_LINKED = re.compile(
    r"://|(?i:www\.)|\b[0-9A-Fa-f]{7,40}\b|\b[A-Z][A-Z0-9]+-[0-9]|:[A-Za-z0-9_+-]+:|\b(?i:mailto|xmpp):"
)
"""What forges make links or pictures of: addresses, hashes of commits, `GH-1` and names of issues, `:tada:`."""
_WORDS = re.compile(r"(?<![^ ])(?:`[^` ][^`]*`[,.;:)]*(?= |$)|[^ ]*)")
"""What a sentence marks as code is one word."""
_LIST = re.compile(r"[0-9]+[.)]")
_QUOTED = re.compile(r"'([^' ]+)'([,.;:)]*)")
_TICKED = re.compile(r"`([^`]+)`([,.;:)]*)")
"""What a sentence marks as code already."""


def _pieces(words: list[str], *, in_table: bool) -> Iterator[str]:
    """The words, with neighbours that are not plain together in one code span."""
    for is_plain, neighbours in groupby(enumerate(words), key=lambda pair: _is_plain(pair[1], first=pair[0] == 0)):
        run = [word for _, word in neighbours]
        yield from run if is_plain else [_as_code(" ".join(run), in_table=in_table)]


def _as_code(text: str, *, in_table: bool) -> str:
    quoted = _QUOTED.fullmatch(text) or _TICKED.fullmatch(text)
    return code(quoted[1], in_table=in_table) + quoted[2] if quoted else code(text, in_table=in_table)


def _is_plain(word: str, *, first: bool) -> bool:
    if word in _SIGNS:
        return not first
    return bool(_WORD.fullmatch(word)) and not _LINKED.search(word) and not (first and _LIST.fullmatch(word))
