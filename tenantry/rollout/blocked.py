"""Which objects of a change may not be applied yet, and why: one pure function, which a run asks again and again.

`Change` says what differs from the plan, `Evidence` how the clusters are. Nothing here reads a cluster or a clock.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import NamedTuple

from tenantry.kube.objects import ObjectId
from tenantry.rollout.asking import Asking
from tenantry.rollout.change import NOTHING, Change, Evidence, Ignoring
from tenantry.rollout.judging import Request
from tenantry.rollout.reasons import Reason
from tenantry.rollout.removals import blocked_removals


class Answer(NamedTuple):
    """What an asking finds.

    blocked: the objects that may not be applied yet, or not be removed. unready: the lines in which the run has applied something
    that is not ready. requests: what Flux has to be asked for, so that it goes on: configs that it has not read again, and an index
    without a new chart.
    """

    blocked: dict[ObjectId, Reason]
    unready: dict[str, Reason]
    requests: list[Request]


def blocked(change: Change, evidence: Evidence, now: datetime, ignoring: Ignoring = NOTHING) -> dict[ObjectId, Reason]:
    """The objects of a change that may not be applied yet, or not be removed, each with the reason."""
    return ask(change, evidence, now, ignoring).blocked


def ask(
    change: Change,
    evidence: Evidence,
    now: datetime,
    ignoring: Ignoring = NOTHING,
    applied: Collection[ObjectId] = (),
) -> Answer:
    """What is blocked, and what of this run is not ready yet. applied: what this run has applied."""
    asking = Asking(change, evidence, now, ignoring, applied)
    reasons = asking.blocked()
    unready = asking.unready(reasons)
    requests = [
        request for request in dict.fromkeys(asking.requests) if request.id not in evidence.asked or not request.once
    ]
    return Answer(reasons | blocked_removals(asking, reasons), unready, requests)
