"""What a reviewer has to look at first, judged by the planned objects of both plans and not by keys of the file.

Called by: `review.build`, for every format.
Never: judges what an app installs, because a plan does not hold it.
"""

from __future__ import annotations

from collections.abc import Iterator

from tenantry.compare.diff import Diff, Status
from tenantry.compare.review.dangers.apps import app_dangers, app_in_words
from tenantry.compare.review.dangers.found import Found, Homes, Pieces, in_sentences
from tenantry.compare.review.dangers.limits import quota_dangers, security_dangers
from tenantry.compare.review.dangers.network import network_dangers
from tenantry.compare.review.dangers.platform import gate_dangers, platform_dangers, rollout_dangers
from tenantry.compare.review.dangers.removals import removal_dangers, whole_environment
from tenantry.compare.review.dangers.rights import rights_dangers
from tenantry.compare.review.model import Danger
from tenantry.plan.plan import Plan

_ALL = (
    rights_dangers,
    app_dangers,
    network_dangers,
    security_dangers,
    quota_dangers,
    platform_dangers,
    rollout_dangers,
    gate_dangers,
)


def dangers(diff: Diff, before: Plan, after: Plan) -> tuple[Danger, ...]:
    """The dangers of a difference, the worst first. Equal ones of several tenants or clusters are one danger."""
    found = tuple(_found(diff, before, after))
    if not found:  # the usual case, and what follows looks at all objects of both plans
        return ()
    clusters = {planned.owner.cluster for plan in (before, after) for planned in plan.objects} - {""}
    return tuple(in_sentences(found, len(clusters), _homes(before, after)))


def _homes(*plans: Plan) -> Homes:
    """The clusters of each tenant, and of each of its apps as a sentence names it."""
    found: dict[tuple[str, str], set[str]] = {}
    for plan in plans:
        for placement in plan.placements:
            found.setdefault((placement.tenant, ""), set()).add(placement.cluster)
        for app in plan.apps:
            found.setdefault((app.tenant, app_in_words(app)), set()).add(app.cluster)
    return found


def _found(diff: Diff, before: Plan, after: Plan) -> Iterator[Found]:
    yield from whole_environment(diff, before)
    if diff.status is Status.REMOVED:
        return
    pieces = Pieces(diff, before, after)
    for subject in _ALL:
        yield from subject(pieces)
    if not diff.elsewhere:
        yield from removal_dangers(pieces)
