"""Which apps of an environment a command is about: by tenant, app and cluster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tenantry.guard.kept import Kept
from tenantry.guard.places import label, whose
from tenantry.kube.names import ADDON_PREFIX, PLATFORM
from tenantry.kube.objects import Manifest, labels_of
from tenantry.messages.errors import UNKNOWN_NAME, Refused
from tenantry.messages.text import declared
from tenantry.plan.objects.scope import APP_LABEL
from tenantry.plan.plan import Plan
from tenantry.plan.planned_apps import PlannedApp


@dataclass(frozen=True, slots=True)
class Selection:
    """Empty sets select everything. The tenant "" is the platform, whose apps are add-ons."""

    tenants: frozenset[str] = frozenset()
    apps: frozenset[str] = frozenset()
    clusters: frozenset[str] = frozenset()

    def takes(self, app: PlannedApp) -> bool:
        """Whether an app is selected."""
        return self._takes(app.tenant, app.name, app.cluster)

    def takes_labelled(self, manifest: Manifest) -> bool:
        """Whether the labels of an object say that it belongs to what is selected."""
        said = whose(manifest)
        return self._takes(said.tenant, label(labels_of(manifest), APP_LABEL), said.cluster)

    def takes_kept(self, kept: Kept) -> bool:
        """Whether a namespace was left by what is selected."""
        return self._takes(kept.tenant, "", kept.cluster)

    def _takes(self, tenant: str, app: str, cluster: str) -> bool:
        return (
            (not self.tenants or tenant in self.tenants)
            and (not self.apps or app in self.apps)
            and (not self.clusters or cluster in self.clusters)
        )


def select(
    plan: Plan, tenants: Sequence[str] = (), apps: Sequence[str] = (), clusters: Sequence[str] = ()
) -> Selection:
    """The selection that options name. `platform` is the platform team; an add-on can also be `platform/ADDON`.

    Raises: Refused: the environment has no such tenant, app or cluster; a later option is checked within the earlier ones.
    """
    if not any(each.tenant == PLATFORM for each in plan.apps):  # a tenant may be called so
        tenants = ["" if each == PLATFORM else each for each in tenants]
    apps = [each.removeprefix(ADDON_PREFIX) for each in apps]
    left = plan.apps
    for names, key, lacks in (
        (tenants, _tenant_of, "no apps of tenant"),
        (apps, _name_of, "no app"),
        (clusters, _cluster_of, "no apps on cluster"),
    ):
        there = {key(each) for each in left}
        for name in names:
            if name not in there:
                known = declared("name one of these", name, {each or PLATFORM for each in there})
                message = f"environment '{plan.environment}' has {lacks} '{name or PLATFORM}'"
                raise Refused(message, known, code=UNKNOWN_NAME)
        left = tuple(each for each in left if not names or key(each) in names)
    return Selection(frozenset(tenants), frozenset(apps), frozenset(clusters))


def _tenant_of(app: PlannedApp) -> str:
    return app.tenant


def _name_of(app: PlannedApp) -> str:
    return app.name


def _cluster_of(app: PlannedApp) -> str:
    return app.cluster
