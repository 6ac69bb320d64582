"""The report of `tenantry import` for a terminal: counts first, then what needs a decision, then the steps."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from tenantry.cli.diff.terminal import changes, line_as_text
from tenantry.cli.diff.values import DisplayLimits, Line
from tenantry.cli.importing.words import counts_in_words, first_line, places, risk_place
from tenantry.compare.diff import Changed
from tenantry.compare.fields import FieldChange
from tenantry.importing.model import Added, LeftOver, Proven
from tenantry.importing.report.report import Report
from tenantry.importing.report.risks import Risk
from tenantry.importing.report.steps import Step
from tenantry.messages.text import counted, grouped, listed, printable


def as_text(report: Report, limits: DisplayLimits, width: int | None) -> str:
    """The whole report. Args: width: columns at which lines are wrapped; None: they are not."""
    parts = [[first_line(report), *counts_in_words(report.counts)]]
    parts.append(list(_left_over(report.left_over, limits, width)))
    parts.append(list(_risks(report.risks, limits, width)))
    parts.append(list(_fields(report.changed, limits, width)))
    parts.append(list(_staying(report.staying, limits, width)))
    parts.append(list(_added(report.proof.added, width)))
    parts.append(list(_steps(report.steps, width)))
    return "\n\n".join("\n".join(part) for part in parts if part)


def _left_over(left: Sequence[LeftOver], limits: DisplayLimits, width: int | None) -> Iterator[str]:
    """What tenants.yaml does not express. Objects that are left over for the same reason are together."""
    if not left:
        return
    yield f"Left over or renamed ({len(left)}):"
    for (reason, fix), group in grouped(left, lambda each: (each.reason, each.fix)).items():
        yield line_as_text(Line("!", places(group, limits.names)), width)
        yield from _indented(reason, width)
        if fix:
            yield from _indented(f"fix: {fix}", width)


def _risks(found: Sequence[Risk], limits: DisplayLimits, width: int | None) -> Iterator[str]:
    if not found:
        return
    yield f"Check before you adopt ({len(found)}):"
    for reason, group in grouped(found, lambda each: each.reason).items():
        names = listed((risk_place(each) for each in group), limits.names)
        yield line_as_text(Line("!", names), width)
        yield from _indented(reason, width)


def _fields(found: Sequence[Proven], limits: DisplayLimits, width: int | None) -> Iterator[str]:
    if found:
        yield f"Adoption changes {counted(len(found), 'object')}:"
        lines = _changes(((each, each.changed) for each in found), limits)
        yield from (line_as_text(line, width) for line in lines)


def _staying(found: Sequence[Proven], limits: DisplayLimits, width: int | None) -> Iterator[str]:
    if found:
        yield "These fields stay on the objects, but tenants.yaml does not say them:"
        lines = _changes(((each, each.stays) for each in found), limits)
        # They stay, so no sign of a removal.
        yield from (line_as_text(line._replace(sign=" "), width) for line in lines)


def _changes(found: Iterable[tuple[Proven, tuple[FieldChange, ...]]], limits: DisplayLimits) -> list[Line]:
    return changes(
        (Changed(replace(each.planned, manifest=each.read.manifest), each.planned, fields) for each, fields in found),
        limits,
    )


def _added(added: Sequence[Added], width: int | None) -> Iterator[str]:
    if added:
        kinds = Counter(each.id.kind for each in added)
        yield f"Adoption creates {counted(len(added), 'object')}:"
        yield line_as_text(Line("+", ", ".join(f"{count} {kind}" for kind, count in kinds.items())), width)


def _steps(steps: Sequence[Step], width: int | None) -> Iterator[str]:
    """Commands are not wrapped, so that they can be copied."""
    yield "To adopt, without a deletion or a restart:"
    for number, step in enumerate(steps, 1):
        yield from _filled(printable(step.text), width, f"  {number}. ", "     ")
        yield from (f"       {printable(command)}" for command in step.commands)


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
