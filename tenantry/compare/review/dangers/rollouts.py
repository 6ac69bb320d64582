"""What no longer goes, or does not go, in waves although the environment has a rollout."""

from __future__ import annotations

from collections.abc import Iterator

from tenantry.compare.review.dangers.found import Found, Rank
from tenantry.compare.review.dangers.pieces import Pieces
from tenantry.compare.review.model import DangerKind
from tenantry.plan.bypasses import bypass
from tenantry.plan.plan import Plan
from tenantry.plan.planned_apps import PlannedApp


def rollout_dangers(pieces: Pieces) -> Iterator[Found]:
    if pieces.before.rollouts and not pieces.after.rollouts:
        lead = "without its rollout, changes reach all clusters at the same time"
        yield Found(DangerKind.ROLLOUT, Rank.WORK, "", "", lead=lead, nobody=True)
    if not pieces.after.rollouts:
        return
    known = {(each.tenant, each.name, followed) for each, followed in _followers(pieces.before)}
    for each, what in _followers(pieces.after):
        if (each.tenant, each.name, what) not in known:
            verb = (
                f"follows {what}: what is new there bypasses the waves",
                f"follow {what}: what is new there bypasses the waves",
            )
            who = f"app '{each.name}'" if each.tenant else f"add-on '{each.name}'"
            yield Found(DangerKind.ROLLOUT, Rank.WORK, each.tenant, each.cluster, verb, "", "", who, nowhere=True)


def _followers(plan: Plan) -> Iterator[tuple[PlannedApp, str]]:
    """The apps in waves that Flux changes by itself, each with what it follows."""
    if not plan.rollouts:
        return
    objects = {each.id: each for each in plan.objects}
    for each in plan.apps:
        if plan.wave_of(each.id) and (what := bypass(each, objects)):
            yield each, what
