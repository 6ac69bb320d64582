"""A review as lines with signs: for each environment its clusters, then tenant, app, and settings."""

from __future__ import annotations

from collections.abc import Iterator

from tenantry.cli.diff.objects import Fates, fates, object_lines
from tenantry.cli.diff.together import Alike, Together, parted
from tenantry.cli.diff.values import EVERYTHING, DisplayLimits, Line, cut, field_lines, new_value, sentence, value_lines
from tenantry.cli.diff.words import SIGNS, dangers, left_out, more_dangers, part_in_words, where, who
from tenantry.compare.review.model import Change, Effect, PartKind, Review
from tenantry.messages.text import counted


def danger_lines(review: Review, limits: DisplayLimits) -> list[Line]:
    """What a reviewer has to look at first, environment by environment."""
    all = dangers(review)
    lines = [Line("!", f"{names}: {sentence(danger.text, limits)}") for names, danger in all[: limits.lines]]
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
    """A tenant, what happens to it as a whole, and the changes of its parts."""
    review = shown.review
    whole, changes = parted(review)
    yield Line(SIGNS[review.effect], who(shown, limits) + (where(whole, limits) if whole else ""))
    yield from (Line(" ", sentence(text, limits), 1) for text in review.sentences)
    if whole:
        yield from _details(whole, objects, limits, 1)
    for change in changes[: limits.changes]:
        yield from change_lines(change, objects, limits, 1, whole.clusters if whole else ())
    if (left := len(changes) - limits.changes) > 0:
        yield Line(" ", f"and {counted(left, 'more change')}; --all shows them", 1)


def change_lines(
    change: Change, objects: Fates, limits: DisplayLimits, depth: int, known: tuple[str, ...] = ()
) -> Iterator[Line]:
    """A change of a part, and below it what changes. Args: known: clusters that are named above, if these are the same."""
    if change.part.kind is PartKind.ENVIRONMENT:
        yield from _details(change, objects, limits, depth)
        return
    place = "" if change.clusters == known else where(change, limits)
    yield Line(SIGNS[change.effect], part_in_words(change.part) + place, depth)
    yield from _details(change, objects, limits, depth + 1)


def _details(change: Change, objects: Fates, limits: DisplayLimits, depth: int) -> Iterator[Line]:
    """Sentences and settings; without limits, also objects."""
    yield from (Line(" ", sentence(text, limits), depth) for text in change.sentences)
    if change.effect is Effect.ADDED and limits is not EVERYTHING:
        if change.settings:
            yield Line(" ", ", ".join(map(new_value, change.settings)), depth)
    else:
        yield from value_lines(change.settings, limits, depth)
    yield from field_lines(change.fields, limits, depth)
    if objects:
        yield from object_lines(change.objects, objects, limits, depth)
