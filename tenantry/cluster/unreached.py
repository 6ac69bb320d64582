"""What is said of a cluster that Flux does not reach: what it has, and what it lacks. The management cluster knows both."""

from __future__ import annotations

from typing import NamedTuple

from tenantry.cluster.failures import is_cut_off
from tenantry.cluster.standing import Live, Needs, Standing, is_of, needs_of, revision_of_source, standing
from tenantry.cluster.status import Readiness, condition, one_line, revision_of
from tenantry.kube.objects import Manifest, ObjectId
from tenantry.messages.data import mapping_at
from tenantry.plan.plan import Plan


class Known(NamedTuple):
    """How a reconciler is.

    behind: what its cluster lacks, if Flux does not reach that: a revision, `changed settings` or `everything`; else "".
    """

    readiness: Readiness
    message: str
    cause: ObjectId
    behind: str = ""


class Standings:
    """How the reconcilers of a plan are."""

    def __init__(self, plan: Plan, live: Live) -> None:
        self.needs, self._live = needs_of(plan), live
        self._clusters = {each.id: each.owner.cluster for each in plan.objects if each.id in self.needs}
        self._unreached = {cluster for id, cluster in self._clusters.items() if is_cut_off(live.get(id, {}))}

    def of(self, id: ObjectId) -> Known:
        """How one reconciler is. What a cluster cannot get for want of a connection has not failed: it is unreachable."""
        needs, found, cluster = self.needs[id], self._live.get(id), self._clusters[id]
        stands = standing(id, needs, self._live)
        if found is None or cluster not in self._unreached or not _is_lost(stands, needs, found):
            return Known(*stands)
        revision = revision_of_source(needs, self._live)
        has, behind = revision_of(mapping_at(found, "status")), _behind(revision, found)
        lacks = f"it has {one_line(has)} and lacks {one_line(behind)}" if has else "it has nothing of it yet"
        told = f", which is behind: {lacks};" if behind else ":"
        message = f"Flux does not reach {cluster}{told} {stands.message}"
        return Known(Readiness.UNREACHABLE, message, stands.cause, behind)


def _is_lost(stands: Standing, needs: Needs, found: Manifest) -> bool:
    """Whether a reconciler of a cluster that Flux does not reach can be no better for that alone."""
    if stands.readiness not in (Readiness.FAILED, Readiness.PROGRESSING) or stands.cause in needs.sources:
        return False
    # While Flux tries again, nothing tells why the attempt before failed.
    told = condition(mapping_at(found, "status"), "Ready").get("status") == "False"
    return stands.readiness is Readiness.PROGRESSING or not told or is_cut_off(found)


def _behind(revision: str, found: Manifest) -> str:
    """What has changed on the management cluster since Flux reached the cluster. revision: of the source."""
    status = mapping_at(found, "status")
    if not revision_of(status):
        return revision or "everything"
    if not is_of(revision, found):
        return revision
    is_observed = status.get("observedGeneration") == mapping_at(found, "metadata").get("generation")
    return "" if is_observed else "changed settings"
