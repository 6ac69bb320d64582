"""Changes that no longer go in waves: of a whole environment, or of apps that Flux changes by itself."""

from __future__ import annotations

from collections.abc import Iterator

from tenantry.facts.dangers.found import DangerKind, Found, Rank
from tenantry.facts.dangers.pieces import Pieces
from tenantry.facts.subjects import ENVIRONMENT, subject_of
from tenantry.plan.bypasses import bypass, is_range
from tenantry.plan.plan import Plan
from tenantry.plan.planned_apps import PlannedApp


def rollout_dangers(pieces: Pieces) -> Iterator[Found]:
    """An environment that loses its waves; and the apps in waves that follow a branch or a range from now on."""
    if pieces.before.rollout and not pieces.after.rollout:
        text = "without its waves, changes reach all clusters at the same time"
        yield Found(DangerKind.ROLLOUT, Rank.WORK, ENVIRONMENT, "", text)
    known = {(app.full_name, followed) for app, followed in _followers(pieces.before)}
    for app, followed in _followers(pieces.after):
        if (app.full_name, followed) not in known:
            pin = "; to pin it, write a version in place of the range" if is_range(followed) else ""
            text = f"follows {followed}: what is new there bypasses the waves{pin}"
            yield Found(DangerKind.ROLLOUT, Rank.WORK, subject_of(app), app.cluster, text)


def _followers(plan: Plan) -> Iterator[tuple[PlannedApp, str]]:
    if plan.rollout:
        objects = {planned.id: planned for planned in plan.objects}
        for app in plan.apps:
            if plan.wave_of(app.id) and (followed := bypass(app, objects)):
                yield app, followed
