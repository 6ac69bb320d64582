"""Objects that a change of something larger accounts for: the environment, a cluster, or a tenant on a cluster."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import cached_property

from tenantry.compare.diff import Diff, Status
from tenantry.compare.review.gather import Gathered
from tenantry.compare.review.model import Effect, Part, PartKind
from tenantry.compare.review.parts import Side, Spot, given_up, state_at
from tenantry.compare.review.renames import Rename
from tenantry.kube.objects import Manifest
from tenantry.messages.text import grouped, listed
from tenantry.plan.planned_apps import PlannedApp


def is_replaced(diff: Diff) -> bool:
    """Whether nothing of the environment stays what it is."""
    return diff.status is Status.REMOVED or diff.elsewhere


class Wholes:
    """Which of them a part on a cluster belongs to, and what is said of each."""

    def __init__(self, found: Gathered, renamed: Iterable[Rename]) -> None:
        self._found = found
        self._fates = {(each.kind, each.after): each.fate for each in renamed}
        self._names = {(app.tenant, app.name) for app in found.before.plan.apps}
        self._kept = {key for key in found.before.apps if key in found.after.apps}
        self._kept_names = {(tenant, name) for tenant, _, name in self._kept}
        self._clusters_of = tuple(grouped(side.plan.apps, _name) for side in (found.before, found.after))
        self._on: dict[bool, dict[tuple[str, str], list[PlannedApp]]] = {
            is_new: grouped(side.plan.apps, lambda app: (app.tenant, app.cluster))
            for is_new, side in ((False, found.before), (True, found.after))
        }

    def of(self, spot: Spot) -> tuple[Spot, Effect] | None:
        """What accounts for the part; None: it has a change of its own."""
        part, cluster = spot
        if is_replaced(self._found.diff):
            environment = self._found.diff.environment
            effect = Effect.REMOVED if self._found.diff.status is Status.REMOVED else Effect.CHANGED
            return Spot(Part(PartKind.ENVIRONMENT, "", environment), ""), effect
        if cluster in self._found.old_clusters or cluster in self._found.new_clusters:
            name = self._found.new_clusters.get(cluster, cluster)
            return Spot(Part(PartKind.CLUSTER, "", name), name), Effect.RENAMED
        return self._of_tenant(spot) if part.tenant else self._of_platform(spot)

    def keeps(self, spot: Spot) -> bool:
        """Whether an app stays although all of its objects are replaced. spot: with its new names."""
        diff = self._found.diff
        if diff.status is Status.KEPT and is_replaced(diff):
            return True
        return spot.cluster in self._found.old_clusters or spot.part.tenant in self._found.old_tenants

    def was(self, part: Part) -> str:
        """The former name of a tenant or a cluster."""
        if part.kind is PartKind.CLUSTER:
            return self._found.old_clusters.get(part.name, "")
        return self._found.old_tenants.get(part.tenant, "") if part.kind is PartKind.TENANT else ""

    def _of_tenant(self, spot: Spot) -> tuple[Spot, Effect] | None:
        (kind, tenant, name), cluster = spot
        before, after = self._found.before, self._found.after
        if tenant in self._found.old_tenants or tenant in self._found.new_tenants:
            new = self._found.new_tenants.get(tenant, tenant)
            return Spot(Part(PartKind.TENANT, new, new), cluster), Effect.RENAMED
        here, there = (tenant, cluster) in before.placements, (tenant, cluster) in after.placements
        whole = Spot(Part(PartKind.TENANT, tenant, tenant), cluster)
        if here and not there:
            return whole, Effect.REMOVED
        if there and not here and tenant in before.tenants:
            is_own = kind is PartKind.APP and (tenant, name) not in self._kept_names
            return None if is_own else (whole, Effect.ADDED)
        return None

    def _of_platform(self, spot: Spot) -> tuple[Spot, Effect] | None:
        (kind, _, name), cluster = spot
        before, after = self._found.before, self._found.after
        whole = Spot(Part(PartKind.CLUSTER, "", cluster), cluster)
        if cluster in before.clusters and cluster not in after.clusters:
            return whole, Effect.REMOVED
        if cluster not in before.clusters and cluster in after.clusters:
            return None if kind is PartKind.ADDON and ("", name) not in self._names else (whole, Effect.ADDED)
        return None

    # --- sentences ----------------------------------------------------------------------------------------------------

    @cached_property
    def given_up(self) -> frozenset[tuple[str, str, str]]:
        """The namespaces that were off-boarded before."""
        return given_up(self._found.before.plan)

    def sentences(self, whole: Spot, effect: Effect) -> tuple[str, ...]:
        """What happens to a cluster, or to a tenant on a cluster."""
        match whole.part.kind, effect:
            case PartKind.TENANT, Effect.REMOVED:
                return tuple(self._tenant_goes(whole.part.tenant, whole.cluster))
            case PartKind.TENANT, Effect.ADDED:
                return (self._content(whole.part.tenant, whole.cluster, self._found.after, is_new=True),)
            case PartKind.CLUSTER, Effect.ADDED:
                return (f"it is used for the first time: {self._guests(whole.cluster, self._found.after)}",)
            case PartKind.CLUSTER, Effect.REMOVED:
                return (self._cluster_goes(whole.cluster),)
            case _, Effect.RENAMED:
                return (self._fates[whole.part.kind, whole.part.name],)
        return ()

    def _tenant_goes(self, tenant: str, cluster: str) -> list[str]:
        content = self._content(tenant, cluster, self._found.before, is_new=False)
        if self._is_given_up(cluster):
            return [f"{content}: its workloads stay there, because the cluster was given up"]
        goes = any(each[:2] == (tenant, cluster) for each in self.given_up)
        stays = "apps and rights are deleted, and namespaces stay with their data"
        told = [f"{'everything in it is deleted' if goes else stays}: {content}"]
        for app in self._on[False].get((tenant, cluster), ()):
            if stays := what_stays(self._found.before.objects[app.id].manifest):
                told.append(f"app {app.name}: {stays}")
            if other := self._moves(app):
                told.append(f"app {app.name} moves to {other}")
        return told

    def _moves(self, app: PlannedApp) -> str:
        """Where an app comes to that is on no cluster where it was before."""
        if (app.tenant, app.name) in self._kept_names:
            return ""
        return listed(each.cluster for each in self._clusters_of[1].get(_name(app), ()))

    def came_from(self, spot: Spot) -> str:
        """The clusters where an app was before, if it is on none of them any more."""
        name = (spot.part.tenant, spot.part.name)
        if name in self._kept_names or name not in self._names:
            return ""
        return listed(each.cluster for each in self._clusters_of[0][name])

    def goes_to(self, spot: Spot) -> str:
        """The clusters where an app is from now on, if it stays on none."""
        app = self._found.app_before(spot)
        return self._moves(app) if app else ""

    def _content(self, tenant: str, cluster: str, side: Side, *, is_new: bool) -> str:
        apps = [app.name for app in self._on[is_new].get((tenant, cluster), ())]
        return f"{named('namespace', side.placements[tenant, cluster].namespaces)}; {named('app', apps)}"

    def _guests(self, cluster: str, side: Side) -> str:
        tenants = side.tenants_by_cluster.get(cluster, ())
        addons = [app.name for app in self._on[side is self._found.after].get(("", cluster), ())]
        told = [named("tenant", tenants)] if tenants else []
        return "; ".join([*told, *([named("add-on", addons)] if addons else [])]) or "no tenants and no add-ons"

    def _cluster_goes(self, cluster: str) -> str:
        guests = self._guests(cluster, self._found.before)
        if self._is_given_up(cluster):
            return f"it is no longer used: {guests}; their workloads stay there, because the cluster was given up"
        goes = f"it is no longer used: {guests}; what Flux installed there is deleted"
        given_up = {tenant for tenant, where, _ in self.given_up if where == cluster}
        if not given_up:
            return f"{goes}, and namespaces stay with their data"
        if given_up.issuperset(self._found.before.tenants_by_cluster.get(cluster, ())):
            return f"{goes}, and namespaces with their data"
        return f"{goes}, with the namespaces and data of {listed(sorted(given_up - {''}))}; other namespaces stay"

    def _is_given_up(self, cluster: str) -> bool:
        return state_at(self._found.before, "clusters", cluster).leaving == "decommissioned"


def named(noun: str, names: Collection[str]) -> str:
    """("app", ["web", "db"]) -> apps web, db"""
    return f"{noun}{'' if len(names) == 1 else 's'} {listed(names)}"


def what_stays(manifest: Manifest) -> str:
    """Why deleting a Kustomization or HelmRelease leaves its installed objects behind; "" if it does not."""
    spec = manifest["spec"]
    if spec.get("suspend"):
        return "what it installed stays there, because it is suspended"
    if manifest["kind"] == "HelmRelease":
        return ""
    policy = spec.get("deletionPolicy", "MirrorPrune")
    if policy == "Orphan":
        return "what it installed stays there (deletionPolicy: Orphan)"
    return "what it installed stays there (prune: false)" if policy == "MirrorPrune" and not spec.get("prune") else ""


def _name(app: PlannedApp) -> tuple[str, str]:
    return app.tenant, app.name
