"""`tenantry status --watch`: a full-screen table on a terminal, otherwise a line for each change."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime

from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.segment import Segment
from rich.text import Text

from tenantry.cli.output import data, say, stdout_console
from tenantry.cli.status.table import COLOURS, counts, grouped_rows, short_revision, single_rows, status_table
from tenantry.cluster.report import StatusReport
from tenantry.cluster.status import TROUBLE, AppStatus, Readiness, one_line
from tenantry.kube.objects import ObjectId
from tenantry.messages.errors import Refused
from tenantry.messages.text import counted

INTERRUPTED = 130
_REST = 3
"""For each second that a reading took, the API server rests for so many."""

Read = Callable[[], StatusReport]


def watch(read: Read, interval: float, *, every: bool) -> int:
    """Show the status until Ctrl-C. An error of reading is shown and does not end it, except in the first reading.

    Args:    read: reads the apps. interval: seconds between two readings, if they are quick.
    Returns: 130, as every interrupted command.
    Raises:  Refused: the first reading failed.
    """
    report = read()
    try:
        if sys.stdout.isatty():
            _watch_on_screen(report, read, interval, every=every)
        else:
            _watch_by_line(report, read, interval)
    except KeyboardInterrupt:
        return INTERRUPTED
    return 0


def _readings(read: Read, interval: float) -> Iterator[StatusReport | Refused]:
    """Read for ever, with pauses in which the API server can do other work."""
    spent = 0.0
    while True:
        time.sleep(max(interval, _REST * spent))
        started = time.monotonic()
        try:
            yield read()
        except Refused as refused:
            yield refused
        spent = time.monotonic() - started


def _watch_on_screen(report: StatusReport, read: Read, interval: float, *, every: bool) -> None:
    screen = Screen(report, interval, every=every)
    live = Live(screen, console=stdout_console(), screen=True, refresh_per_second=2)
    try:
        live.start(refresh=True)
        for found in _readings(read, interval):
            screen.update(found)
    finally:
        # Not `with live`: Ctrl-C during its start would leave the terminal on the full screen.
        live.stop()
        say(f"{counts(screen.report.apps)} at {_clock(screen.report)}")


class Screen:
    """What the terminal shows: a header, and as many rows as fit."""

    def __init__(self, report: StatusReport, interval: float, *, every: bool) -> None:
        self.report = report
        self._interval = interval
        self._rows_of = single_rows if every else grouped_rows
        self._rows = self._rows_of(report.apps, report.read_at)
        self._error = ""

    def update(self, found: StatusReport | Refused) -> None:
        """Show what was just read, or why it could not be read below what was read before."""
        if isinstance(found, Refused):
            self._error = one_line(found.message)
            return
        self._error, self.report = "", found
        self._rows = self._rows_of(found.apps, found.read_at)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        height = options.height or console.height
        options = options.update(height=None)
        lines = console.render_lines(self._header(), options, pad=False)
        lines += [[]]
        lines += self._body(console, options, height - len(lines))
        for number, line in enumerate(lines[:height]):
            if number:
                yield Segment.line()
            yield from line

    def _header(self) -> Text:
        now = f"{_clock(self.report)}, every {self._interval:g} s"
        header = Text.assemble(
            ("environment ", "bold"), (self.report.environment, "bold"), f"   {now}   Ctrl-C ends it\n"
        )
        header.append_text(state_counts(self.report.apps))
        if self._error:
            header.append(f"\nnot read since: {self._error}", style="red")
        return header

    def _body(self, console: Console, options: ConsoleOptions, height: int) -> list[list[Segment]]:
        """The table with as many rows as there is space for, and a line that counts the others."""
        rows = self._rows[: max(0, height)]
        while True:
            hidden = sum(row.apps for row in self._rows[len(rows) :])
            lines = console.render_lines(status_table(rows, console), options, pad=False) if rows else []
            if hidden:
                lines.append([Segment(f"and {counted(hidden, 'more app')}")])
            if len(lines) <= height or not rows:
                return lines
            rows = rows[: min(len(rows) - 1, len(rows) - (len(lines) - height) // 4)]


def state_counts(found: Sequence[AppStatus]) -> Text:
    """1 failed, 3 progressing, 20 ready"""
    numbers = Counter(each.readiness for each in found)
    parts = [Text(f"{numbers[each]} {each}", style=COLOURS[each]) for each in TROUBLE if numbers[each]]
    return Text(", ").join(parts) if parts else Text("nothing to show")


def _clock(report: StatusReport) -> str:
    return report.read_at.astimezone().strftime("%H:%M:%S")


def _watch_by_line(report: StatusReport, read: Read, interval: float) -> None:
    """Print the apps that are not ready, then a line for each change."""
    known: dict[ObjectId, str] = {}
    failure = ""
    _print(f"{_moment(report.read_at)} {state_counts(report.apps).plain}")
    for line in _changes(report, known, first=True):
        _print(line)
    for found in _readings(read, interval):
        if isinstance(found, Refused):
            if found.message != failure:
                say(f"{_moment(datetime.now(UTC))} cannot read the status: {one_line(found.message)}")
            failure = found.message
            continue
        failure = ""
        for line in _changes(found, known):
            _print(line)


def _changes(report: StatusReport, known: dict[ObjectId, str], *, first: bool = False) -> Iterator[str]:
    """A line for each app that is not as `known` has it, which is brought up to date."""
    gone = known.keys() - {each.app.id for each in report.apps}
    for id in gone:
        yield f"{_moment(report.read_at)} {known.pop(id).partition(':')[0]} (no longer selected)"
    for app in report.apps:
        line = _line(app)
        if known.get(app.app.id) != line and not (first and app.readiness is Readiness.READY):
            yield f"{_moment(report.read_at)} {line}"
        known[app.app.id] = line


def _line(status: AppStatus) -> str:
    app = status.app
    revision = f", {short_revision(status.revision)}" if status.revision else ""
    message = f": {one_line(status.message)}" if status.readiness is not Readiness.READY and status.message else ""
    return f"{app.full_name} on {app.cluster}: {status.readiness}{revision}{message}"


def _moment(time: datetime) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")


def _print(line: str) -> None:
    data(line)
    sys.stdout.flush()
