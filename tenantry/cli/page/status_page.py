"""The page of `tenantry status`: what is not ready, and the map of one or several environments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from shlex import quote

from tenantry.cli.page.document import Notice, Page, Table, as_html, noticed
from tenantry.cli.page.status_map import STATES, TROUBLE, Reading, status_map
from tenantry.cluster.objects import ObjectStatus
from tenantry.cluster.report import StatusReport
from tenantry.cluster.status import AppStatus, Readiness, one_line
from tenantry.messages.errors import Refused
from tenantry.messages.text import counted, grouped, printable


def counts(found: Sequence[AppStatus]) -> tuple[tuple[str, str], ...]:
    """The numbers above the map: apps by their state, the worst first; those without apps are left out."""
    numbers = grouped(found, lambda each: each.readiness)
    return tuple((str(len(numbers[state])), label) for state, label in _LABELS.items() if state in numbers)


_LABELS = {Readiness(each.key): each.label for each in reversed(STATES)}


def as_page(readings: Sequence[Reading], unread: Iterable[tuple[str, Refused]] = ()) -> str:
    """The page as HTML."""
    return as_html(status_page(readings, unread))


def status_page(readings: Sequence[Reading], unread: Iterable[tuple[str, Refused]] = ()) -> Page:
    """What the page of one or several environments says. Args: unread: environments that could not be read, and why."""
    found = [status for each in readings for status in each.report.apps]
    shown = status_map(readings)
    names = " ".join(f"-e {quote(each.report.environment)}" for each in readings)
    notes = tuple(note for each in readings for note in _notes(each, several=len(readings) > 1))
    lost = tuple(noticed(f"Environment '{name}' cannot be read: {each.message}", each.fix) for name, each in unread)
    failing = any(each.readiness in TROUBLE for each in found)
    return Page(
        command="tenantry status",
        heading=_heading(readings),
        about=_managed(readings),
        figures=counts(found),
        refusals=(),
        alarm="Needs attention" if failing else "Not ready yet",
        calm="" if lost else _calm(readings),
        notes=(*lost, *notes),
        map=shown,
        urgent=failing,
        read_at=min(each.report.read_at for each in readings).strftime("%Y-%m-%dT%H:%M:%SZ"),
        refresh=f"tenantry status {names} --output html > status.html",
        tables=(_table(readings),) if len(readings) > 1 else (),
    )


_MOST_ENVIRONMENTS = 3


def _heading(readings: Sequence[Reading]) -> str:
    """dev: all 12 apps are ready; prod: 4 of 412 apps failed"""
    if len(readings) <= _MOST_ENVIRONMENTS:
        return "; ".join(f"{printable(each.report.environment)}: {_summary(each.report)}" for each in readings)
    return f"{len(readings)} environments: {_of_apps([status for each in readings for status in each.report.apps])}"


def _managed(readings: Sequence[Reading]) -> str:
    if len(readings) == 1:
        return f"management cluster {printable(readings[0].management)}"
    named = (f"{printable(each.management)} ({printable(each.report.environment)})" for each in readings)
    return f"management clusters {', '.join(named)}"


def _table(readings: Sequence[Reading]) -> Table:
    """The apps of each environment by state."""
    every = {status.readiness for each in readings for status in each.report.apps}
    states = [state for state in _LABELS if state in every]
    rows = []
    for each in readings:
        numbers = grouped(each.report.apps, lambda status: status.readiness)
        cells = [str(len(numbers.get(state, ())) or "") for state in states]
        rows.append((printable(each.report.environment), (str(len(each.report.apps)), *cells)))
    return Table("Environments", ("apps", *(_LABELS[state] for state in states)), tuple(rows))


def _calm(readings: Sequence[Reading]) -> str:
    """What stands first if no app needs attention: only what is so."""
    found = [status for each in readings for status in each.report.apps]
    others = any(each.report.objects for each in readings)
    suspended = sum(status.readiness is Readiness.SUSPENDED for status in found)
    if suspended:
        return (
            f"{counted(suspended, 'app')} suspended; all others are ready"
            if suspended < len(found)
            else "All apps are suspended"
        )
    return "" if others or not found else "All apps are ready"


def _notes(reading: Reading, *, several: bool) -> Iterator[Notice]:
    """The rollouts, the objects that are not as planned, then what a person has to know besides, each with its fix."""
    report = reading.report
    place = f"{printable(report.environment)}: " if several else ""
    if reading.rollouts:
        yield reading.rollouts
    if report.objects:
        objects = f"{counted(len(report.objects), 'other object')} not as planned"
        yield Notice((f"{place}{objects}", *map(_told, report.objects)))
    for message in report.messages():
        told, _, fix = message.partition("\n  fix: ")
        yield noticed(place + told, fix)


def _told(status: ObjectStatus) -> str:
    """An object that is not as planned, as a note."""
    name, used = (f" ({each})" if each else "" for each in (status.name, status.used))
    return printable(f"{status.id}{name} is {status.readiness}: {one_line(status.message)}{used}")


def _summary(report: StatusReport) -> str:
    """12 of 412 apps failed; all 412 apps are ready, 2 other objects not as planned"""
    summary = _of_apps(report.apps)
    return f"{summary}, {counted(len(report.objects), 'other object')} not as planned" if report.objects else summary


def _of_apps(found: Sequence[AppStatus]) -> str:
    states = [each.readiness for each in found]
    if not states:
        return "no apps"
    total = counted(len(states), "app")
    for state in (Readiness.FAILED, Readiness.MISSING, Readiness.UNREACHABLE):
        if number := states.count(state):
            return f"{number} of {total} {state}"
    ready = states.count(Readiness.READY)
    return f"all {total} are ready" if ready == len(states) > 1 else f"{ready} of {total} ready"
