"""The report of `tenantry import` for a terminal: counts first, then what needs a decision, then the steps."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from tenantry.cli.diff.lines import changed_objects
from tenantry.cli.diff.text import line_text
from tenantry.cli.diff.values import DisplayLimits, Line
from tenantry.facts.fields import FieldChange
from tenantry.facts.objects import Changed
from tenantry.importing.environments import summary
from tenantry.importing.model import Added, LeftOver, Proven, Read, Unread
from tenantry.importing.report import Counts, Report
from tenantry.importing.steps import Step
from tenantry.kube.objects import object_id
from tenantry.messages.text import counted, grouped, listed, printable


def first_line(report: Report) -> str:
    """9 objects read: 7 are in tenants.yaml, 1 is applied by apps in it, 1 is left over"""
    counts = report.counts
    beside = ((counts.applied, "applied by apps in it"), (counts.replaced, "not needed any more"))
    parts = (
        f"{_are(counts.expressed)} in {printable(report.file)}",
        *(f"{_are(number)} {words}" for number, words in beside if number),
        f"{_are(counts.left)} left over",
    )
    return f"{counted(counts.read, 'object')} read: {', '.join(parts)}"


def _are(count: int) -> str:
    return f"{count} {'is' if count == 1 else 'are'}"


def counts_in_words(counts: Counts) -> Iterator[str]:
    """A line for each number that is not 0."""
    rows = (
        (counts.unchanged, "kept unchanged"),
        (counts.changed, "kept, with changed fields"),
        (counts.renamed, "planned under another name"),
        (counts.applied, "applied by apps in the file, which go on applying them"),
        (counts.replaced, "not needed any more: what they apply is in the file"),
        (counts.stays, "left where they are: what applies them today goes on"),
        (counts.inexpressible, "not expressed: see why"),
        (counts.added, "new, created by adoption"),
    )
    widest = max(len(str(number)) for number, _ in rows)
    yield from (f"  {number:>{widest}} {words}" for number, words in rows if number)
    if counts.flux:
        beside = ((counts.flux_applied, "applied by apps in it"), (counts.flux_replaced, "not needed any more"))
        more = "".join(f", {number} {words}" for number, words in beside if number)
        yield f"  of {counted(counts.flux, 'object')} of Flux, {counts.flux_expressed} in the file{more}"


def identity(read: Read) -> str:
    """Kind namespace/name"""
    return str(object_id(read.manifest))


def place(left: LeftOver) -> str:
    """Kind namespace/name (file:line): spec.field"""
    field = f": {left.field}" if left.field else ""
    return printable(f"{identity(left.read)} ({left.read.origin}){field}")


def places(left: Iterable[LeftOver], most: int) -> str:
    """The objects that are left over for one reason."""
    counts = Counter(place(each) for each in left)
    return listed((f"{each} in {count} environments" if count > 1 else each for each, count in counts.items()), most)


def unread_places(unread: Iterable[Unread], most: int) -> str:
    """The places that could not be read for one reason."""
    return printable(listed((each.place for each in unread), most))


def as_text(report: Report, limits: DisplayLimits, width: int | None) -> str:
    """The whole report. Args: width: columns at which lines are wrapped; None: they are not."""
    parts = [[first_line(report), *counts_in_words(report.counts)]]
    lines = (_filled(printable(each), width, "  ", "    ") for each in summary(report.reading))
    parts.append([line for each in lines for line in each])
    parts.append(list(_by_reason("Not read", report.inventory.reading.unread, unread_places, limits, width)))
    parts.append(list(_by_reason("Left over or renamed", report.left_over, places, limits, width)))
    parts.append(list(_fields(report.changed, limits, width)))
    parts.append(list(_staying(report.staying, limits, width)))
    parts.append(list(_added(report.proof.added, width)))
    parts.append(list(_steps(report.steps, width)))
    return "\n\n".join("\n".join(part) for part in parts if part)


_Told = TypeVar("_Told", Unread, LeftOver)


def _by_reason(
    title: str,
    found: Sequence[_Told],
    in_words: Callable[[Iterable[_Told], int], str],
    limits: DisplayLimits,
    width: int | None,
) -> Iterator[str]:
    """What is told for the same reason together. Args: in_words: names some of it, and at most so many."""
    if found:
        yield f"{title} ({len(found)}):"
    for (reason, fix), group in grouped(found, lambda each: (each.reason, each.fix)).items():
        yield line_text(Line("!", in_words(group, limits.names)), width)
        yield from _indented(reason, width)
        if fix:
            yield from _indented(f"fix: {fix}", width)


def _fields(found: Sequence[Proven], limits: DisplayLimits, width: int | None) -> Iterator[str]:
    if found:
        yield f"Adoption changes {counted(len(found), 'object')}:"
        lines = _changes(((each, each.changed) for each in found), limits)
        yield from (line_text(line, width) for line in lines)


def _staying(found: Sequence[Proven], limits: DisplayLimits, width: int | None) -> Iterator[str]:
    if found:
        yield "These fields stay on the objects, but tenants.yaml does not say them:"
        lines = _changes(((each, each.stays) for each in found), limits)
        # They stay, so no sign of a removal.
        yield from (line_text(line._replace(sign=" "), width) for line in lines)


def _changes(found: Iterable[tuple[Proven, tuple[FieldChange, ...]]], limits: DisplayLimits) -> list[Line]:
    return changed_objects(
        (Changed(each.planned, each.planned, fields) for each, fields in found),
        limits,
    )


def _added(added: Sequence[Added], width: int | None) -> Iterator[str]:
    if added:
        kinds = Counter(each.id.kind for each in added)
        yield f"Adoption creates {counted(len(added), 'object')}:"
        yield line_text(Line("+", ", ".join(f"{count} {kind}" for kind, count in kinds.items())), width)


def _steps(steps: Sequence[Step], width: int | None) -> Iterator[str]:
    """Commands are not wrapped, so that they can be copied."""
    yield "To adopt, without a deletion or a restart:"
    for number, step in enumerate(steps, 1):
        yield from _filled(printable(step.text), width, f"  {number}. ", "     ")
        yield from (f"       {printable(command)}" for command in step.commands)
        if step.back:
            yield "     To go back before `tenantry up`:"
            yield from (f"       {printable(command)}" for command in step.back)


def _indented(text: str, width: int | None) -> Iterator[str]:
    yield from _filled(printable(text), width, "      ", "      ")


def _filled(text: str, width: int | None, first: str, others: str) -> list[str]:
    if width is None:
        return [first + text]
    return textwrap.wrap(
        text,
        max(width, 40),
        initial_indent=first,
        subsequent_indent=others,
        break_long_words=False,
        break_on_hyphens=False,
    )
