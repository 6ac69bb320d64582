"""What a row of the table stands for: one app on one cluster, or one app on many clusters that are all in the same state."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

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
    """Equal for apps that differ in their clusters and ages alone. Messages of Flux name the cluster's own objects."""
    app = status.app
    message = _message(status).replace(app.id.name, "").replace(app.cluster, "")
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
