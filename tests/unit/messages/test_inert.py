"""Hostile text in Markdown, read by a real parser: nothing of it comes alive."""

from __future__ import annotations

from collections.abc import Iterator

from tenantry.messages.inert import MOST_CHARACTERS, code, fence, prose
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
    for inline in (code(text), prose(text)):
        yield from (inline, f"- {inline}", f"> [!WARNING]\n> - {inline}", f"tenant 'rocky': {inline}, and more")
    yield f"x\n\n{fence(text.splitlines(), 'diff')}\n\ny"
    for cell in (code(text, in_table=True), prose(text, in_table=True)):
        yield f"| a | b |\n|---|---|\n| {cell} | end |"


@each_hostile
def test_hostile_text_stays_text(text: str) -> None:
    for document in in_every_place(text):
        assert not alive(document), document[:300]


@each_hostile
def test_a_value_is_bounded(text: str) -> None:
    # A character that cannot be printed takes ten.
    assert len(code(text)) < 3 * MOST_CHARACTERS + 10


@table(
    ("text", "expected"),
    [
        ("tenant 'rocky' is removed from prod", "tenant 'rocky' is removed from prod"),
        ("app 'web' (tenant 'rocky'): 1.2.3 -> 1.3.0", "app 'web' (tenant 'rocky'): 1.2.3 -> 1.3.0"),
        ("role edit becomes cluster-admin for user 'alice@example.com'",) * 2,
        ("on hub-1, edge-2 and 3 more", "on hub-1, edge-2 and 3 more"),
        ("'a@b' and '#1', '#2'.", "`a@b` and `'#1', '#2'.`"),
        ("memory: 10Gi -> 5Gi (pods: 10 -> 5)", "memory: 10Gi -> 5Gi (pods: 10 -> 5)"),
        ("limits.cpu 2 x", "limits.cpu 2 x"),
        ("run `tenantry up`, then `status`.", "run `tenantry up`, then `status`."),
    ],
)
def test_an_ordinary_sentence_stays_as_it_is(text: str, expected: str) -> None:
    assert prose(text) == expected.replace("'alice@example.com'", "`alice@example.com`")


@table("text", [each for each in HOSTILE if len(each) < 99 and each not in HARMLESS_ALONE])
def test_the_same_text_unguarded_would_come_alive(text: str) -> None:
    assert alive(text) or blocks(text) != ["paragraph"]
