"""The text of `tenantry status`: a row for each app on a cluster, or for one that is alike on many, and what is not as planned."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from textwrap import wrap

from click import style

from tenantry.cli import tables
from tenantry.cluster.report import StatusReport, WaveState, age_of, why_command
from tenantry.cluster.states import State
from tenantry.kube.names import PLATFORM
from tenantry.messages.text import counted, grouped, listed, one_line
from tenantry.plan.planned_apps import PlannedApp
from tenantry.rollout.flux_status import Readiness, age
from tenantry.rollout.reasons import format_until
from tenantry.rollout.waves import Rollout

_ALIKE = 4
"""From so many clusters on, equal rows become one."""
_COMMIT = 7
_MOST_READY = 20
"""More rows of apps that are ready than this are counted on a terminal."""
_MOST_OBJECTS = 20
"""More objects that are not as planned than this are counted on a terminal."""
_MOST_CHANGES = 10
_INDENT = "    "
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


def status_text(report: StatusReport, rollout: Rollout | None, width: int | None) -> str:
    """The apps, the objects that are not as planned, the waves, and how many objects are as planned.

    A terminal gets equal rows as one; a pipe gets a line for each app and object, which programs can filter.
    width: of the terminal; None: it is a pipe.
    """
    lines = [*_apps(report, width)] if report.apps else []
    bad = (app for state in report.apps if _is_bad(state) and (app := state.stands_for))
    if width is not None and (first := next(bad, None)):
        lines.append(style(f"cause: {why_command(first, report.environment)}", dim=True))
    lines += [*_objects(report, width), *_waves(report, rollout)]
    if report.planned:
        total, good = counted(report.planned, "object"), report.as_planned
        lines.append(style(f"{total if good == report.planned else f'{good} of {total}'} as planned", dim=True))
    return "\n".join(lines)


def _is_bad(state: State) -> bool:
    return state.readiness not in (Readiness.READY, Readiness.SUSPENDED)


def counts(states: Sequence[State]) -> str:
    """3 of 5 apps ready"""
    ready = sum(state.readiness is Readiness.READY for state in states)
    return f"{ready} of {counted(len(states), 'app')} ready"


# --- apps -------------------------------------------------------------------------------------------------------------


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


def single_rows(states: Iterable[State], now: datetime) -> list[Row]:
    """A row for each app on each cluster."""
    return [_row([state], now) for state in states]


def grouped_rows(states: Iterable[State], now: datetime) -> list[Row]:
    """The same, but one row where an app is in the same state on many clusters. The order stays that of the first of each."""
    rows: list[Row] = []
    for alike in grouped(states, _key).values():
        rows += [_row(alike, now)] if len(alike) >= _ALIKE else single_rows(alike, now)
    return rows


def _app_of(state: State) -> PlannedApp:
    if state.stands_for is None:
        raise ValueError(f"{state.id} is no app")
    return state.stands_for


def _key(state: State) -> tuple[str, ...]:
    """Equal for apps that differ in their clusters and ages alone. Messages of Flux name the cluster's own objects and address."""
    app = _app_of(state)
    lost = state.readiness is Readiness.UNREACHABLE
    message = (state.behind or "") if lost else _message(state).replace(app.id.name, "").replace(app.cluster, "")
    return (app.tenant, app.name, app.id.kind, state.readiness, state.revision, message, _wave(state))


def _row(alike: Sequence[State], now: datetime) -> Row:
    first, app = alike[0], _app_of(alike[0])
    many, message = len(alike) > 1, _message(first)
    youngest, oldest = max(alike, key=lambda state: state.since or ""), min(alike, key=lambda state: state.since or "")
    latest, earliest = age_of(youngest, now), age_of(oldest, now)
    return Row(
        app.tenant or f"({PLATFORM})",
        counted(len(alike), "cluster") if many else app.cluster,
        app.name,
        app.id.kind,
        first.readiness,
        latest if latest == earliest or not earliest else f"{age(youngest.since, now)}-{age(oldest.since, now)}",
        short_revision(first.revision),
        f"{app.cluster}: {message}" if many and message else message,
        _wave(first),
        len(alike),
    )


def _wave(state: State) -> str:
    """The number of the wave, and its name if it has one: `1 canary`."""
    wave = state.wave
    if wave is None:
        return ""
    return str(wave.number) if wave.name == f"wave {wave.number}" else f"{wave.number} {one_line(wave.name)}"


def _message(state: State) -> str:
    """Flux's message on one line; empty if the app is ready."""
    return "" if state.readiness is Readiness.READY else one_line(state.message)


def short_revision(revision: str) -> str:
    """main@sha1:0123456789... -> main@0123456; sha256:0123456789... -> 0123456"""
    name, _, commit = one_line(revision).rpartition("@")
    algorithm, separator, digest = commit.partition(":")
    if not separator or algorithm not in ("sha1", "sha256"):
        return one_line(revision)
    return f"{name}@{digest[:_COMMIT]}" if name else digest[:_COMMIT]


_CELLS: Mapping[str, Callable[[Row], str]] = {
    "TENANT": lambda row: row.tenant,
    "CLUSTER": lambda row: row.cluster,
    "APP": lambda row: row.app,
    "KIND": lambda row: row.kind,
    "WAVE": lambda row: row.wave,
    "STATUS": lambda row: row.readiness,
    "AGE": lambda row: row.age,
    "REVISION": lambda row: row.revision,
    "MESSAGE": lambda row: row.message,
}
_DISPENSABLE = ("KIND", "AGE", "REVISION", "WAVE")
"""Columns that are omitted on a narrow terminal, in this order, so that no name is cut."""


def _apps(report: StatusReport, width: int | None) -> Iterator[str]:
    if width is None:
        yield from table(single_rows(report.apps, report.read_at), None)
        return
    rows = grouped_rows(report.apps, report.read_at)
    trouble = [row for row in rows if row.readiness is not Readiness.READY]
    if len(rows) - len(trouble) <= _MOST_READY:
        yield from table(rows, width)
        return
    ready = sum(row.apps for row in rows) - sum(row.apps for row in trouble)
    yield from table(trouble, width) if trouble else ()
    yield style(f"{'and ' if trouble else ''}{counted(ready, 'app')} ready; a pipe lists them: | cat", dim=True)


def table(rows: Sequence[Row], width: int | None) -> Iterator[str]:
    """A line for each row. Messages are in a column if each fits on one line of the terminal, otherwise below their rows."""
    headings = [name for name in _CELLS if name != "WAVE" or any(row.wave for row in rows)]
    cells = [{name: _CELLS[name](row) for name in headings} for row in rows]
    if not any(row.message for row in rows):
        headings.remove("MESSAGE")
    if below := width is not None and "MESSAGE" in headings and tables.width_of(cells, headings) > width:
        headings.remove("MESSAGE")
    first, *lines = tables.table(cells, tables.fitting(cells, headings, _DISPENSABLE, width), _painted)
    yield first
    for row, line in zip(rows, lines, strict=True):
        yield line
        if below and width is not None and row.message:
            yield from _below(row.message, width)


def _painted(heading: str, cell: str) -> str:
    is_status = heading == "STATUS" and cell.strip() in COLOURS
    return style(cell, fg=COLOURS[Readiness(cell.strip())]) if is_status else cell


def _below(message: str, width: int) -> Iterator[str]:
    for line in wrap(message, max(1, width - len(_INDENT)), break_on_hyphens=False):
        yield f"{_INDENT}{line}"


# --- objects and waves ------------------------------------------------------------------------------------------------


def _objects(report: StatusReport, width: int | None) -> Iterator[str]:
    longest = max((len(state.readiness) for state in report.objects), default=0)
    most = len(report.objects) if width is None else _MOST_OBJECTS
    for state in report.objects[:most]:
        name = f" ({state.where})" if state.name else ""
        message = f"{one_line(state.message)}{f' ({state.used})' if state.used else ''}"
        head = f"{style(f'{state.readiness:<{longest}}', fg=COLOURS[state.readiness])}  {state.id}{name}"
        if width is None:
            yield f"{head}{f': {message}' if message else ''}"
            continue
        since = age_of(state, report.read_at)
        yield f"{head}{f'  {since}' if since else ''}"
        yield from _below(message, width)
    if (more := len(report.objects) - most) > 0:
        yield style(f"and {counted(more, 'more object')} not as planned; a pipe lists them: | cat", dim=True)


def _waves(report: StatusReport, rollout: Rollout | None) -> Iterator[str]:
    """The waves of a rollout that has something to do: how their apps are, and what a run would change in them."""
    if rollout is None or not any(map(_is_unfinished, report.waves)):
        return
    for state in report.waves:
        apps = [f"{count} {readiness}" for readiness, count in state.apps.items()]
        now = f"{counted(sum(state.apps.values()), 'app')}: {', '.join(apps)}" if apps else "no apps"
        wave = rollout.waves[state.number - 1]
        yield f"{rollout.name_of(wave)}, {counted(len(state.clusters), 'cluster')}: {state.progress}; {now}"
        for reason, changes in grouped(state.changing, lambda change: (change.reason, change.until)).items():
            subjects = listed([change.subject for change in changes], _MOST_CHANGES)
            until = format_until(reason[1], report.read_at)
            yield f"  {subjects}: {reason[0]}{until}" if reason[0] else f"  would change: {subjects}"


def _is_unfinished(state: WaveState) -> bool:
    return bool(state.changing) or any(readiness is not Readiness.READY for readiness in state.apps)
