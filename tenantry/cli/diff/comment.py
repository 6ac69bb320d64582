"""A review as Markdown, for one comment of a pull request."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from tenantry.cli.diff.bullets import bullets, danger_bullets, hides
from tenantry.cli.diff.objects import Fates, fates
from tenantry.cli.diff.outline import tenant_lines
from tenantry.cli.diff.together import Together, together
from tenantry.cli.diff.values import EVERYTHING, DisplayLimits, Line
from tenantry.cli.diff.words import heading, who
from tenantry.compare.review.model import Review
from tenantry.messages.inert import code, in_html, prose

MARKER = "<!-- tenantry diff -->"
"""The first line of a comment, invisible. A job of a forge finds its own comment by it."""

_MOST_CHARACTERS = 60_000
"""GitHub allows comments of up to 65,536 characters."""
_COLUMNS = 110
"""Columns of a code block on GitHub."""
_DETAILS = DisplayLimits(lines=100, changes=100, fields=50, text=40, value=300, few=10_000)
"""How much is shown of a tenant that is unfolded."""


def as_markdown(review: Review, base: str, refusals: Sequence[str], limits: DisplayLimits) -> str:
    """What happens to whom, dangers first, with the details of each tenant folded. It always fits into a comment.

    Args: refusals: the reasons why `tenantry up` would be refused; limits: EVERYTHING: also more than fits.
    """
    shown = together(review, apart=limits is EVERYTHING)
    parts = [f"{MARKER}\n### Fleet: what changes against {code(base)}", *map(_caution, refusals)]
    if first := danger_bullets(review, limits):
        parts.append("\n".join(["> [!WARNING]", *(f"> {line}" for line in first)]))
    parts += [f"#### {prose(heading(each))}\n\n" + "\n".join(bullets(each, limits)) for each in shown]
    if review.unchanged:
        parts.append(f"No difference: {', '.join(map(prose, review.unchanged))}")
    if limits is EVERYTHING:
        return "\n\n".join([*parts, *(folded for each in shown for folded in _folded(each, EVERYTHING))])
    return "\n\n".join([*parts, *_details(shown, _MOST_CHARACTERS - sum(len(part) + 2 for part in parts))])


def _caution(refusal: str) -> str:
    return "\n".join(["> [!CAUTION]", *(f"> {prose(line.strip())}" for line in refusal.splitlines())])


def _details(shown: Sequence[Together], room: int) -> Iterator[str]:
    """The folded details as far as there is room for them."""
    room -= 200
    left = 0
    for each in shown:
        for folded in _folded(each, _DETAILS):
            if len(folded) + 2 > room or left:
                left += 1
                continue
            yield folded
            room -= len(folded) + 2
    if left:
        yield f"The details of {left} more are left out, because they do not fit into a comment."


def _folded(shown: Together, limits: DisplayLimits) -> Iterator[str]:
    objects: Fates = fates(shown.environments[0].diff) if limits is EVERYTHING else {}
    names = ", ".join(each.environment for each in shown.environments)
    for each in shown.tenants:
        if limits is EVERYTHING or hides(each):
            yield fold(f"{names}: {who(each, DisplayLimits())}", list(tenant_lines(each, objects, limits)))


def fold(summary: str, lines: Sequence[Line]) -> str:
    """Lines that are shown when a reader opens the summary."""
    inner = "\n".join(part for line in lines for part in _fenced(line))
    return f"<details><summary>{in_html(summary)}</summary>\n\n```diff\n{inner}\n```\n\n</details>"


def _fenced(line: Line) -> Iterator[str]:
    """GitHub colours a line of a `diff` block by its first character, and `!` marks a changed line.

    As each line begins with a sign, none of them can end the block.
    """
    sign, indent = line.sign.replace("~", "!"), "  " * line.depth
    first, *others = textwrap.wrap(line.text, _COLUMNS, break_long_words=False, break_on_hyphens=False) or [""]
    yield f"{sign} {indent}{first}"
    yield from (f"{sign} {indent}    {each}" for each in others)
