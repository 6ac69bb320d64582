"""When changes may begin."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from tenantry.rollout.opening import waits
from tenantry.rollout.windows import Windows, shut

from tests.table import table
from tests.unit.texts import planned, problems

BUSINESS = 'business: {allow: {days: [mon-thu], hours: "09:00-16:00"}, timeZone: Europe/Berlin}'
YEAR_END = "year-end: {deny: {dates: 2026-12-20/2027-01-06}, timeZone: Europe/Berlin}"
NIGHT = 'night: {allow: {days: [fri], hours: "22:00-04:00"}}'
NEVER = "never: {deny: {days: [mon-sun]}}"
SUNDAYS = 'sundays: {allow: {days: [sat-mon], hours: "00:00-24:00"}}'
PAST = "past: {allow: {dates: 2025-01-01}}"


def fleet(names: str, of_edge: str = "", windows: str = "") -> str:
    declared = windows or "\n  ".join((BUSINESS, YEAR_END, NIGHT, NEVER, SUNDAYS, PAST))
    return (
        "apiVersion: tenantry/v1\n"
        f"environments:\n  dev: {{management: hub, windows: [{names}]}}\n  prod: {{extends: dev, management: main}}\n"
        f"windows:\n  {declared}\n"
        "clusters:\n  hub: {environments: [dev]}\n  main: {environments: [prod]}\n"
        f"  edge: {{environments: [dev], windows: [{of_edge}], kubeconfig: {{kamaji: {{controlPlane: e, namespace: k}}}}}}\n"
        "  lone: {environments: [dev], kubeconfig: {kamaji: {controlPlane: f, namespace: k}}}\n"
        "platform: {chart: {helm: {url: https://charts.example.com, version: 0.1.0}}}\n"
        "tenants:\n  rocky:\n    clusters: {all: true}\n"
        "    sources: {m: {git: {url: https://git.example.com/a, ref: {tag: v1}}}}\n"
        "    apps: {web: {kustomize: {source: m}}}\n"
    )


def windows(names: str, of_edge: str = "") -> Windows:
    return planned(fleet(names, of_edge)).windows


@table(
    "names, now, found",
    [
        ("", "2026-11-28T12:00", ""),
        ("business", "2026-11-26T14:59", ""),
        ("business", "2026-11-26T15:00", "window 'business' is shut until Mon 2026-11-30 09:00 Europe/Berlin"),
        ("business", "2026-11-28T12:00", "window 'business' is shut until Mon 2026-11-30 09:00 Europe/Berlin"),
        # On the last Sunday of March the clocks of Berlin go forward: 09:00 is 07:00 UTC on the Monday after it.
        ("business", "2026-03-30T06:59", "window 'business' is shut until Mon 2026-03-30 09:00 Europe/Berlin"),
        ("business", "2026-03-30T07:00", ""),
        ("year-end", "2026-12-19T22:59", ""),
        ("year-end", "2026-12-19T23:00", "window 'year-end' is shut until Thu 2027-01-07 00:00 Europe/Berlin"),
        (
            "business, year-end",
            "2026-12-21T10:00",
            "window 'year-end' is shut until Thu 2027-01-07 09:00 Europe/Berlin",
        ),
        # One of several that allow is enough.
        ("business, night", "2026-11-28T03:59", ""),
        (
            "business, night",
            "2026-11-28T04:00",
            "windows 'business', 'night' are shut until Mon 2026-11-30 09:00 Europe/Berlin",
        ),
        ("night", "2026-11-27T21:59", "window 'night' is shut until Fri 2026-11-27 22:00 UTC"),
        ("sundays", "2026-11-30T23:59", ""),
        ("sundays", "2026-12-01T00:00", "window 'sundays' is shut until Sat 2026-12-05 00:00 UTC"),
        ("never", "2026-11-28T12:00", "window 'never' is shut for more than a year"),
        ("past", "2026-11-28T12:00", "window 'past' is shut for more than a year"),
    ],
)
def test_a_window_says_until_when_it_is_shut(names: str, now: str, found: str) -> None:
    closed = shut(windows(names).own, datetime.fromisoformat(now).replace(tzinfo=UTC))
    assert str(closed or "") == found


def test_a_window_of_a_cluster_holds_that_cluster_only() -> None:
    found, now = windows("business", "night"), datetime(2026, 11, 26, 12, tzinfo=UTC)
    assert shut(found.own, now) is None
    assert {name: str(each) for name, each in found.shut_clusters(now).items()} == {
        "edge": "window 'night' is shut until Fri 2026-11-27 22:00 UTC"
    }
    assert found.in_words() == ("business (mon-thu 09:00-16:00 Europe/Berlin); of edge: night (fri 22:00-04:00 UTC)")
    assert found.begin(now) == [
        "changes could begin now: business (mon-thu 09:00-16:00 Europe/Berlin)",
        "changes of edge could begin on Fri 2026-11-27 22:00 UTC: window 'night' is shut",
    ]


def test_an_environment_takes_over_the_windows_of_the_one_that_it_extends() -> None:
    assert planned(fleet("business"), "prod").windows.in_words() == "business (mon-thu 09:00-16:00 Europe/Berlin)"


def test_a_run_waits_unless_an_emergency_ignores_the_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    plan, now = planned(fleet("business")), datetime(2026, 11, 28, 12, tzinfo=UTC)
    message = waits(plan, now)
    assert message == (
        "environment 'dev' waits: window 'business' is shut until Mon 2026-11-30 09:00 Europe/Berlin, so nothing is changed\n"
        "  fix: run the same command again then; in an emergency: tenantry up --environment dev --ignore windows"
    )
    for value, told in {
        "dev windows": "",
        "dev after, windows": "",
        "prod windows": message,
        "dev after": message,
        "dev": message,
        "windows": message,
    }.items():
        monkeypatch.setenv("TENANTRY_IGNORE", value)
        assert waits(plan, now) == told, value


@table(
    "written, told",
    [
        ("a: {allow: {days: [monday]}}", "'monday' is not a day of the week"),
        ("a: {allow: {hours: 9-16}}", "'9-16' is not a time of the day"),
        ('a: {allow: {hours: "09:00-09:00"}}', "'09:00-09:00' is not a time of the day"),
        ("a: {deny: {dates: 2026-02-30}}", "'2026-02-30' has a day that no calendar has"),
        ("a: {deny: {dates: 2026-12-20/2026-01-06}}", "'2026-12-20/2026-01-06' ends before it begins"),
        ("a: {deny: {dates: christmas}}", "'christmas' is neither a day nor a span of days"),
        ("a: {deny: {}}", "'deny:' names no time"),
        ("a: {deny: {days: [mon]}, timeZone: Europe/Berln}", "there is no time zone 'Europe/Berln'"),
        ("a: {deny: {days: [mon]}, timeZone: ../etc}", "there is no time zone '../etc'"),
        ("a: {timeZone: UTC}", "needs either 'allow:' or 'deny:'; it has neither"),
    ],
)
def test_what_is_no_window_is_refused(written: str, told: str) -> None:
    assert told in problems(fleet("a", windows=written)).splitlines()[0]
