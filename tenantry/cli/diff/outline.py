"""A review as lines with signs: for each environment its clusters, then tenant, app, and settings."""

from __future__ import annotations

from collections.abc import Iterator

from tenantry.cli.diff.objects import Fates, fates, object_lines
from tenantry.cli.diff.together import Alike, Together
from tenantry.cli.diff.values import EVERYTHING, DisplayLimits, Line, cut, field_lines, value_lines
from tenantry.cli.diff.words import SIGNS, dangers, left_out, more_dangers, part_in_words, where, who
from tenantry.compare.review.model import Change, Review
from tenantry.messages.text import counted


def danger_lines(review: Review, limits: DisplayLimits) -> list[Line]:
    """What a reviewer has to look at first, environment by environment."""
    all = dangers(review)
    lines = [Line("!", f"{names}: {danger.text}") for names, danger in all[: limits.lines]]
    if left := all[limits.lines :]:
        lines.append(Line("!", more_dangers([danger for _, danger in left])))
    return lines


def outline(shown: Together, limits: DisplayLimits) -> list[Line]:
    """The clusters and tenants of an environment, or of several in which the same happens."""
    objects = fates(shown.environments[0].diff) if limits is EVERYTHING else {}
    clusters = [line for each in shown.clusters for line in change_lines(each, objects, limits, 0)]
    lines = cut(clusters, limits.lines)
    for number, each in enumerate(shown.tenants):
        own = list(tenant_lines(each, objects, limits))
        if number and len(lines) + len(own) > limits.environment:
            return [*lines, Line(" ", left_out(shown.tenants[number:]))]
        lines += own
    return lines


def tenant_lines(shown: Alike, objects: Fates, limits: DisplayLimits) -> Iterator[Line]:
    """A tenant, what happens to it as a whole, and its changes."""
    review = shown.review
    sign = SIGNS[review.effect]
    yield Line(sign, who(shown, limits))
    yield from (Line(sign, text, 1) for text in review.sentences)
    for change in review.changes[: limits.changes]:
        yield from change_lines(change, objects, limits, 1)
    if (left := len(review.changes) - limits.changes) > 0:
        yield Line(" ", f"and {counted(left, 'more change')}; --all shows them", 1)


def change_lines(change: Change, objects: Fates, limits: DisplayLimits, depth: int) -> Iterator[Line]:
    """A change of a part, with its settings; without limits, also its clusters and objects."""
    sign = SIGNS[change.effect]
    yield Line(sign, part_in_words(change.part) + where(change, limits), depth)
    yield from (Line(sign, text, depth + 1) for text in change.sentences)
    yield from value_lines(change.settings, limits, depth + 1)
    yield from field_lines(change.fields, limits, depth + 1)
    if objects:
        yield from object_lines(change.objects, objects, limits, depth + 1)
