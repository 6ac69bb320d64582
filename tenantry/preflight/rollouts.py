"""Checks that the first wave of a rollout can show whether a change is good."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime

from tenantry.cluster.states import states_of
from tenantry.kube.objects import Manifest
from tenantry.messages.errors import Problem, warning
from tenantry.messages.text import listed, one_line
from tenantry.plan.plan import Plan
from tenantry.rollout.flux_status import Readiness


def check_rollout(plan: Plan, live: Iterable[Manifest], now: datetime) -> Iterator[Problem]:
    """Yields a warning for a first wave that nothing waits for, or that has failed already.

    live: the environment's Kustomizations and HelmReleases; may hold other objects too.
    """
    if plan.rollout is None or len(plan.rollout.waves) < 2:  # nothing is held back
        return
    first = plan.rollout.waves[0]
    whose = f"of environment '{plan.environment}'"
    if not first.clusters:
        yield warning(
            "empty-first-wave",
            f"nothing waits for the first wave {whose}: "
            f"{listed(first.left_out)} {'is' if len(first.left_out) == 1 else 'are'} paused or decommissioned",
            "put an active cluster into the first wave; until then a change reaches the second wave untried",
        )
        return
    failed: dict[str, str] = {}
    for state in states_of(plan, live, now).values():
        app, is_first = state.stands_for, state.wave is not None and state.wave.number == first.number
        if app and is_first and app.cluster in first.clusters and state.readiness is Readiness.FAILED:
            failed.setdefault(app.cluster, f"{app.cluster} {app.full_name}: {one_line(state.message)}")
    if len(failed) > first.tolerate.failed:
        yield warning(
            "failed-first-wave",
            f"the first wave {whose} has failed already: {listed(failed.values(), 3)}",
            "correct it with this change, or before it: what this change gives it is blocked in the later waves",
        )
