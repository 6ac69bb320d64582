"""Objects and their fields as lines: those behind the changes of a review, and those that an adoption changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from tenantry.cli.diff.values import DisplayLimits, Line, field_lines
from tenantry.compare.diff import Changed, Diff
from tenantry.kube.objects import ObjectId
from tenantry.messages.text import grouped, listed

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
