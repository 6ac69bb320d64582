"""Checks that the first wave of each rollout can show whether a change is good."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tenantry.cluster.apps import statuses
from tenantry.cluster.status import AppStatus, Readiness, one_line
from tenantry.kube.objects import Manifest, Owner
from tenantry.messages.errors import Problem, warning
from tenantry.messages.text import listed, printable
from tenantry.plan.plan import Plan
from tenantry.rollout.waves import Rollout, Wave


def check_rollouts(plan: Plan, live: Iterable[Manifest]) -> Iterator[Problem]:
    """Yields a warning for each first wave that nothing waits for, or that has failed already.

    live: the environment's Kustomizations and HelmReleases; may hold other objects too.
    """
    if not plan.rollouts:
        return
    states = statuses(plan, live)
    for rollout in plan.rollouts:
        if len(rollout.waves) < 2:  # nothing is held back
            continue
        first = rollout.waves[0]
        whose = f"of {printable(rollout.name)}" if rollout.name else f"of environment '{plan.environment}'"
        left = "paused or leaving" if rollout.by == "tenants" else "paused or decommissioned"
        if not first.units:
            yield warning(
                "empty-first-wave",
                f"nothing waits for the first wave {whose}: "
                f"{listed(first.left_out)} {'is' if len(first.left_out) == 1 else 'are'} {left}",
                f"put an active {rollout.noun} into the first wave; until then a change reaches the second wave untried",
            )
        elif len(failed := _failed(plan, rollout, first, states)) > first.tolerate.failed:
            yield warning(
                "failed-first-wave",
                f"the first wave {whose} has failed already: {listed(failed.values(), 3)}",
                "correct it with this change, or before it: what this change gives it goes no further than the first wave",
            )


def _failed(plan: Plan, rollout: Rollout, wave: Wave, states: Iterable[AppStatus]) -> dict[str, str]:
    """The clusters or tenants of a wave with an app that has failed, and the first such app of each."""
    failed: dict[str, str] = {}
    for state in states:
        if plan.wave_of(state.app.id) == (rollout, wave) and state.readiness is Readiness.FAILED:
            unit = rollout.unit_of(Owner(state.app.tenant, state.app.cluster))
            failed.setdefault(unit, f"{state.app.cluster} {state.app.full_name}: {one_line(state.message)}")
    return {name: text for name, text in failed.items() if name in wave.units}
