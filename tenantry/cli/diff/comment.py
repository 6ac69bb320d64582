"""A review as Markdown, for one comment of a pull request: bullets, with the details of each tenant folded."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

from tenantry.cli.diff.terminal import Fates, fates, tenant_lines
from tenantry.cli.diff.values import (
    EVERYTHING,
    DisplayLimits,
    Line,
    around,
    both,
    format_field,
    new_value,
    sentence,
    shortened,
    shown,
)
from tenantry.cli.diff.words import (
    Alike,
    Together,
    dangers,
    heading,
    left_out,
    more_dangers,
    part_in_words,
    parted,
    together,
    where,
    who,
)
from tenantry.compare.review.model import Change, Effect, PartKind, Review
from tenantry.messages.data import ABSENT
from tenantry.messages.inert import code, in_html, prose

_MOST_BULLETS = 40
"""The most bullets of an environment."""
_MOST_CHANGES = 8
"""The most bullets of a tenant."""
_MOST_SETTINGS = 3
"""The most settings on a line."""
_LONGEST = 60
"""The most characters of a value."""
_EFFECTS = {
    Effect.ADDED: "**added:** ",
    Effect.REMOVED: "**removed:** ",
    Effect.RENAMED: "**renamed:** ",
    Effect.CHANGED: "",
}


def danger_bullets(review: Review, limits: DisplayLimits) -> list[str]:
    """What a reviewer has to look at first, environment by environment."""
    all = dangers(review)
    lines = [
        f"- **{prose(each.environments)}**: {prose(sentence(each.danger.text, limits))}" for each in all[: limits.lines]
    ]
    if left := all[limits.lines :]:
        lines.append(f"- {more_dangers([each.danger for each in left])}")
    return lines


def bullets(together: Together, limits: DisplayLimits) -> list[str]:
    """The clusters and tenants of an environment, or of several in which the same happens."""
    lines = [f"- {_change(cluster, limits)}" for cluster in together.clusters[:_MOST_CHANGES]]
    if (more := len(together.clusters) - _MOST_CHANGES) > 0:
        lines.append(f"- and {more} more clusters")
    for number, each in enumerate(together.tenants):
        own = list(_tenant(each, limits))
        if number and len(lines) + len(own) > _MOST_BULLETS:
            return [*lines, f"- {left_out(together.tenants[number:])}"]
        lines += own
    return lines


def _tenant(alike: Alike, limits: DisplayLimits) -> Iterator[str]:
    review = alike.review
    whole, changes = parted(review)
    name = f"{_EFFECTS[review.effect]}**{who(alike, limits)}**" + (where(whole, limits) if whole else "")
    told = [prose(sentence(text, limits)) for text in review.sentences]
    told += _details(whole) if whole else []
    known = whole.clusters if whole else ()
    told += [_change(change, limits, known) for change in changes[:_MOST_CHANGES]]
    if (more := len(changes) - _MOST_CHANGES) > 0:
        told.append(f"and {more} more changes")
    if len(told) == 1:
        yield f"- {name}: {told[0]}"
    else:
        yield f"- {name}"
        yield from (f"  - {each}" for each in told)


def _change(change: Change, limits: DisplayLimits, known: tuple[str, ...] = ()) -> str:
    """Such as: app web on 479 of 501 clusters: `helm.version`: `1.2.0` -> `1.3.0`."""
    place = "" if change.clusters == known else where(change, limits)
    what = _EFFECTS[change.effect] + prose(part_in_words(change.part) + place)
    told = _details(change)
    if change.part.kind is PartKind.ENVIRONMENT:
        return "; ".join(told)
    return what + (": " + "; ".join(told) if told else "")


def _details(change: Change) -> list[str]:
    """Sentences and settings."""
    told = [prose(sentence(text, DisplayLimits())) for text in change.sentences]
    if change.effect is Effect.ADDED:
        values = [code(new_value(setting, _LONGEST)) for setting in change.settings]
    else:
        values = [_value(each.key, each.before, each.after) for each in change.settings]
    values += [_value(format_field(field.path), field.before, field.after) for field in change.fields]
    if (more := len(values) - _MOST_SETTINGS) > 0:
        values = [*values[:_MOST_SETTINGS], f"and {more} more"]
    return [*told, *values]


def _value(key: str, before: Any, after: Any) -> str:
    if before is ABSENT:
        return f"{code(key)}: {code(shortened(shown(after), _LONGEST))} (new)"
    if after is ABSENT:
        return f"{code(key)}: {code(shortened(shown(before), _LONGEST))} (removed)"
    if isinstance(before, str) and isinstance(after, str) and "\n" in before + after:
        return f"{code(key)}: another text"
    one, other = around(*both(before, after), _LONGEST)
    return f"{code(key)}: {code(one)} → {code(other)}"


def hides(alike: Alike) -> bool:
    """Whether the bullets of a tenant leave out something."""
    review = alike.review
    return len(review.changes) > _MOST_CHANGES or any(map(_hides, review.changes))


def _hides(change: Change) -> bool:
    values = [each for one in change.settings for each in (one.before, one.after)]
    values += [each for field in change.fields for each in (field.before, field.after)]
    many = len(values) > 2 * _MOST_SETTINGS or len(change.clusters) > DisplayLimits().few
    return many or any(len(text) > _LONGEST or "\n" in text for text in map(str, values))


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
    return "\n\n".join([*parts, *_folded_details(shown, _MOST_CHARACTERS - sum(len(part) + 2 for part in parts))])


def _caution(refusal: str) -> str:
    return "\n".join(["> [!CAUTION]", *(f"> {prose(line.strip())}" for line in refusal.splitlines())])


def _folded_details(shown: Sequence[Together], room: int) -> Iterator[str]:
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
    names = ", ".join(environment.environment for environment in shown.environments)
    for tenant in shown.tenants:
        if limits is EVERYTHING or hides(tenant):
            yield fold(f"{names}: {who(tenant, DisplayLimits())}", list(tenant_lines(tenant, objects, limits)))


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
    yield from (f"{sign} {indent}    {other}" for other in others)
