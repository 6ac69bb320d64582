"""A review as Markdown, for one comment of a pull request: dangers, then the same lines as in a terminal, as far as they fit."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence

from tenantry.cli.diff.lines import DisplayLimits, Line, danger_lines, object_lines, section_lines
from tenantry.facts.review import Review, sections, shared_dangers
from tenantry.messages.inert import code, in_html, prose

MARKER = "<!-- tenantry diff -->"
"""The first line of a comment, invisible. A job of a forge finds its own comment by it."""
_MOST_CHARACTERS = 60_000
"""GitHub allows comments of up to 65,536 characters."""
_MOST_OPEN = 40
"""Lines of a section that a reader sees without unfolding it."""
_COLUMNS = 110
"""Columns of a code block on GitHub."""


def as_markdown(reviews: Sequence[Review], base: str, refusals: Sequence[str]) -> str:
    """Dangers, then the changes by environment. It fits into a comment.

    Args: refusals: the reasons why `tenantry up` would be refused.
    """
    limits = DisplayLimits()
    changed, equal = [review for review in reviews if review], [review for review in reviews if not review]
    parts = [f"{MARKER}\n### Fleet: what changes against {code(base)}", *map(_caution, refusals)]
    if dangers := danger_lines(shared_dangers(changed), limits):
        parts.append("\n".join(["> [!WARNING]", *(f"> - {prose(line.text)}" for line in dangers)]))
    titled = [(part.heading, list(section_lines(part, limits))) for part in sections(changed)]
    objects = [line for review in changed for line in object_lines(review, limits)]
    titled += [("Objects", objects)] if objects else []
    end = [f"No difference: {', '.join(prose(review.environment) for review in equal)}"] if equal else []
    room = _MOST_CHARACTERS - sum(len(part) + 2 for part in (*parts, *end)) - 200
    return "\n\n".join([*parts, *_fitting(titled, room), *end])


def _caution(refusal: str) -> str:
    return "\n".join(["> [!CAUTION]", *(f"> {prose(line.strip())}" for line in refusal.splitlines())])


def _fitting(titled: Iterable[tuple[str, Sequence[Line]]], room: int) -> Iterator[str]:
    """Each section as far as there is room for it."""
    left = 0
    for title, lines in titled:
        whole = section(title, lines)
        if len(whole) + 2 > room or left:
            left += 1
        else:
            room -= len(whole) + 2
            yield whole
    if left:
        yield f"{left} more do not fit into a comment."


def section(title: str, lines: Sequence[Line]) -> str:
    """A title and lines, of which all but the first are folded."""
    parts = [f"#### {prose(title)}", _fenced(lines[:_MOST_OPEN])]
    if others := lines[_MOST_OPEN:]:
        summary = in_html(f"{len(others)} more lines")
        parts.append(f"<details><summary>{summary}</summary>\n\n{_fenced(others)}\n\n</details>")
    return "\n\n".join(parts)


def _fenced(lines: Iterable[Line]) -> str:
    """A code block that a forge colours by the first character of each line, where `!` marks a changed line.

    As each line begins with a sign or a space, none of them can end the block.
    """
    inner = "\n".join(part for line in lines for part in _signed(line))
    return f"```diff\n{inner}\n```"


def _signed(line: Line) -> Iterator[str]:
    sign, indent = line.sign.replace("~", "!"), "  " * line.depth
    text = f"{line.text}  # {line.comment}" if line.comment else line.text
    first, *others = textwrap.wrap(text, _COLUMNS, break_long_words=False, break_on_hyphens=False) or [""]
    yield f"{sign} {indent}{first}"
    yield from (f"{sign} {indent}    {other}" for other in others)
