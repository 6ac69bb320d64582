"""Windows: whether changes may begin now, and when they may.

Nothing here reads a clock: the time is given.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from tenantry.fleet.fleet import Fleet, clusters_of
from tenantry.messages.text import listed
from tenantry.model.windows import WEEK, Times, span_of
from tenantry.model.windows import Window as Declared

_FAR = 400
"""Days in which an opening is looked for."""
_NEAR = 8
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Window:
    """A declared window with its name. It covers the same times on each day: from `begin` to `end`, which may be on the next."""

    name: str
    allows: bool
    days: frozenset[int]
    dates: tuple[date, date] | None
    begin: time
    end: time | None
    zone: ZoneInfo
    words: str = field(compare=False, default="")

    @classmethod
    def of(cls, name: str, declared: Declared) -> Window:
        times = declared.allow or declared.deny
        assert times
        begin, _, end = (times.hours or "00:00-24:00").partition("-")
        return cls(
            name,
            declared.allow is not None,
            frozenset(_days(times)),
            span_of(times.dates) if times.dates else None,
            time.fromisoformat(begin),
            None if end == "24:00" else time.fromisoformat(end),
            ZoneInfo(declared.timeZone),
            _words(declared, times),
        )

    def span(self, day: date) -> tuple[datetime, datetime] | None:
        """When the window covers time that began on a day of its zone; None: it does not."""
        if day.weekday() not in self.days or (self.dates and not self.dates[0] <= day <= self.dates[1]):
            return None
        ends_later = self.end is None or self.end <= self.begin
        begin, end = (day, self.begin), (day + _DAY if ends_later else day, self.end or time())
        return self._at(*begin), self._at(*end)

    def covers(self, now: datetime) -> bool:
        today = now.astimezone(self.zone).date()
        spans = (self.span(today), self.span(today - _DAY))
        return any(span[0] <= now < span[1] for span in spans if span)

    def _at(self, day: date, at: time) -> datetime:
        return datetime.combine(day, at, self.zone).astimezone(UTC)


def _days(times: Times) -> Iterator[int]:
    for each in times.days or (f"{WEEK[0]}-{WEEK[-1]}",):
        first, _, last = each.partition("-")
        begin, end = WEEK.index(first), WEEK.index(last or first)
        yield from range(begin, end + 1) if begin <= end else (*range(begin, len(WEEK)), *range(end + 1))


def _words(declared: Declared, times: Times) -> str:
    parts = (", ".join(times.days or ()), times.hours, times.dates, declared.timeZone)
    return f"{'' if declared.allow else 'not '}{' '.join(filter(None, parts))}"


@dataclass(frozen=True, slots=True)
class Shut:
    """names: the windows that are shut. until: when changes may begin; None: not within a year."""

    names: tuple[str, ...]
    until: datetime | None
    zone: ZoneInfo

    @property
    def opening(self) -> str:
        """Such as: on Mon 2026-11-30 09:00 Europe/Berlin"""
        return f"on {moment(self.until, self.zone)}" if self.until else "on no day of the next year"

    @property
    def who(self) -> str:
        names, several = [f"'{each}'" for each in self.names], len(self.names) > 1
        return f"{'windows' if several else 'window'} {listed(names)} {'are' if several else 'is'} shut"

    def __str__(self) -> str:
        """Such as: window 'business' is shut until Mon 2026-11-30 09:00 Europe/Berlin"""
        until = f"until {moment(self.until, self.zone)}" if self.until else "for more than a year"
        return f"{self.who} {until}"


def moment(at: datetime, zone: ZoneInfo) -> str:
    """Such as: Mon 2026-11-30 09:00 Europe/Berlin"""
    return f"{at.astimezone(zone):%a %Y-%m-%d %H:%M} {zone.key}"


def shut(windows: Sequence[Window], now: datetime) -> Shut | None:
    """Which windows keep changes from beginning now; None: none does."""
    if not (names := tuple(_shut(windows, now))):
        return None
    first = next(each for each in windows if each.name in names)
    return Shut(names, _opening(windows, now, _NEAR) or _opening(windows, now, _FAR), first.zone)


def _shut(windows: Iterable[Window], now: datetime) -> list[str]:
    denying = [each.name for each in windows if not each.allows and each.covers(now)]
    allowing = [each for each in windows if each.allows]
    return denying or ([] if any(each.covers(now) for each in allowing) else [each.name for each in allowing])


def _opening(windows: Sequence[Window], now: datetime, days: int) -> datetime | None:
    """The first time within some days at which nothing is shut: some window begins or ends to cover time then."""
    found: set[datetime] = set()
    for each in windows:
        today = now.astimezone(each.zone).date()
        spans = (each.span(today + number * _DAY) for number in range(-1, days))
        found |= {span[0] if each.allows else span[1] for span in spans if span}
    return next((at for at in sorted(found) if at > now and not _shut(windows, at)), None)


@dataclass(frozen=True, slots=True)
class Windows:
    """The windows of an environment: its own, and by name those of its clusters that have some."""

    own: tuple[Window, ...] = ()
    clusters: Mapping[str, tuple[Window, ...]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.own or self.clusters)

    def shut_clusters(self, now: datetime) -> dict[str, Shut]:
        """The clusters to which no change may begin now, because of windows of their own."""
        by_windows = {each: shut(each, now) for each in set(self.clusters.values())}
        found = {name: by_windows[each] for name, each in self.clusters.items()}
        return {name: each for name, each in found.items() if each}

    def begin(self, now: datetime) -> list[str]:
        """When a change could begin, in sentences; empty: nothing speaks of windows."""
        if closed := shut(self.own, now):
            return [f"changes could begin {closed.opening}: {closed.who}"]
        found = [f"changes could begin now: {in_words(self.own)}"] if self.own else []
        by_shut: dict[Shut, list[str]] = {}
        for name, each in self.shut_clusters(now).items():
            by_shut.setdefault(each, []).append(name)
        return [
            *found,
            *(f"changes of {listed(names)} could begin {each.opening}: {each.who}" for each, names in by_shut.items()),
        ]

    def in_words(self) -> str:
        """Such as: business (mon-thu 09:00-16:00 Europe/Berlin); of edge-1: night (22:00-04:00 UTC)"""
        parts = [in_words(self.own)] if self.own else []
        by_windows: dict[tuple[Window, ...], list[str]] = {}
        for name, each in self.clusters.items():
            by_windows.setdefault(each, []).append(name)
        parts += [f"of {listed(names, 3)}: {in_words(each)}" for each, names in by_windows.items()]
        return "; ".join(parts)


def in_words(windows: Iterable[Window]) -> str:
    """Such as: business (mon-thu 09:00-16:00 Europe/Berlin)"""
    return ", ".join(f"{each.name} ({each.words})" for each in windows)


def windows_of(fleet: Fleet, environment: str) -> Windows:
    """The windows of an environment. A name that is not declared is reported by a rule."""
    declared = {name: Window.of(name, each) for name, each in fleet.document.windows.items()}

    def named(names: Iterable[str]) -> tuple[Window, ...]:
        return tuple(declared[each] for each in dict.fromkeys(names) if each in declared)

    there = {name: named(fleet.clusters[name].windows) for name in clusters_of(fleet, environment)}
    return Windows(named(fleet.environments[environment].windows), {name: each for name, each in there.items() if each})
