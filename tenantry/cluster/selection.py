"""Which tenants, apps and clusters of an environment a command is about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tenantry.fleet.placement import in_another_environment
from tenantry.guard.claims import Kept
from tenantry.guard.places import label, whose
from tenantry.kube.names import ADDON_PREFIX, PLATFORM
from tenantry.kube.objects import KubeObject, Manifest, labels_of
from tenantry.messages.errors import UNKNOWN_NAME, Refused
from tenantry.messages.text import declared
from tenantry.plan.engine_order import Users
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
        return self.names(app.tenant, app.name, app.cluster)

    def takes_labelled(self, manifest: Manifest) -> bool:
        """Whether the labels of an object say that it belongs to what is selected."""
        owner = whose(manifest)
        return self.names(owner.tenant, label(labels_of(manifest), APP_LABEL), owner.cluster)

    def takes_planned(self, planned: KubeObject, users: Users) -> bool:
        """Whether an object is selected, or takes part in what is: clusters share sources and charts."""
        return self.takes_labelled(planned.manifest) or any(
            self.takes_labelled(user.manifest) for user in users.of(planned.id)
        )

    def takes_kept(self, kept: Kept) -> bool:
        """Whether a namespace was left by what is selected."""
        return self.names(kept.tenant, "", kept.cluster)

    def names(self, tenant: str, app: str, cluster: str) -> bool:
        """Whether the app of a tenant on a cluster is selected."""
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
    if not any(app.tenant == PLATFORM for app in plan.apps):  # a tenant may be called so
        tenants = ["" if tenant == PLATFORM else tenant for tenant in tenants]
    apps = [app.removeprefix(ADDON_PREFIX) for app in apps]
    selected = plan.apps
    for names, key, lacks in (
        (tenants, "tenant", "no apps of tenant"),
        (apps, "name", "no app"),
        (clusters, "cluster", "no apps on cluster"),
    ):
        existing: set[str] = {getattr(app, key) for app in selected}
        for name in names:
            if name not in existing:
                known = declared("name one of these", name, {known or PLATFORM for known in existing})
                of = f" of {' or '.join(tenant or PLATFORM for tenant in tenants)}" if key == "name" and tenants else ""
                message = f"environment '{plan.environment}' has {lacks} '{name or PLATFORM}'{of}"
                homes = plan.homes.get(name, ()) if key == "cluster" else ()
                if homes and plan.environment not in homes:
                    message = in_another_environment(name, homes, plan.environment)
                raise Refused(message, known, code=UNKNOWN_NAME)
        selected = tuple(app for app in selected if not names or getattr(app, key) in names)
    return Selection(frozenset(tenants), frozenset(apps), frozenset(clusters))
