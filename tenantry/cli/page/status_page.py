"""The fleet as a map, with its status in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime

from tenantry.cli.page.document import Page, as_html, paragraphs, places
from tenantry.cli.page.fleet_map import Alert, Columns, Entry, FleetMap, Row, State
from tenantry.cluster.objects import ObjectStatus
from tenantry.cluster.report import StatusReport
from tenantry.cluster.status import AppStatus, Readiness, age, one_line
from tenantry.fleet.fleet import Fleet, clusters_of
from tenantry.kube.names import PLATFORM
from tenantry.messages.text import counted, grouped, printable
from tenantry.model.clusters import Cluster
from tenantry.plan.plan import Plan

STATES = (
    State("ready", "ready", "✓"),
    State("suspended", "suspended", "‖"),
    State("progressing", "progressing", "…"),
    State("outdated", "not applied yet", "→"),
    State("changed", "changed by hand", "≠"),
    State("missing", "missing", "?"),
    State("failed", "failed", "✕"),
)
_AT = {Readiness(each.key): at for at, each in enumerate(STATES)}
_TROUBLE = (Readiness.FAILED, Readiness.MISSING, Readiness.CHANGED)


def status_map(report: StatusReport, names: Iterable[str], clusters: Mapping[str, Cluster]) -> FleetMap:
    """The map of an environment. Args: names: its clusters; clusters: those of the fleet."""
    environment, found = report.environment, report.apps
    columns = Columns({environment: [*names, *(each.app.cluster for each in found)]}, clusters)
    rows = {tenant: at for at, tenant in enumerate(dict.fromkeys(each.app.tenant for each in found))}
    of = {app: len(each) for app, each in grouped(found, lambda each: (each.app.tenant, each.app.name)).items()}
    alike = grouped(found, _likeness)
    entries = tuple(
        _entry(
            rows[each[0].app.tenant],
            columns.at(environment, (one.app.cluster for one in each)),
            each,
            of,
            report.read_at,
        )
        for each in alike.values()
    )
    return FleetMap(
        states=STATES,
        rows=tuple(
            Row(printable(tenant) or PLATFORM, columns.at(environment, (each.app.cluster for each in own)))
            for tenant, own in grouped(found, lambda each: each.app.tenant).items()
        ),
        columns=tuple(columns.all),
        entries=entries,
        alerts=tuple(_alerts(entries, list(alike.values()), of)),
    )


def _likeness(status: AppStatus) -> tuple[object, ...]:
    # The message of an app that is ready repeats its revision.
    message = "" if status.readiness is Readiness.READY else status.message
    return status.app.tenant, status.app.name, status.readiness, status.revision, status.attempted, message


def _entry(
    row: int, columns: tuple[int, ...], alike: Sequence[AppStatus], of: Mapping[tuple[str, str], int], now: datetime
) -> Entry:
    one = alike[0]
    ready = one.readiness is Readiness.READY
    return Entry(
        row=row,
        columns=columns,
        state=_AT[one.readiness],
        kind="app" if one.app.tenant else "add-on",
        name=printable(one.app.name),
        of=of[one.app.tenant, one.app.name],
        lines=() if ready else paragraphs(one.message),
        facts=tuple((name, printable(text)) for name, text in _facts(alike, now) if text),
        objects=tuple(printable(str(each.app.id)) for each in alike),
    )


def _facts(alike: Sequence[AppStatus], now: datetime) -> Iterator[tuple[str, str]]:
    yield "revision", alike[0].revision
    yield "tried", alike[0].attempted
    if alike[0].readiness is not Readiness.READY:
        ages = [age(each.since, now) for each in sorted(alike, key=lambda each: each.since, reverse=True) if each.since]
        yield "for", " to ".join(dict.fromkeys((*ages[:1], *ages[-1:])))


def _alerts(
    entries: Sequence[Entry], alike: Sequence[Sequence[AppStatus]], of: Mapping[tuple[str, str], int]
) -> list[Alert]:
    """What has failed or is missing: failures first, then what concerns most clusters."""
    trouble = [at for at, each in enumerate(alike) if each[0].readiness in _TROUBLE]
    trouble.sort(key=lambda at: (-entries[at].state, -len(alike[at])))
    return [_alert(at, entries[at], alike[at], of) for at in trouble]


def _alert(at: int, entry: Entry, alike: Sequence[AppStatus], of: Mapping[tuple[str, str], int]) -> Alert:
    app = alike[0].app
    name = f"{printable(app.tenant) or PLATFORM}/{entry.name}"
    where = places((printable(each.app.cluster) for each in alike), of[app.tenant, app.name])
    return Alert(label=STATES[entry.state].label, text=": ".join([name, *entry.lines[:1]]), where=where, entries=(at,))


def counts(found: Sequence[AppStatus]) -> tuple[tuple[str, str], ...]:
    """The numbers above the map: apps by their state, the worst first; those without apps are left out."""
    numbers = grouped(found, lambda each: each.readiness)
    return tuple(
        (str(len(numbers[Readiness(each.key)])), each.label)
        for each in reversed(STATES)
        if Readiness(each.key) in numbers
    )


def as_page(report: StatusReport, planned: Plan, fleet: Fleet) -> str:
    """The page as HTML. Args: planned: the plan of the report's environment."""
    return as_html(status_page(report, planned, fleet))


def status_page(report: StatusReport, planned: Plan, fleet: Fleet) -> Page:
    """What the page says."""
    found = report.apps
    return Page(
        command="tenantry status",
        heading=f"{printable(report.environment)}: {_summary(report)}",
        about=f"management cluster {printable(planned.management)}, read {report.read_at:%Y-%m-%d %H:%M} UTC",
        figures=counts(found),
        refusals=(),
        alarm="Needs attention",
        calm="" if report.objects or not found else "Nothing has failed",
        notes=(
            *map(_told, report.objects),
            *(printable(line.strip()) for message in report.messages() for line in message.splitlines()),
        ),
        map=status_map(report, clusters_of(fleet, report.environment), fleet.clusters),
    )


def _told(status: ObjectStatus) -> str:
    """An object that is not as planned, as a note."""
    name = f" ({status.name})" if status.name else ""
    return printable(f"{status.id}{name} is {status.readiness}: {one_line(status.message)}")


def _summary(report: StatusReport) -> str:
    """12 of 412 apps failed; all 412 apps are ready, 2 other objects not as planned"""
    summary = _of_apps(report.apps)
    return f"{summary}, {counted(len(report.objects), 'other object')} not as planned" if report.objects else summary


def _of_apps(found: Sequence[AppStatus]) -> str:
    states = [each.readiness for each in found]
    if not states:
        return "no apps"
    total = counted(len(states), "app")
    for state in (Readiness.FAILED, Readiness.MISSING):
        if number := states.count(state):
            return f"{number} of {total} {state}"
    ready = states.count(Readiness.READY)
    return f"all {total} are ready" if ready == len(states) > 1 else f"{ready} of {total} ready"
