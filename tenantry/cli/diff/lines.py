"""A review as lines with signs, which text and Markdown print alike: sections with changes, and the objects of each environment."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from tenantry.cli.diff.values import EVERYTHING, DisplayLimits, Line, field_lines, shortened, value_lines
from tenantry.facts.changes import Change, Effect
from tenantry.facts.objects import Changed, Status
from tenantry.facts.review import Review, Section, SharedDanger
from tenantry.messages.text import counted, grouped, listed, printable
from tenantry.plan.after import format_gate
from tenantry.rollout.waves import then

SIGNS = {Effect.ADDED: "+", Effect.REMOVED: "-", Effect.CHANGED: "~"}
_STATUS = {Status.KEPT: "", Status.ADDED: "new; ", Status.REMOVED: "no longer declared; "}


def danger_lines(dangers: Sequence[SharedDanger], limits: DisplayLimits) -> list[Line]:
    """What a reviewer has to look at first."""
    lines = [
        Line("!", f"{', '.join(each.environments)}: {shortened(printable(text), limits.sentence)}")
        for each, text in ((each, each.text(everything=limits is EVERYTHING)) for each in dangers[: limits.dangers])
    ]
    if left := dangers[limits.dangers :]:
        kinds = grouped(left, lambda each: each.danger.kind)
        counts = ", ".join(f"{len(own)} {kind}" for kind, own in kinds.items())
        lines.append(Line("!", f"and {len(left)} more: {counts}; --all shows them"))
    return lines


def section_lines(section: Section, limits: DisplayLimits) -> Iterator[Line]:
    """The changes of a section."""
    for change in section.changes[: limits.changes]:
        yield from change_lines(change, section.total, limits)
    if left := section.changes[limits.changes :]:
        effects = ", ".join(f"{len(own)} {effect}" for effect, own in grouped(left, lambda each: each.effect).items())
        yield Line(" ", f"and {counted(len(left), 'more group')}: {effects}; --all shows them")


def change_lines(change: Change, total: int, limits: DisplayLimits) -> Iterator[Line]:
    """Whom a change concerns, and its values below. Args: total: how many clusters its environments have."""
    yield Line(SIGNS[change.effect], printable(change.where.text(total, everything=limits is EVERYTHING)))
    yield from value_lines(change.values, limits, 1)


def object_lines(review: Review, limits: DisplayLimits) -> Iterator[Line]:
    """How many objects of an environment differ, when they do, and those that no line of the file explains."""
    yield Line(" ", f"{review.environment}: {_summary(review)}")
    for each in review.objects:
        if limits is EVERYTHING or not each.explained:
            yield Line(SIGNS[each.effect], str(each.object), 1)
            yield from field_lines(each.fields, limits, 2)


def _summary(review: Review) -> str:
    """Such as `12 added, 3 changed; in 3 waves: 1 cluster (edge-1), then 20, then 479`."""
    counts = Counter(each.effect for each in review.objects)
    numbers = ", ".join(f"{counts[effect]} {effect}" for effect in reversed(Effect) if counts[effect])
    parts = [_STATUS[review.status] + (numbers or "no object differs")]
    if review.waves:
        first, *others = (each.clusters for each in review.waves)
        clusters = f"{counted(len(first), 'cluster')} ({listed(first)}){then(map(len, others))}"
        some = f"wave {listed(each.number for each in review.waves)} of {review.of_waves}"
        parts.append(
            f"in {counted(review.of_waves, 'wave') if len(review.waves) == review.of_waves else some}: {clusters}"
        )
    if review.after:
        parts.append(format_gate(review.after))
    return "; ".join(parts)


def changed_objects(changed: Iterable[Changed], limits: DisplayLimits) -> list[Line]:
    """Changed objects and their fields. Objects that change in the same way are together."""
    groups = list(grouped(changed, lambda each: (each.id.kind, repr(each.fields))).values())
    lines = [line for group in groups[: limits.changes] for line in _same_fields(group, limits)]
    if left := groups[limits.changes :]:
        lines.append(Line("~", f"and {sum(map(len, left))} more objects; --all shows them"))
    return lines


def _same_fields(group: Sequence[Changed], limits: DisplayLimits) -> Iterator[Line]:
    names = listed((each.id.full_name for each in group), limits.names)
    yield Line("~", f"{group[0].id.kind} {names}")
    yield from field_lines(group[0].fields, limits)
