"""A review as text for a terminal: lines with signs, for each environment its clusters, then tenants, apps and settings."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping

import click

from tenantry.cli.diff.values import EVERYTHING, DisplayLimits, Line, cut, field_lines, new_value, sentence, value_lines
from tenantry.cli.diff.words import (
    SIGNS,
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
from tenantry.compare.diff import Changed, Diff
from tenantry.compare.review.model import Change, Effect, PartKind, Review
from tenantry.kube.objects import ObjectId
from tenantry.messages.text import counted, grouped, listed

Fates = Mapping[ObjectId, tuple[str, Changed | None]]
"""The sign of each object of a difference, and its fields if it changes."""


def fates(diff: Diff) -> Fates:
    """What happens to each object. An object of another management cluster can be removed and added; then it is added."""
    removed: dict[ObjectId, tuple[str, Changed | None]] = {each.id: ("-", None) for each in diff.removed.objects}
    added: Fates = {each.id: ("+", None) for each in diff.added.objects}
    return removed | dict(added) | {each.id: ("~", each) for each in diff.changed}


def object_lines(ids: Iterable[ObjectId], known: Fates, limits: DisplayLimits, depth: int) -> Iterator[Line]:
    """Each object on a line, and its fields below it."""
    for id in ids:
        sign, changed = known.get(id, ("~", None))
        yield Line(sign, str(id), depth)
        if changed:
            yield from field_lines(changed.fields, limits, depth + 1)


def changes(changed: Iterable[Changed], limits: DisplayLimits) -> list[Line]:
    """Changed objects and their fields. Objects that change in the same way are together."""
    groups = list(grouped(changed, lambda each: (each.id.kind, repr(each.fields))).values())
    lines = [line for group in groups[: limits.lines] for line in _group(group, limits)]
    if len(groups) > limits.lines:
        left = sum(len(group) for group in groups[limits.lines :])
        lines.append(Line("~", f"and {left} more objects; --all shows them"))
    return lines


def _group(group: list[Changed], limits: DisplayLimits) -> Iterator[Line]:
    ids = [each.id for each in group]
    names = (f"{id.namespace}/{id.name}" if id.namespace else id.name for id in ids)
    yield Line("~", f"{ids[0].kind} {listed(names, limits.names)}")
    yield from field_lines(group[0].fields, limits)


def danger_lines(review: Review, limits: DisplayLimits) -> list[Line]:
    """What a reviewer has to look at first, environment by environment."""
    all = dangers(review)
    lines = [Line("!", f"{each.environments}: {sentence(each.danger.text, limits)}") for each in all[: limits.lines]]
    if left := all[limits.lines :]:
        lines.append(Line("!", more_dangers([each.danger for each in left])))
    return lines


def outline(shown: Together, limits: DisplayLimits) -> list[Line]:
    """The clusters and tenants of an environment, or of several in which the same happens."""
    objects = fates(shown.environments[0].diff) if limits is EVERYTHING else {}
    clusters = [line for cluster in shown.clusters for line in change_lines(cluster, objects, limits, 0)]
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


_COLOURS = {"!": "magenta", "-": "red", "+": "green", "~": "yellow"}
_NARROWEST = 40
"""Columns below which lines are not wrapped any further."""


def as_text(review: Review, base: str, limits: DisplayLimits, width: int | None) -> str:
    """Dangers, then each environment with its tenants, then the environments without a difference.

    Args: width: columns at which lines are wrapped; None: a program reads them, so they are not wrapped.
    """
    parts = [f"against {base}"]
    if first := danger_lines(review, limits):
        parts.append(_section("", first, width))
    shown = together(review, apart=limits is EVERYTHING)
    parts += [_section(heading(each), outline(each, limits), width) for each in shown]
    if review.unchanged:
        parts.append(f"no difference: {', '.join(review.unchanged)}")
    return "\n\n".join(parts)


def _section(title: str, lines: Iterable[Line], width: int | None) -> str:
    shown = [line_as_text(line, width, top=not title) for line in lines]
    return "\n".join([click.style(title, bold=True), *shown] if title else shown)


def line_as_text(line: Line, width: int | None = None, *, top: bool = False) -> str:
    """The line in the colour of its sign, indented below a heading, or at the top without one."""
    indent = "" if top else "  " + "    " * line.depth
    colour = _COLOURS.get(line.sign)
    text = _wrapped(f"{line.sign} {line.text}".lstrip(), indent, width)
    return click.style(text, fg=colour, bold=True if line.sign == "!" else None) if colour else text


def _wrapped(text: str, indent: str, width: int | None) -> str:
    """The text within the columns, continued below its own beginning. A word that is too long stays whole."""
    if width is None or len(indent) + len(text) <= width:
        return indent + text
    return textwrap.fill(
        text,
        max(width, len(indent) + _NARROWEST),
        initial_indent=indent,
        subsequent_indent=indent + "    ",
        break_long_words=False,
        break_on_hyphens=False,
    )
