"""Who takes what clusters share: the apps and baselines that get their content from a source or a chart."""

from __future__ import annotations

from collections.abc import Mapping

from tenantry.kube.objects import KubeObject, ObjectId, object_id
from tenantry.messages.text import counted
from tenantry.plan.engine_order import Chains, is_reconciled
from tenantry.plan.plan import Plan


class Users:
    """The Kustomizations and HelmReleases behind each source and chart of a plan that clusters share."""

    def __init__(self, plan: Plan) -> None:
        chains = Chains(plan)
        shared = {planned.id for planned in plan.objects if not planned.owner.cluster}
        found: dict[ObjectId, list[KubeObject]] = {}
        for planned in plan.objects if shared else ():
            for manifest in chains.of(planned.id)[:-1] if is_reconciled(planned.id) else ():
                if (id := object_id(manifest)) in shared:
                    found.setdefault(id, []).append(planned)
        self._users: Mapping[ObjectId, list[KubeObject]] = found
        self._clusters = {planned.owner.cluster for planned in plan.objects} - {""}

    def of(self, id: ObjectId) -> list[KubeObject]:
        """The users of an object; empty if clusters do not share it, or if it is neither a source nor a chart."""
        return self._users.get(id, [])

    def in_words(self, id: ObjectId) -> str:
        """Such as: used on 412 of 750 clusters. Empty without users, or if there is one cluster alone."""
        clusters, total = {user.owner.cluster for user in self.of(id)}, len(self._clusters)
        return f"used on {len(clusters)} of {counted(total, 'cluster')}" if clusters and total > 1 else ""
