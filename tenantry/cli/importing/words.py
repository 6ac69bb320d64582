"""Sentences and names that all formats of the report share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from tenantry.importing.model import LeftOver, Read
from tenantry.importing.report import Counts, Report, Risk
from tenantry.kube.objects import object_id
from tenantry.messages.text import counted, printable


def first_line(report: Report) -> str:
    """9 objects read: 8 are in tenants.yaml, 1 is left over"""
    counts = report.counts
    are = "is" if counts.expressed == 1 else "are"
    left = f"{counts.left} {'is' if counts.left == 1 else 'are'} left over"
    return f"{counted(counts.read, 'object')} read: {counts.expressed} {are} in {printable(report.file)}, {left}"


def counts_in_words(counts: Counts) -> Iterator[str]:
    """A line for each number that is not 0."""
    rows = (
        (counts.unchanged, "kept unchanged"),
        (counts.changed, "kept, with changed fields"),
        (counts.renamed, "planned under another name"),
        (counts.left, "left over"),
        (counts.added, "new, created by adoption"),
    )
    widest = max(len(str(number)) for number, _ in rows)
    yield from (f"  {number:>{widest}} {words}" for number, words in rows if number)


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
    found = [f"{each} in {count} environments" if count > 1 else each for each, count in counts.items()]
    more = f" and {len(found) - most} more" if len(found) > most else ""
    return ", ".join(found[:most]) + more


def risk_place(risk: Risk) -> str:
    """Kind namespace/name spec.field"""
    return printable(f"{risk.id} {risk.field}" if risk.field else f"new {risk.id}")
