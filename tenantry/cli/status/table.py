"""The table of `tenantry status`, and what each row stands for: an app on one cluster, or on many in the same state."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from textwrap import wrap

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.segment import Segment
from rich.style import Style
from rich.text import Text

from tenantry.cluster.apps import why_command
from tenantry.cluster.report import StatusReport
from tenantry.cluster.status import AppStatus, Readiness, age, one_line
from tenantry.kube.names import PLATFORM
from tenantry.messages.text import counted, grouped

_ALIKE = 4
"""From so many clusters on, equal rows become one."""
_COMMIT = 7


@dataclass(frozen=True, slots=True)
class Row:
    """message: "" for an app that is ready. wave: "" without a rollout. apps: how many the row stands for."""

    tenant: str
    cluster: str
    app: str
    kind: str
    readiness: Readiness
    age: str
    revision: str
    message: str
    wave: str = ""
    apps: int = 1


def single_rows(found: Iterable[AppStatus], now: datetime) -> list[Row]:
    """A row for each app on each cluster."""
    return [_row([each], now) for each in found]


def grouped_rows(found: Iterable[AppStatus], now: datetime) -> list[Row]:
    """The same, but one row where an app is in the same state on many clusters. The order stays that of the first of each."""
    return [row for alike in grouped(found, _state).values() for row in _rows(alike, now)]


def _rows(alike: Sequence[AppStatus], now: datetime) -> Iterator[Row]:
    if len(alike) >= _ALIKE:
        yield _row(alike, now)
    else:
        yield from (_row([each], now) for each in alike)


def _state(status: AppStatus) -> tuple[str, ...]:
    """Equal for apps that differ in their clusters and ages alone. Messages of Flux name the cluster's own objects and address."""
    app = status.app
    lost = status.readiness is Readiness.UNREACHABLE
    message = status.behind if lost else _message(status).replace(app.id.name, "").replace(app.cluster, "")
    return (app.tenant, app.name, app.id.kind, status.readiness, status.revision, message, _wave(status))


def _row(alike: Sequence[AppStatus], now: datetime) -> Row:
    first = alike[0]
    message, cluster = _message(first), first.app.cluster
    many = len(alike) > 1
    return Row(
        first.app.tenant or f"({PLATFORM})",
        counted(len(alike), "cluster") if many else cluster,
        first.app.name,
        first.app.id.kind,
        first.readiness,
        _ages(alike, now),
        short_revision(first.revision),
        f"{cluster}: {message}" if many and message else message,
        _wave(first),
        len(alike),
    )


def _wave(status: AppStatus) -> str:
    """The number of the wave, and its name if it has one: `1 canary`."""
    wave = status.wave
    if wave is None:
        return ""
    return str(wave.number) if wave.name == f"wave {wave.number}" else f"{wave.number} {one_line(wave.name)}"


def _ages(alike: Sequence[AppStatus], now: datetime) -> str:
    """The age, or the youngest and the oldest."""
    latest, earliest = (age(each, now) for each in (max(one.since for one in alike), min(one.since for one in alike)))
    return latest if latest == earliest or not earliest else f"{latest}-{earliest}"


def _message(status: AppStatus) -> str:
    """Flux's message on one line; empty if the app is ready."""
    return "" if status.readiness is Readiness.READY else one_line(status.message)


def short_revision(revision: str) -> str:
    """main@sha1:0123456789... -> main@0123456; sha256:0123456789... -> 0123456"""
    name, _, commit = one_line(revision).rpartition("@")
    algorithm, separator, digest = commit.partition(":")
    if not separator or algorithm not in ("sha1", "sha256"):
        return one_line(revision)
    return f"{name}@{digest[:_COMMIT]}" if name else digest[:_COMMIT]


COLOURS = {
    Readiness.READY: "green",
    Readiness.PROGRESSING: "yellow",
    Readiness.SUSPENDED: "blue",
    Readiness.FAILED: "red",
    Readiness.UNREACHABLE: "magenta",
    Readiness.MISSING: "red",
    Readiness.CHANGED: "magenta",
    Readiness.OUTDATED: "yellow",
}
_COLUMNS = ("TENANT", "CLUSTER", "APP", "KIND", "WAVE", "STATUS", "AGE", "REVISION")
_MESSAGE = "MESSAGE"
_CELLS: Mapping[str, Callable[[Row], str]] = {
    "TENANT": lambda row: row.tenant,
    "CLUSTER": lambda row: row.cluster,
    "APP": lambda row: row.app,
    "KIND": lambda row: row.kind,
    "WAVE": lambda row: row.wave,
    "STATUS": lambda row: row.readiness.value,
    "AGE": lambda row: row.age,
    "REVISION": lambda row: row.revision,
    _MESSAGE: lambda row: row.message,
}
_GAP, _INDENT = "  ", "    "
_DISPENSABLE = ("KIND", "AGE", "REVISION", "WAVE")
"""Columns that are omitted on a narrow terminal, in this order, so that no name is cut."""


def status_table(rows: Sequence[Row], console: Console) -> Lines:
    """The table. Messages are in a column if each fits on one line of the terminal, otherwise below their rows.

    If stdout is not a terminal, messages are always in a column, so that each row is one line.
    """
    messages = any(row.message for row in rows)
    columns = _COLUMNS if any(row.wave for row in rows) else tuple(each for each in _COLUMNS if each != "WAVE")
    whole = Lines(rows, (*columns, _MESSAGE) if messages else columns)
    if not console.is_terminal or whole.width <= console.width:
        return whole
    table = Lines(rows, columns, below=True)
    for count in range(1, len(_DISPENSABLE) + 1):
        if table.width <= console.width:
            break
        table = Lines(rows, [column for column in columns if column not in _DISPENSABLE[:count]], below=True)
    return table


class Lines:
    """A line for each row. Rich's own tables take milliseconds for each row, and there can be ten thousand.

    below: whether the message of a row is below it. width: of the widest line, messages below not counted.
    """

    def __init__(self, rows: Sequence[Row], columns: Sequence[str], *, below: bool = False) -> None:
        self._rows, self._columns, self._below = rows, columns, below
        self._cells = [tuple(_CELLS[heading](row) for heading in columns) for row in rows]
        everything = [tuple(columns), *self._cells]
        self._widths = [max(map(cell_len, cells)) for cells in zip(*everything, strict=True)]
        self.width = sum(self._widths) + len(_GAP) * (len(columns) - 1)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        status = self._columns.index("STATUS")
        yield Segment(_GAP.join(self._padded(self._columns)).rstrip() + "\n", Style(bold=True))
        for row, cells in zip(self._rows, self._cells, strict=True):
            padded = self._padded(cells)
            yield Segment("".join(f"{cell}{_GAP}" for cell in padded[:status]))
            yield Segment(padded[status], Style.parse(COLOURS[row.readiness]))
            yield Segment("".join(f"{_GAP}{cell}" for cell in padded[status + 1 :]).rstrip() + "\n")
            if self._below and row.message:
                width = max(1, options.max_width - len(_INDENT))
                wrapped = wrap(row.message, width, break_on_hyphens=False)
                yield Segment("".join(f"{_INDENT}{line}\n" for line in wrapped))

    def _padded(self, cells: Sequence[str]) -> list[str]:
        return [f"{cell}{' ' * (width - cell_len(cell))}" for cell, width in zip(cells, self._widths, strict=True)]


_MOST_OBJECTS = 20
"""More objects that are not as planned than this are counted on a terminal."""
_INDENT_OF_LEFT_OUT = "    "
_MOST_READY = 20
"""More rows of apps that are ready than this are counted instead of listed."""


def shown(report: StatusReport, console: Console, *, every: bool = False) -> RenderableType:
    """The apps, the objects that are not as planned, and how many are.

    A terminal gets equal rows as one; a pipe gets a line for each app and object, which programs can filter.
    """
    below = [*_next(report, console), *_objects(report, console, every=every), *_total(report)]
    return Group(*([_apps(report, console, every=every)] if report.apps else []), *below)


def _apps(report: StatusReport, console: Console, *, every: bool) -> RenderableType:
    if every or not console.is_terminal:
        return status_table(single_rows(report.apps, report.read_at), console)
    rows = grouped_rows(report.apps, report.read_at)
    trouble = [row for row in rows if row.readiness is not Readiness.READY]
    hidden = len(rows) - len(trouble)
    if hidden <= _MOST_READY:
        return status_table(rows, console)
    ready = sum(row.apps for row in rows) - sum(row.apps for row in trouble)
    closing = Text(f"{'and ' if trouble else ''}{counted(ready, 'app')} ready; --all lists them", style="dim")
    return Group(status_table(trouble, console), closing) if trouble else closing


def _next(report: StatusReport, console: Console) -> Iterator[Text]:
    """What to type next about the first app that is not well. A pipe gets lines of apps and objects alone."""
    bad = (each.app for each in report.apps if each.readiness not in (Readiness.READY, Readiness.SUSPENDED))
    if console.is_terminal and (first := next(bad, None)):
        yield Text(f"cause: {why_command(first, report.environment)}", style="dim")


def _objects(report: StatusReport, console: Console, *, every: bool) -> Iterator[Text]:
    width = max((len(each.readiness) for each in report.objects), default=0)
    most = len(report.objects) if every or not console.is_terminal else _MOST_OBJECTS
    for status in report.objects[:most]:
        name = f" ({status.name} on {status.planned.owner.cluster})" if status.name else ""
        since = f"  {age(status.since, report.read_at)}" if status.since else ""
        used = f" ({status.used})" if status.used else ""
        head, message = f"  {status.id}{name}", f"{one_line(status.message)}{used}"
        if console.is_terminal:
            wrapped = wrap(message, max(1, console.width - len(_INDENT_OF_LEFT_OUT)), break_on_hyphens=False)
            head, message = f"{head}{since}", "".join(f"\n{_INDENT_OF_LEFT_OUT}{line}" for line in wrapped)
        else:
            message = f": {message}" if message else ""
        yield Text.assemble((f"{status.readiness:<{width}}", COLOURS[status.readiness]), head, message)
    if (more := len(report.objects) - most) > 0:
        yield Text(f"and {counted(more, 'more object')} not as planned; --all lists them", style="dim")


def _total(report: StatusReport) -> Iterator[Text]:
    """44 objects as planned; 41 of 44 objects as planned"""
    total, good = counted(report.planned, "object"), report.as_planned
    if report.planned:
        yield Text(f"{total if good == report.planned else f'{good} of {total}'} as planned", style="dim")


def counts(found: Sequence[AppStatus]) -> str:
    """3 of 5 apps ready"""
    ready = sum(status.readiness is Readiness.READY for status in found)
    return f"{ready} of {counted(len(found), 'app')} ready"
