"""Lines: one subject through the waves, and the reconcilers that count for it in each.

A subject is an app such as `rocky/web` or `platform/dns`, or `rocky` and `platform` for what is of no single app.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from tenantry.kube.names import PLATFORM, app_name
from tenantry.kube.objects import Manifest, ObjectId, Owner, labels_of
from tenantry.plan.engine_order import becomes_ready, is_reconciled
from tenantry.plan.objects.scope import APP_LABEL, CLUSTER_LABEL, TENANT_LABEL
from tenantry.plan.plan import Plan
from tenantry.rollout.readiness import Reconciler, reconcilers_of
from tenantry.rollout.waves import subjects_of


class Place(NamedTuple):
    """Where a removed object belongs. wave: its number; 0: none."""

    subject: str
    wave: int
    owner: Owner


@dataclass(frozen=True, slots=True)
class Lines:
    """The lines of a plan.

    subjects: of each planned object; several for a source that several apps take.
    members: by subject and number of the wave, the clusters that count, with their reconcilers.
    empty: subjects and waves of which every cluster is paused or decommissioned, or every app suspended.
    """

    plan: Plan
    reconcilers: Mapping[ObjectId, Reconciler]
    subjects: Mapping[ObjectId, tuple[str, ...]]
    members: Mapping[str, Mapping[int, Mapping[str, list[Reconciler]]]]
    empty: Collection[tuple[str, int]]

    @classmethod
    def of(cls, plan: Plan) -> Lines:
        subjects = subjects_of(plan.objects, plan.apps)
        reconcilers = reconcilers_of(plan)
        members_by: dict[str, dict[int, dict[str, list[Reconciler]]]] = defaultdict(lambda: defaultdict(dict))
        suspended: dict[tuple[str, int], set[str]] = defaultdict(set)
        for planned in plan.objects:
            wave, cluster = plan.wave_of(planned.id), planned.owner.cluster
            if wave is None or not cluster:
                continue
            for subject in subjects[planned.id]:
                if cluster not in wave.clusters:
                    suspended[subject, wave.number].add(cluster)
                    continue
                mine = members_by[subject][wave.number].setdefault(cluster, [])
                if is_reconciled(planned.id):
                    if becomes_ready(planned.manifest):
                        mine.append(reconcilers[planned.id])
                    else:
                        suspended[subject, wave.number].add(cluster)
        for (subject, number), clusters in suspended.items():
            members = members_by[subject][number]
            for cluster in clusters:
                if not members.get(cluster):
                    members.pop(cluster, None)
        empty = {key for key in suspended if not members_by[key[0]][key[1]]}
        return cls(plan, reconcilers, subjects, members_by, empty)

    def name_of(self, id: ObjectId) -> str:
        """What users call an object: `rocky/web on edge-1`, or kind and name."""
        reconciler = self.reconcilers.get(id)
        return f"{reconciler.name} on {reconciler.owner.cluster}" if reconciler else str(id)

    def place_of(self, removed: Manifest) -> Place:
        """Where an object that is no longer planned belongs, as its labels say."""
        labels = labels_of(removed)
        tenant, cluster, app = (str(labels.get(key) or "") for key in (TENANT_LABEL, CLUSTER_LABEL, APP_LABEL))
        subject = app_name(tenant, app) if app else tenant or PLATFORM
        wave = self.plan.rollout.by_cluster().get(cluster) if self.plan.rollout and cluster else None
        at_once = app and subject in self.plan.off
        return Place(subject, 0 if wave is None or at_once else wave.number, Owner(tenant, cluster))
