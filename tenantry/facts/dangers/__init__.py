"""What a reviewer has to look at first: judged by planned objects, and by a table of keys that change no object.

Never: judges what an app installs, because a plan does not hold it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tenantry.facts.changes import Occurrence
from tenantry.facts.dangers.apps import app_dangers, immutable_dangers
from tenantry.facts.dangers.danger import ClusterDanger, Danger, DangerKind, joined
from tenantry.facts.dangers.limits import limit_dangers
from tenantry.facts.dangers.network import network_dangers
from tenantry.facts.dangers.pieces import Pieces
from tenantry.facts.dangers.removals import removal_dangers, rollout_dangers
from tenantry.facts.dangers.rights import grant_dangers, rights_dangers
from tenantry.facts.dangers.table import of_facts
from tenantry.facts.objects import Difference, Status
from tenantry.facts.subjects import CLUSTER, ENVIRONMENT, Homes
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
