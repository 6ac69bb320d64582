"""Statuses of environments as a map, and what needs attention in it: the same message of several apps and clusters once."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from shlex import quote
from typing import NamedTuple

from tenantry.cli.page.document import Notice, paragraphs, places
from tenantry.cli.page.fleet_map import Alert, Columns, Entry, FleetMap, Row, State
from tenantry.cluster.report import StatusReport
from tenantry.cluster.status import AppStatus, Readiness, age, moment
from tenantry.fleet.fleet import Fleet, clusters_of
from tenantry.kube.names import PLATFORM
from tenantry.messages.text import grouped, printable
from tenantry.model.clusters import Cluster
from tenantry.plan.plan import Plan

STATES = (
    State("ready", "ready", "✓"),
    State("suspended", "suspended", "‖"),
    State("progressing", "progressing", "…"),
    State("outdated", "not applied yet", "→"),
    State("unreachable", "unreachable", "⊘"),
    State("changed", "changed by hand", "≠"),
    State("missing", "missing", "?"),
    State("failed", "failed", "✕"),
)
_AT = {Readiness(each.key): at for at, each in enumerate(STATES)}
TROUBLE = (Readiness.FAILED, Readiness.MISSING, Readiness.CHANGED, Readiness.UNREACHABLE)


class Reading(NamedTuple):
    """An environment as it was read. clusters: all of its clusters; known: what the file says of clusters, by name.

    rollouts: what is said of them; None: there are none, or it is not asked for.
    """

    report: StatusReport
    management: str
    clusters: tuple[str, ...] = ()
    known: Mapping[str, Cluster] = {}
    rollouts: Notice | None = None


def reading(report: StatusReport, planned: Plan, fleet: Fleet, rollouts: Notice | None = None) -> Reading:
    """Args: planned: the plan of the report's environment."""
    return Reading(report, planned.management, tuple(clusters_of(fleet, report.environment)), fleet.clusters, rollouts)


Alike = Sequence[tuple[Reading, AppStatus]]
"""The same app in the same state, on these clusters; at least one."""


def status_map(readings: Sequence[Reading]) -> FleetMap:
    """The map of the environments."""
    found = [(each, status) for each in readings for status in each.report.apps]
    named = {
        each.report.environment: [*each.clusters, *(status.app.cluster for status in each.report.apps)]
        for each in readings
    }
    columns = Columns(named, {name: cluster for each in readings for name, cluster in each.known.items()})
    placed = grouped(found, lambda pair: pair[1].app.tenant)
    rows = {tenant: at for at, tenant in enumerate(placed)}
    of = {name: len(own) for name, own in grouped(found, lambda pair: _name(pair[1])).items()}
    alike: list[Alike] = list(grouped(found, lambda pair: _likeness(pair[1])).values())
    troubles = _troubles(alike)
    alerts = {at: number for number, trouble in enumerate(troubles) for at in trouble}
    return FleetMap(
        states=STATES,
        rows=tuple(Row(printable(tenant) or PLATFORM, _columns(columns, own)) for tenant, own in placed.items()),
        columns=tuple(columns.all),
        entries=tuple(
            _entry(own, _columns(columns, own), rows[own[0][1].app.tenant], of, alerts.get(at, -1))
            for at, own in enumerate(alike)
        ),
        alerts=tuple(
            _alert([alike[at] for at in trouble], tuple(trouble), of, several=len(readings) > 1) for trouble in troubles
        ),
    )


def _columns(columns: Columns, alike: Alike) -> tuple[int, ...]:
    found = (at for each, status in alike for at in columns.at(each.report.environment, [status.app.cluster]))
    return tuple(dict.fromkeys(found))


def _likeness(status: AppStatus) -> tuple[object, ...]:
    return (*_name(status), status.readiness, status.revision, status.attempted, _message(status))


def _name(status: AppStatus) -> tuple[str, str]:
    return status.app.tenant, status.app.name


def _message(status: AppStatus) -> str:
    """Equal for messages that differ in names alone. That of an app that is ready repeats its revision, and counts for nothing."""
    if status.readiness is Readiness.READY:
        return ""
    app = status.app
    names = sorted({app.id.name, app.cluster, app.tenant, app.name} - {""}, key=len, reverse=True)
    return re.sub(rf"(?<![\w-])({'|'.join(map(re.escape, names))})(?![\w-])", "", status.message)


def _said(alike: Alike) -> tuple[str, ...]:
    """Flux's message; which cluster says so, if others say it in other names."""
    _, one = alike[0]
    differ = any(status.message != one.message for _, status in alike)
    return paragraphs(f"{one.app.cluster}: {one.message}" if differ else one.message)


Totals = Mapping[tuple[str, str], int]
"""On how many clusters an app is, by tenant and name."""


def _entry(alike: Alike, columns: tuple[int, ...], row: int, of: Totals, alert: int) -> Entry:
    _, one = alike[0]
    return Entry(
        row=row,
        columns=columns,
        state=_AT[one.readiness],
        kind="app" if one.app.tenant else "add-on",
        name=printable(one.app.name),
        of=of[_name(one)],
        lines=() if one.readiness is Readiness.READY else _said(alike),
        facts=tuple((name, printable(text)) for name, text in _facts(alike) if text),
        objects=tuple(printable(str(each.app.id)) for _, each in alike),
        alert=alert,
    )


def _facts(alike: Alike) -> Iterator[tuple[str, str]]:
    _, first = alike[0]
    yield "revision", first.revision
    yield "tried", first.attempted
    since = moment(first.since)
    same = since and all(each.since == first.since for _, each in alike)
    yield "for", _ages(alike) + (f", since {since:%Y-%m-%d %H:%M} UTC" if same else "")


def _ages(alike: Alike) -> str:
    """Since when: 17m; 17m to 3h"""
    ages = [
        age(since, now)
        for since, now in sorted(((s.since, r.report.read_at) for r, s in alike if s.since), reverse=True)
    ]
    return " to ".join(dict.fromkeys((*ages[:1], *ages[-1:])))


def _troubles(alike: Sequence[Alike]) -> list[list[int]]:
    """What is neither ready nor suspended, by index: the same message once, failures first, then what concerns most clusters."""
    calm = (Readiness.READY, Readiness.SUSPENDED)
    found = [at for at, own in enumerate(alike) if own[0][1].readiness not in calm]
    troubles = list(grouped(found, lambda at: _trouble(alike[at][0][1])).values())
    troubles.sort(key=lambda own: (-_AT[alike[own[0]][0][1].readiness], -sum(len(alike[at]) for at in own)))
    return troubles


def _trouble(status: AppStatus) -> tuple[str, ...]:
    message = _message(status)
    if status.readiness is Readiness.UNREACHABLE:
        return (status.readiness,)  # each message has another address
    # Without a message, different apps have nothing in common.
    return (status.readiness, message) if message.strip() else (status.readiness, *_name(status))


_FEW_APPS = 3


def _alert(trouble: Sequence[Alike], entries: tuple[int, ...], of: Totals, *, several: bool) -> Alert:
    every = [pair for own in trouble for pair in own]
    reading, first = every[0]
    names = list(dict.fromkeys(_name(status) for _, status in every))
    apps = [f"{printable(tenant) or PLATFORM}/{printable(name)}" for tenant, name in names]
    who = ", ".join(apps) if len(apps) <= _FEW_APPS else f"{apps[0]} and {len(apps) - 1} more apps"
    total = max(of[name] for name in names)
    where = [
        (f"{printable(environment)}: " if several else "")
        + places((printable(each.app.cluster) for _, each in own), total)
        for environment, own in grouped(every, lambda pair: pair[0].report.environment).items()
    ]
    since = _ages(every)
    return Alert(
        label=STATES[_AT[first.readiness]].label,
        text=": ".join([who, *_said(every)[:1]]),
        where="; ".join(where) + (f", for {since}" if since else ""),
        entries=entries,
        commands=tuple(_commands(reading.report.environment, first)),
    )


def _commands(environment: str, status: AppStatus) -> Iterator[str]:
    """What to type about an app, in order."""
    at = f"-e {quote(environment)}"
    app = f"{quote(status.app.tenant or PLATFORM)}/{quote(status.app.name)} {at} -c {quote(status.app.cluster)}"
    match status.readiness:
        case Readiness.MISSING:
            yield f"tenantry up {at}"
        case Readiness.CHANGED:
            yield f"tenantry preview {at}"
        case Readiness.FAILED | Readiness.UNREACHABLE | Readiness.PROGRESSING:
            yield f"tenantry why {app}"
            yield f"tenantry tree {app}"
        case _:
            yield f"tenantry why {app}"
