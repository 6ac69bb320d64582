"""The report of `tenantry import` for a terminal: counts first, then each object that is not equal, with what is to do."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from tenantry.cli.diff.lines import DisplayLimits, Line, changed_objects, line_text
from tenantry.facts.fields import FieldChange
from tenantry.facts.objects import Changed
from tenantry.importing.proof import Outcome, Report, Result
from tenantry.kube.objects import KubeObject, Owner
from tenantry.messages.text import counted, grouped, listed, printable

_COUNTED = {
    "equal": "in the file, as they are",
    "different": "in the file, with fields or a name that change",
    "left": "left where they are: what applies them today goes on",
    "inexpressible": "not expressed: see why",
    "added": "new, created by adoption",
}


def as_text(report: Report, limits: DisplayLimits, width: int | None) -> str:
    """The whole report. Args: width: columns at which lines are wrapped; None: they are not."""
    parts = [
        _summary(report),
        [*_grouped("Not read", [(place.place, place.reason, place.fix) for place in report.unread], limits, width)],
        [*_grouped("Not expressed", _reasons(report, Outcome.INEXPRESSIBLE), limits, width)],
        [*_grouped("Look at these", _reasons(report, Outcome.EQUAL, Outcome.DIFFERENT), limits, width)],
        [*_grouped("Left where they are", _reasons(report, Outcome.LEFT), limits, width)],
        [*_fields("Adoption changes", report, lambda result: result.changed, limits, width)],
        [*_fields("These fields stay, but are not in the file, on", report, lambda result: result.held, limits, width)],
        [*_added(report, width)],
    ]
    return "\n\n".join("\n".join(part) for part in parts if part)


def _summary(report: Report) -> list[str]:
    """9 objects read: 7 are in tenants.yaml"""
    counts = report.counts
    is_in = f"{report.expressed} {'is' if report.expressed == 1 else 'are'} in {printable(report.file)}"
    widest = max(len(str(counts[key])) for key in _COUNTED)
    lines = [f"  {counts[key]:>{widest}} {text}" for key, text in _COUNTED.items() if counts[key]]
    if report.followed:
        lines.append(f"  {counted(len(report.followed), 'Kustomization')} followed")
    if report.flux:
        lines.append(f"  Flux itself: {counted(report.flux, 'object')}, not counted")
    return [f"{counted(counts['read'], 'object')} read: {is_in}", *lines]


def _grouped(
    title: str, rows: Sequence[tuple[str, str, str]], limits: DisplayLimits, width: int | None
) -> Iterator[str]:
    """What is said of several places for the same reason together. Args: rows: places with a reason and a fix."""
    if rows:
        yield f"{title} ({len(rows)}):"
    for (reason, fix), group in grouped(rows, lambda row: row[1:]).items():
        places = Counter(place for place, *_ in group)
        names = (f"{place} in {count} environments" if count > 1 else place for place, count in places.items())
        yield line_text(Line("!", printable(listed(names, limits.names))), width)
        columns = max(width, 40) - 6 if width is not None else 1_000_000
        for text in (reason, f"fix: {fix}"):
            lines = textwrap.wrap(printable(text), columns, break_long_words=False, break_on_hyphens=False)
            yield from (f"      {line}" for line in lines)


def _reasons(report: Report, *outcomes: Outcome) -> list[tuple[str, str, str]]:
    """Kind namespace/name (file:line): spec.field, with each reason and its fix."""
    return [
        (f"{result.id} ({result.origin}){f': {reason.field}' if reason.field else ''}", reason.text, reason.fix)
        for result in report.of(*outcomes)
        for reason in result.reasons
    ]


def _fields(
    title: str,
    report: Report,
    fields_of: Callable[[Result], tuple[FieldChange, ...]],
    limits: DisplayLimits,
    width: int | None,
) -> Iterator[str]:
    changed = [(result, fields) for result in report.objects if (fields := fields_of(result))]
    if changed:
        yield f"{title} {counted(len(changed), 'object')}:"
        lines = changed_objects((_changed(result, fields) for result, fields in changed), limits)
        # What stays is no removal.
        yield from (
            line_text(line if title == "Adoption changes" else line._replace(sign=" "), width) for line in lines
        )


def _changed(result: Result, fields: tuple[FieldChange, ...]) -> Changed:
    """The fields of an object, shown under its name in the plan."""
    id = result.planned or result.id
    metadata = {"name": id.name, **({"namespace": id.namespace} if id.namespace else {})}
    shown = KubeObject({"apiVersion": id.api_version, "kind": id.kind, "metadata": metadata}, Owner())
    return Changed(shown, shown, fields)


def _added(report: Report, width: int | None) -> Iterator[str]:
    if report.counts["added"]:
        kinds = Counter(id.kind for ids in report.added.values() for id in ids)
        yield f"Adoption creates {counted(report.counts['added'], 'object')}:"
        yield line_text(Line("+", ", ".join(f"{count} {kind}" for kind, count in kinds.items())), width)
