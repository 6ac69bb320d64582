"""What a reviewer has to look at first: judged by planned objects, and by a table of keys that change no object.

Never: judges what an app installs, because a plan does not hold it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tenantry.facts.changes import Occurrence
from tenantry.facts.dangers.apps import app_dangers, immutable_dangers
from tenantry.facts.dangers.limits import limit_dangers, network_dangers
from tenantry.facts.dangers.pieces import ClusterDanger, Danger, DangerKind, Pieces, joined
from tenantry.facts.dangers.removals import of_facts, removal_dangers, rollout_dangers
from tenantry.facts.dangers.rights import grant_dangers, rights_dangers
from tenantry.facts.facts import CLUSTER, ENVIRONMENT, Homes
from tenantry.facts.objects import Difference, Status
from tenantry.fleet.fleet import Fleet

__all__ = ["Danger", "DangerKind", "dangers"]

_JUDGES = (rights_dangers, app_dangers, network_dangers, limit_dangers, rollout_dangers)
_OF_KEPT = (removal_dangers, immutable_dangers)
"""Of an environment that keeps its management cluster."""


def dangers(
    diff: Difference, changes: Iterable[Occurrence], before: Fleet | None, after: Fleet, homes: Homes
) -> tuple[Danger, ...]:
    """The dangers of a difference, the worst first. Args: changes: the facts that differ; before, after: both files."""
    return joined(_found(diff, changes, before, after), homes)


def _found(
    diff: Difference, changes: Iterable[Occurrence], before: Fleet | None, after: Fleet
) -> Iterator[ClusterDanger]:
    if diff.status is Status.REMOVED:
        text = (
            "it is no longer declared: `pulumi up` of its stack is refused, and all of it stays until `pulumi destroy`"
        )
        yield ClusterDanger(DangerKind.DELETION, ENVIRONMENT, "", text)
        return
    # On another management cluster everything is new.
    yield from of_facts(change for change in changes if not (diff.elsewhere and change.subject is CLUSTER))
    if before is not None and diff.status is Status.KEPT:
        yield from grant_dangers(before, after, diff.environment)
    pieces = Pieces(diff)
    for judge in (*_JUDGES, *(() if diff.elsewhere else _OF_KEPT)):
        yield from judge(pieces)
