"""`tenantry status`: a row for each app on a cluster, or for one that is alike on many, and what is not as planned."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click import style

from tenantry.cli import options
from tenantry.cli.commands import Command
from tenantry.cli.options import connect_management, reads_file
from tenantry.cli.output import Row, data, data_json, say, table, working
from tenantry.cluster.inventory import flux_objects_of
from tenantry.cluster.report import StatusReport, WaveProgress, apps_report, full_report, why_command
from tenantry.cluster.report import failing as only_failing
from tenantry.cluster.states import Selection, State, select
from tenantry.fleet.fleet import Fleet
from tenantry.kube.names import PLATFORM
from tenantry.kube.objects import Manifest
from tenantry.load import load_fleet
from tenantry.messages.text import counted, grouped, one_line
from tenantry.plan.plan import Plan, plan
from tenantry.plan.planned_apps import PlannedApp
from tenantry.rollout.flux_status import Readiness, age
from tenantry.rollout.waves import Rollout

if TYPE_CHECKING:
    from tenantry.cluster.client import Client


_POLL_SECONDS = 0.5
_REST = 3
"""For each second that a reading took, the API server rests for so many."""


@click.command(
    "status",
    cls=Command,
    epilog="""\
Examples:
  tenantry status dev
  tenantry status --environment prod --failing
  tenantry status prod --tenant rocky --app web --cluster edge-1
  tenantry status --environment dev --wait --timeout 300
  tenantry status --environment prod --output json
  tenantry status --environment prod --kubeconfig ~/.kube/hub-prod

Exit codes:
  0    every selected app is ready or paused in the file, and all is as planned
  1    at least one is not
  2    the management cluster does not answer, or has no such apps
  5    what is not as planned waits for its wave
""",
)
@options.environment("The environment to show.", required=True, argument=True)
@options.tenants(f"Only apps of this tenant, or of '{PLATFORM}'; repeatable.")
@options.apps("Only this app or add-on; repeatable.")
@options.clusters("Only apps on this cluster; repeatable.")
@click.option(
    "--failing",
    is_flag=True,
    help="Show only what is failed, missing, changed by hand, unreachable, or progresses for more than 5 minutes.",
)
@options.management
@click.option("--wait", is_flag=True, help="Wait until every app is ready, one fails again and again, or the timeout.")
@options.timeout(600, "How long --wait waits.")
@options.output("text", "json")
@reads_file
def command(
    file: Path,
    environment: str,
    kubeconfig: Path | None,
    context: str | None,
    *,
    tenants: tuple[str, ...],
    apps: tuple[str, ...],
    clusters: tuple[str, ...],
    failing: bool,
    wait: bool,
    timeout: int,
    output: str,
) -> int:
    """Show each app of an environment, its status and the revision that Flux applied. What needs attention comes first.

    Every other planned object is looked at, too, and listed if it is missing, changed by hand, not applied yet or not ready:
    baselines, accounts, rights, sources and charts. So are stuck deletions and objects that the file does not declare, with a
    suggested fix. Waves say whether they are ready, and how their apps are.

    Only the management cluster is contacted: Flux reports there about remote clusters too. Nothing is changed.
    """
    with working(f"planning {file}"):
        fleet = load_fleet(file)
        planned = plan(fleet, environment)
    selection = select(planned, tenants, apps, clusters)
    with connect_management(file, environment, kubeconfig, context) as client:
        report = read_report(client, fleet, planned, selection, timeout if wait else None)
    shown = only_failing(report) if failing else report
    if failing and not (shown.apps or shown.objects):
        say(f"nothing failed, is missing or was changed; {counts(report.apps)}")
    print_status(shown, planned, output)
    return 0 if report.ready else 5 if report.waits else 1


def read_report(
    client: Client, fleet: Fleet, planned: Plan, selection: Selection, seconds: int | None = None
) -> StatusReport:
    """The report of an environment. seconds: for how long to wait until everything is ready; None: not at all.

    Raises: Refused: reading is not allowed.
    """
    live = None if seconds is None else _wait_until_ready(client, planned, selection, seconds)
    with working(f"reading the status of {planned.environment}"):
        live = live or tuple(flux_objects_of(client, planned))
        return full_report(client, fleet, planned, live, selection)


def print_status(report: StatusReport, planned: Plan, output: str = "text") -> None:
    """Print a report, and on stderr what a person has to know or do besides."""
    if output == "json":
        data_json(report, "Status")
    elif text := status_text(report, planned.rollout):
        data(text)
    for message in report.messages():
        say(message)


# --- waiting -----------------------------------------------------------------------------------------------------------


def _wait_until_ready(client: Client, planned: Plan, selection: Selection, timeout: int) -> tuple[Manifest, ...]:
    """Wait until everything is ready, or an app fails for good. Prints a line for each change. Returns: what was read last."""
    end, begun, last = time.monotonic() + timeout, datetime.now(UTC), ""
    with working("waiting until everything is ready"):
        while True:
            started = time.monotonic()
            live = tuple(flux_objects_of(client, planned))
            report = apps_report(planned, live, selection, begun)
            others = f", {counted(len(report.objects), 'other object')} not yet" if report.objects else ""
            if (line := f"{counts(report.apps)}{others}") != last:
                say(line)
            last = line
            if report.ready:
                return live
            if failed := failed_for_good(report):
                again = f"`tenantry up --environment {report.environment}`"
                say(
                    f"{counted(failed, 'object')} failed again and again, so waiting ends here\n"
                    f"  fix: correct the file or what the app applies, then run {again} again"
                )
                return live
            now = time.monotonic()
            if now > end:
                say(f"not everything is ready after {timeout} s")
                return live
            time.sleep(max(_POLL_SECONDS, _REST * (now - started)))


def failed_for_good(report: StatusReport) -> int:
    """How many apps have, and objects that are the cause of none of these."""
    apps = [state for state in report.apps if state.lasts]
    causes = {state.cause for state in apps}
    return len(apps) + sum(state.lasts and state.id not in causes for state in report.objects)


_ALIKE = 4
"""From so many clusters on, equal rows become one."""
_COMMIT = 7
_MOST_OBJECTS = 20
"""More objects that are not as planned than this are counted."""
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


def status_text(report: StatusReport, rollout: Rollout | None) -> str:
    """The apps, the objects that are not as planned, the waves, and how many objects are as planned."""
    lines = [*_table(grouped_rows(report.apps, report.read_at))] if report.apps else []
    well = (Readiness.READY, Readiness.SUSPENDED)
    unwell = (app for state in report.apps if state.readiness not in well and (app := state.stands_for))
    if first := next(unwell, None):
        lines.append(style(f"cause: {why_command(first, report.environment)}", dim=True))
    lines += [*_objects(report), *_waves(report, rollout)]
    if report.planned:
        total, equal = counted(report.planned, "object"), report.as_planned
        lines.append(style(f"{total if equal == report.planned else f'{equal} of {total}'} as planned", dim=True))
    return "\n".join(lines)


def counts(states: Sequence[State]) -> str:
    """3 of 5 apps ready, 1 paused"""
    ready = sum(state.readiness is Readiness.READY for state in states)
    paused = sum(state.is_paused for state in states)
    return f"{ready} of {counted(len(states), 'app')} ready{f', {paused} paused' if paused else ''}"


# --- apps -------------------------------------------------------------------------------------------------------------


def grouped_rows(states: Iterable[State], now: datetime) -> list[Row]:
    """A row for each app on each cluster, or one for an app that is in the same state on many.

    The order is that of the first of each.
    """
    rows: list[Row] = []
    for alike in grouped(states, _key).values():
        rows += [_row(alike, now)] if len(alike) >= _ALIKE else [_row([state], now) for state in alike]
    return rows


def _app_of(state: State) -> PlannedApp:
    if state.stands_for is None:
        raise ValueError(f"{state.id} is no app")
    return state.stands_for


def _key(state: State) -> tuple[str, ...]:
    """Equal for apps that differ in their clusters and ages alone. Messages of Flux name the cluster's own objects and address."""
    app = _app_of(state)
    lost = state.readiness is Readiness.UNREACHABLE
    message = "" if lost else _message(state).replace(app.id.name, "").replace(app.cluster, "")
    return (app.tenant, app.name, app.id.kind, state.readiness, state.revision, message, _wave(state))


def _row(alike: Sequence[State], now: datetime) -> Row:
    """The row of an app on clusters where it is in the same state."""
    first, app = alike[0], _app_of(alike[0])
    many, message = len(alike) > 1, _message(first)
    oldest = min(alike, key=lambda state: state.since or "")
    return {
        "TENANT": app.tenant or f"({PLATFORM})",
        "CLUSTER": counted(len(alike), "cluster") if many else app.cluster,
        "APP": app.name,
        "KIND": app.id.kind,
        "WAVE": _wave(first),
        "STATUS": first.readiness,
        "AGE": age(oldest.since, now),
        "REVISION": short_revision(first.revision),
        "MESSAGE": f"{app.cluster}: {message}" if many and message else message,
    }


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


def _table(rows: Sequence[Row]) -> Iterator[str]:
    """A line for each row, with its message below it."""
    headings = [name for name in rows[0] if name != "MESSAGE" and (name != "WAVE" or any(row[name] for row in rows))]
    first, *lines = table(rows, headings, _painted)
    yield first
    for row, line in zip(rows, lines, strict=True):
        yield line
        if row["MESSAGE"]:
            yield f"{_INDENT}{row['MESSAGE']}"


def _painted(heading: str, cell: str) -> str:
    is_status = heading == "STATUS" and cell.strip() in COLOURS
    return style(cell, fg=COLOURS[Readiness(cell.strip())]) if is_status else cell


# --- objects and waves ------------------------------------------------------------------------------------------------


def _objects(report: StatusReport) -> Iterator[str]:
    longest = max((len(state.readiness) for state in report.objects), default=0)
    for state in report.objects[:_MOST_OBJECTS]:
        name = f" ({state.where})" if state.name else ""
        since = age(state.since, report.read_at)
        readiness = style(f"{state.readiness:<{longest}}", fg=COLOURS[state.readiness])
        yield f"{readiness}  {state.id}{name}{f'  {since}' if since else ''}"
        if message := one_line(state.message):
            yield f"{_INDENT}{message}"
    if (more := len(report.objects) - _MOST_OBJECTS) > 0:
        yield style(f"and {counted(more, 'more object')} not as planned; --output json has them", dim=True)


def _waves(report: StatusReport, rollout: Rollout | None) -> Iterator[str]:
    """The waves of a rollout that has something to do, and how their apps are."""
    if rollout is None or all(state.progress is WaveProgress.READY for state in report.waves):
        return
    for state in report.waves:
        apps = [f"{count} {readiness}" for readiness, count in state.apps.items()]
        now = f"{counted(sum(state.apps.values()), 'app')}: {', '.join(apps)}" if apps else "no apps"
        wave = rollout.waves[state.number - 1]
        yield f"{rollout.name_of(wave)}, {counted(len(state.clusters), 'cluster')}: {state.progress}; {now}"
