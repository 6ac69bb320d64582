"""What a run says of what it holds."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from tenantry.kube.objects import ObjectId
from tenantry.rollout.change import Kind, Lines, Reason, format_summary
from tests.unit.texts import planned, rocky

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
APPS = "\n".join(f"{name}: {{kustomize: {{source: manifests}}}}" for name in ("web", "api", "db"))
PLAN = planned(rocky(APPS, "clusters: {names: [edge]}"))
WEB, API, DB = (next(each.id for each in PLAN.apps if each.name == name) for name in ("web", "api", "db"))


def summary(reasons: dict[ObjectId, Reason]) -> str:
    return format_summary(Lines(PLAN), reasons, NOW)


def test_equal_reasons_are_one_line_and_a_failure_comes_with_the_ways_on() -> None:
    failed = Reason(Kind.FAILED, "wave 1 of 3 (canary): edge-1: rocky/web: no such path", wave=1)
    soaks = Reason(Kind.WAITING, "wave 1 of 3 (canary) soaks", NOW + timedelta(minutes=30))
    assert summary({WEB: failed, API: failed, DB: soaks}) == (
        "3 objects of environment 'dev' are blocked and held\n"
        "  failed: wave 1 of 3 (canary): edge-1: rocky/web: no such path\n"
        "    rocky/web on edge, rocky/api on edge\n"
        "  waiting: wave 1 of 3 (canary) soaks until 2026-01-01T12:30:00Z (30m more)\n"
        "    rocky/db on edge\n"
        "  fix: repair it, then run the same command again; or revert the change; or set 'state: paused' for that cluster or app;"
        " or in an emergency let one line through: tenantry up dev --ignore waves rocky/web"
    )


def test_what_only_time_or_a_deletion_lifts_says_to_run_again() -> None:
    assert summary({DB: Reason(Kind.WAITING, "soaks")}).endswith(
        "\n  fix: run the same command again later: tenantry up dev"
    )
    assert summary({DB: Reason(Kind.DELETING, "wave 1 loses it first")}).endswith(
        "\n  fix: run the same command again; `tenantry up dev` begins a run for each wave by itself"
    )
