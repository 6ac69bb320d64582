"""The report of `tenantry import` as Markdown: everything, for a pull request or a file beside tenants.yaml."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from tenantry.cli.diff.values import both, format_field, shown
from tenantry.cli.importing.text import counts_in_words, first_line, identity
from tenantry.facts.fields import FieldChange
from tenantry.importing.environments import summary
from tenantry.importing.model import LeftOver, Proven, Unread
from tenantry.importing.report import Report
from tenantry.messages.data import ABSENT
from tenantry.messages.inert import code, fence, prose
from tenantry.messages.text import format_path


def as_markdown(report: Report) -> str:
    """The whole report, without a newline at the end."""
    parts = [
        "# Import",
        prose(first_line(report)),
        "\n".join(f"- {line.strip()}" for line in counts_in_words(report.counts)),
        *(["\n".join(f"- {prose(line)}" for line in read)] if (read := list(summary(report.reading))) else ()),
        *_section("Not read", _unread(report.inventory.reading.unread)),
        *_section("To adopt, without a deletion or a restart", _steps(report)),
        *_section("Left over or renamed", _left_over(report.left_over)),
        *_section("What became what", _became(report)),
        *_section("What adoption changes", _fields(report.changed, lambda each: each.changed)),
        *_section(
            "What stays on the objects, but is not in tenants.yaml", _fields(report.staying, lambda each: each.stays)
        ),
        *_section("What adoption creates", _created(report)),
    ]
    return "\n\n".join(parts)


def _section(title: str, lines: Iterable[str]) -> Iterator[str]:
    if text := "\n".join(lines):
        yield f"## {title}"
        yield text


def _steps(report: Report) -> Iterator[str]:
    for number, step in enumerate(report.steps, 1):
        yield f"{number}. {prose(step.text)}"
        yield from _commands(step.commands)
        if step.back:
            yield "   To go back before `tenantry up`:"
            yield from _commands(step.back)


def _commands(commands: Sequence[str]) -> Iterator[str]:
    if commands:
        yield ""
        yield "\n".join(f"   {line}" for line in fence(commands, "sh", _WHOLE).splitlines())
        yield ""


_WHOLE = 10_000
"""Characters of a command: one that is cut cannot be run."""


def _unread(unread: Sequence[Unread]) -> Iterator[str]:
    if unread:
        yield from _table("environment", "place", "reason", "fix")
    for each in unread:
        texts = (prose(text, in_table=True) for text in (each.reason, each.fix))
        yield _row(_code(each.environment), _code(each.place), *texts)


def _left_over(left: Sequence[LeftOver]) -> Iterator[str]:
    if left:
        yield from _table("object", "found at", "field", "reason", "fix")
    for each in left:
        field = code(each.field, in_table=True) if each.field else ""
        reason, fix = (prose(text, in_table=True) for text in (each.reason, each.fix))
        yield _row(_code(identity(each.read)), _code(each.read.origin), field, reason, fix)


def _became(report: Report) -> Iterator[str]:
    if report.became:
        yield from _table("object", "found at", "key in tenants.yaml", "line")
    for each in report.became:
        yield _row(_code(identity(each.read)), _code(each.read.origin), _code(format_path(each.path)), str(each.line))


def _fields(found: Sequence[Proven], fields_of: Callable[[Proven], tuple[FieldChange, ...]]) -> Iterator[str]:
    if found:
        yield from _table("object", "field", "before", "after")
    for each in found:
        for field in fields_of(each):
            yield _row(_code(identity(each.read)), _code(format_field(field.path)), *_values(field))


def _values(field: FieldChange) -> tuple[str, str]:
    if ABSENT in (field.before, field.after):
        one, other = ("" if value is ABSENT else _code(shown(value)) for value in (field.before, field.after))
        return one, other
    one, other = both(field.before, field.after)
    return _code(one), _code(other)


def _created(report: Report) -> Iterator[str]:
    if report.proof.added:
        yield from _table("environment", "object")
    for each in report.proof.added:
        yield _row(_code(each.environment), _code(str(each.id)))


def _table(*titles: str) -> tuple[str, str]:
    return _row(*titles), _row(*("---" for _ in titles))


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _code(text: str) -> str:
    return code(text, in_table=True)
