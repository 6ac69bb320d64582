"""What no longer waits: for a wave, although the environment has a rollout, or for the environment before."""

from __future__ import annotations

from collections.abc import Iterator

from tenantry.compare.diff import Status
from tenantry.compare.review.dangers.apps import app_in_words
from tenantry.compare.review.dangers.found import Found, Rank
from tenantry.compare.review.dangers.pieces import Pieces
from tenantry.compare.review.model import DangerKind
from tenantry.plan.plan import Plan
from tenantry.plan.planned_apps import PlannedApp
from tenantry.rollout.bypasses import bypass, is_range
from tenantry.rollout.waves import rollout_name


def gate_dangers(pieces: Pieces) -> Iterator[Found]:
    one, other = pieces.diff.after
    if one is None or pieces.diff.status is not Status.KEPT:
        return
    if other is None:
        lead = f"without its gate, changes no longer wait for {one.environment}"
    elif other.environment != one.environment:
        lead = f"changes wait for {other.environment}, and no longer for {one.environment}"
    elif other.is_weaker_than(one):
        lead = f"changes wait less for {one.environment}: {one} -> {other}"
    else:
        return
    yield Found(DangerKind.GATE, Rank.WORK, "", "", lead=lead, nobody=True)


def rollout_dangers(pieces: Pieces) -> Iterator[Found]:
    if pieces.before.rollouts and not pieces.after.rollouts:
        lead = "without its rollout, changes reach all clusters at the same time"
        yield Found(DangerKind.ROLLOUT, Rank.WORK, "", "", lead=lead, nobody=True)
    if not pieces.after.rollouts:
        return
    yield from _leavers(pieces)
    known = {(each.tenant, each.name, followed) for each, followed in _followers(pieces.before)}
    for each, what in _followers(pieces.after):
        if (each.tenant, each.name, what) not in known:
            more = "; pin it with `tenantry update --pin`" if is_range(what) else ""
            yield _of(each, each.cluster, f"follows {what}: what is new there bypasses the waves{more}")


def _of(app: PlannedApp, cluster: str, verb: str) -> Found:
    who = app_in_words(app)
    return Found(DangerKind.ROLLOUT, Rank.WORK, app.tenant, cluster, (verb, verb), who=who, nowhere=True)


def _leavers(pieces: Pieces) -> Iterator[Found]:
    """The apps of both plans that were in waves and are in none now."""
    left = {each.name for each in pieces.diff.rollouts if each.after is False}
    if not (left and pieces.before.rollouts):
        return
    words = "leaves the waves: its changes reach all of its clusters at the same time"
    for each in pieces.before.apps:
        if rollout_name(each.tenant, each.name) in left:
            yield _of(each, "", words)


def _followers(plan: Plan) -> Iterator[tuple[PlannedApp, str]]:
    """The apps in waves that Flux changes by itself, each with what it follows."""
    if not plan.rollouts:
        return
    objects = {each.id: each for each in plan.objects}
    for each in plan.apps:
        if plan.wave_of(each.id) and (what := bypass(each, objects)):
            yield each, what
