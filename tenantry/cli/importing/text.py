"""The report of `tenantry import` for a terminal: counts first, then each object that is not equal, with what is to do."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Callable, Iterator

from tenantry.cli.diff.lines import changed_objects
from tenantry.cli.diff.text import line_text
from tenantry.cli.diff.values import DisplayLimits, Line
from tenantry.facts.fields import FieldChange
from tenantry.facts.objects import Changed
from tenantry.importing.proof import Outcome, Report, Result
from tenantry.importing.resources import Reason
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
        [*_unread(report, limits, width)],
        [*_reasons("Not expressed", report, (Outcome.INEXPRESSIBLE,), limits, width)],
        [*_reasons("Look at these", report, (Outcome.EQUAL, Outcome.DIFFERENT), limits, width)],
        [*_reasons("Left where they are", report, (Outcome.LEFT,), limits, width)],
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


def _unread(report: Report, limits: DisplayLimits, width: int | None) -> Iterator[str]:
    if report.unread:
        yield f"Not read ({len(report.unread)}):"
    for (reason, fix), places in grouped(report.unread, lambda each: (each.reason, each.fix)).items():
        yield line_text(Line("!", printable(listed((each.place for each in places), limits.names))), width)
        yield from _explained(reason, fix, width)


def _reasons(
    title: str, report: Report, outcomes: tuple[Outcome, ...], limits: DisplayLimits, width: int | None
) -> Iterator[str]:
    """What is said of objects for the same reason together."""
    found = [(result, reason) for result in report.of(*outcomes) for reason in result.reasons]
    if found:
        yield f"{title} ({len({id(result) for result, _ in found})}):"
    for (text, fix), pairs in grouped(found, lambda pair: (pair[1].text, pair[1].fix)).items():
        places = Counter(_place(*pair) for pair in pairs)
        names = (f"{place} in {count} environments" if count > 1 else place for place, count in places.items())
        yield line_text(Line("!", listed(names, limits.names)), width)
        yield from _explained(text, fix, width)


def _place(result: Result, reason: Reason) -> str:
    """Kind namespace/name (file:line): spec.field"""
    return printable(f"{result.id} ({result.origin}){f': {reason.field}' if reason.field else ''}")


def _explained(reason: str, fix: str, width: int | None) -> Iterator[str]:
    for text in (reason, f"fix: {fix}"):
        columns = max(width or 0, 40) if width is not None else 1_000_000
        lines = textwrap.wrap(printable(text), columns - 6, break_long_words=False, break_on_hyphens=False)
        yield from (f"      {line}" for line in lines)


def _fields(
    title: str,
    report: Report,
    fields_of: Callable[[Result], tuple[FieldChange, ...]],
    limits: DisplayLimits,
    width: int | None,
) -> Iterator[str]:
    found = [(result, fields) for result in report.objects if (fields := fields_of(result))]
    if found:
        yield f"{title} {counted(len(found), 'object')}:"
        lines = changed_objects((_changed(result, fields) for result, fields in found), limits)
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
