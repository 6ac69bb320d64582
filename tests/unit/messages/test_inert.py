"""Hostile text in Markdown, read by a real parser: nothing of it comes alive."""

from __future__ import annotations

from collections.abc import Iterator

from tenantry.messages.inert import MOST_CHARACTERS, code
from tests.markdown import alive, blocks
from tests.table import table

HOSTILE = [
    "@everyone",
    "#1",
    "owner/repo#12",
    "!7",
    "~label",
    "%milestone",
    "GH-12",
    "ABC-12",
    "0123456789abcdef0123456789abcdef01234567",
    "[x](https://evil.example.com)",
    "![x](https://evil.example.com/x.png)",
    "<https://evil.example.com>",
    "https://evil.example.com",
    "www.evil.example.com",
    "alice@example.com",
    "<img src=x onerror=alert(1)>",
    "<!-- x",
    "<details>",
    "&lt;b&gt;&#64;all",
    "`a`",
    "``",
    "```\n# x\n```",
    "~~~",
    "a | b",
    "|---|---|",
    "# x",
    "1. x",
    "- x",
    "+ x",
    "> x",
    "    x",
    "---",
    "===",
    "\\",
    "a\\",
    "\\`",
    "**a**",
    "_a_",
    "~~a~~",
    "$x$",
    ":tada:",
    "[^1]: x",
    "[x]: https://evil.example.com",
    "/close",
    "a\n\n/close\n\n@all",
    "\x1b[31m",
    "\u202eabc",
    "\u2028@all",
    "",
    " ",
    "'@all'",
    "it's '@all', '#1'.",
]
HARMLESS_ALONE = (
    "`a`",
    "``",
    "a | b",
    "|---|---|",
    "===",
    "\\",
    "a\\",
    "\\`",
    "[x]: https://evil.example.com",
    "",
    " ",
    "\x1b[31m",
    "\u202eabc",
)
each_hostile = table("text", HOSTILE, ids=lambda text: repr(text[:30]))


def in_every_place(text: str) -> Iterator[str]:
    """The text as each function writes it, in each place that it may stand in."""
    inline = code(text)
    yield from (
        inline,
        f"- {inline}",
        f"> [!WARNING]\n> - {inline}",
        f"tenant 'rocky': {inline}, and more",
    )


@each_hostile
def test_hostile_text_stays_text(text: str) -> None:
    for document in in_every_place(text):
        assert not alive(document), document[:300]


@each_hostile
def test_a_value_is_bounded(text: str) -> None:
    # A character that cannot be printed takes ten.
    assert len(code(text)) < 3 * MOST_CHARACTERS + 10


@table("text", [each for each in HOSTILE if len(each) < 99 and each not in HARMLESS_ALONE])
def test_the_same_text_unguarded_would_come_alive(text: str) -> None:
    assert alive(text) or blocks(text) != ["paragraph"]
