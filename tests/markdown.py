"""What a forge makes of Markdown: read by a parser of GitHub's dialect, and searched for what must not be in it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from markdown_it import MarkdownIt
from markdown_it.token import Token

_PARSER = MarkdownIt("gfm-like")
assert _PARSER.linkify is not None
# GitHub links addresses that begin with a scheme or www, and no bare names of hosts.
_PARSER.linkify.set({"fuzzy_link": False})

_ALIVE = {"link_open", "image", "html_inline", "html_block", "heading_open", "hr", "em_open", "strong_open", "s_open"}
_FORGE = re.compile(
    r"(?<![\w`])@\w|(?<!\w)#\w|#[0-9]|(?:^|\s)[!~%$&]\w|\bGH-[0-9]|\b[A-Z]{2,}-[0-9]|\b[0-9a-f]{7,40}\b|www\.|:[a-z]+:|\$.*\$"
    r"|^/\w|\[\^"
)
"""What forges turn into mentions, references, pictures, formulas and commands, although Markdown knows nothing of it."""


def alive(document: str) -> list[str]:
    """Everything in the document that is more than text: tokens of the parser, and texts that a forge would act on."""
    tokens = list(_all(_PARSER.parse(document)))
    found = [f"{each.type}: {each.content or each.attrs}" for each in tokens if each.type in _ALIVE]
    lists = sum(each.type in ("ordered_list_open", "blockquote_open", "code_block") for each in tokens)
    found += ["structure"] * (lists - document.startswith("> "))
    # `[!WARNING]` is what the documents of the tests themselves begin with.
    return found + [each.content for each in tokens if _is_alive(each)]


def blocks(document: str) -> list[str]:
    """The outermost blocks."""
    return [
        each.type.removesuffix("_open") for each in _PARSER.parse(document) if each.level == 0 and each.nesting >= 0
    ]


def texts(document: str) -> str:
    """What a reader sees."""
    return "".join(each.content for each in _all(_PARSER.parse(document)) if each.type in ("text", "code_inline"))


def _is_alive(token: Token) -> bool:
    return token.type == "text" and token.content != "[!WARNING]" and bool(_FORGE.search(token.content))


def _all(tokens: Sequence[Token]) -> Iterator[Token]:
    for token in tokens:
        yield token
        yield from _all(token.children or ())
