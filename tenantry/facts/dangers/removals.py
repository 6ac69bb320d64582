"""What is deleted: clusters, tenants, namespaces, apps, add-ons and objects that hold data; new marks of removal; missing waves."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from tenantry.facts.dangers.danger import ClusterDanger, DangerKind, Rank, of_owner
from tenantry.facts.dangers.pieces import Pieces
from tenantry.facts.subjects import ENVIRONMENT, subject_of
from tenantry.guard.reading import held_by
from tenantry.kube.objects import Manifest, Owner, holds_data
from tenantry.plan.engine_order import Chains, bypass, is_range
from tenantry.plan.objects.lifecycle import is_marked
from tenantry.plan.plan import Plan
from tenantry.plan.planned_apps import PlannedApp

_WITH_DATA = ("PersistentVolumeClaim", "PersistentVolume", "CustomResourceDefinition")
_STAYS = "is no longer managed, and stays with its data"


def removal_dangers(pieces: Pieces) -> Iterator[ClusterDanger]:
    """Dangers of what is removed from an environment that keeps its management cluster."""
    removed = _Removed(pieces)
    yield from removed.placements()
    yield from removed.namespaces()
    yield from removed.apps()
    for piece in pieces.of_kinds(*_WITH_DATA):
        if piece.after is None and piece.kept and holds_data(piece.key.group, piece.key.kind):
            yield _deletion(piece.key.owner, f"{piece.key.kind} {piece.key.name} {_STAYS}")
    yield from _marked_anew(pieces)


def _deletion(owner: Owner, text: str) -> ClusterDanger:
    return of_owner(DangerKind.DELETION, Rank.DATA, owner, text)


class _Removed:
    """What is deleted with the objects that are removed, and what is held because an object is suspended."""

    def __init__(self, pieces: Pieces) -> None:
        self._pieces = pieces
        self._objects = {removed.id: removed for removed in pieces.diff.removed}
        releases = (removed for removed in pieces.diff.removed if removed.id.kind == "HelmRelease")
        self._abandoned = {release.owner for release in releases if leaves_objects(release.manifest)}
        """Placements whose baseline is suspended: on the cluster nothing is deleted."""
        old, new = (
            {Owner(placement.tenant, placement.cluster) for placement in plan.placements}
            for plan in (pieces.before, pieces.after)
        )
        self._removed = old - new

    @cached_property
    def _given_up(self) -> frozenset[tuple[Owner, str]]:
        """Namespaces that were off-boarded before."""
        namespaces = held_by(self._pieces.before)
        own = {(Owner(*key[:2]), key[2]) for key, leaving in namespaces.namespaces.items() if leaving}
        addons = {(Owner("", key[0]), key[1]) for key, leaving in namespaces.addon_namespaces.items() if leaving}
        return frozenset(own | addons)

    def placements(self) -> Iterator[ClusterDanger]:
        """Tenants that are removed from clusters."""
        given_up = {owner for owner, _ in self._given_up} if self._removed else frozenset()
        for placement in self._pieces.before.placements:
            owner = Owner(placement.tenant, placement.cluster)
            if owner in self._removed and owner not in self._abandoned:
                text = "apps and rights are deleted, and namespaces stay with their data"
                if owner in given_up:
                    text = "everything in the namespaces is deleted, with its data"
                yield _deletion(owner, f"is removed: {text}")

    def namespaces(self) -> Iterator[ClusterDanger]:
        """Namespaces of placements that are in both plans, and those of add-ons."""
        moved = {(owner, names[0]) for owner, names in self._pieces.moved.items()}
        old, new = self._pieces.namespaces
        for owner, name in sorted(old - new - moved):
            if owner not in self._removed and owner not in self._abandoned:
                yield self._namespace(owner, name)
        for piece in self._pieces.of_kinds("Namespace"):
            owner = piece.key.owner
            if not owner.tenant and piece.after is None and owner not in self._abandoned:
                yield self._namespace(owner, piece.key.name)

    def _namespace(self, owner: Owner, name: str) -> ClusterDanger:
        outcome = "is deleted with everything in it" if (owner, name) in self._given_up else _STAYS
        return _deletion(owner, f"namespace {name} {outcome}")

    def apps(self) -> Iterator[ClusterDanger]:
        """Apps of placements that are in both plans, and add-ons."""
        planned_apps = {_key(app) for app in self._pieces.after.apps}
        removed = [app for app in self._pieces.before.apps if _key(app) not in planned_apps]
        for app in removed:
            planned = self._objects.get(app.id)
            if Owner(app.tenant, app.cluster) in self._removed or not planned or leaves_objects(planned.manifest):
                continue
            text = "is removed: Flux deletes what it installed"
            yield ClusterDanger(DangerKind.DELETION, Rank.DATA, subject_of(app), app.cluster, text)


def leaves_objects(manifest: Manifest) -> bool:
    """Whether what a Kustomization or HelmRelease installed stays when it is deleted."""
    spec = manifest["spec"]
    if spec.get("suspend") or manifest["kind"] == "HelmRelease":
        return bool(spec.get("suspend"))
    policy = spec.get("deletionPolicy", "MirrorPrune")
    return policy == "Orphan" or (policy == "MirrorPrune" and not spec.get("prune"))


def _key(app: PlannedApp) -> tuple[str, str, str]:
    return app.tenant, app.cluster, app.name


def _marked_anew(pieces: Pieces) -> Iterator[ClusterDanger]:
    """What is new under its name and may be removed already: its mark has probably come with a line from another name."""
    known = {Owner(placement.tenant, placement.cluster) for placement in pieces.before.placements}
    new = [
        owner
        for placement in pieces.after.placements
        if (owner := Owner(placement.tenant, placement.cluster)) not in known
    ]
    names = {(app.tenant, app.name) for app in pieces.before.apps}
    apps = [app for app in pieces.after.apps if (app.tenant, app.name) not in names]
    if not pieces.before.objects or not (new or apps):
        return
    text = "is new and marked for removal already: no environment protects it"
    marked = {Owner(*mark[:2]) for mark in held_by(pieces.after).marked}
    new = [owner for owner in new if owner in marked]
    for owner in new:
        yield of_owner(DangerKind.PROTECTION, Rank.DATA, owner, text)
    objects = {added.id: added.manifest for added in pieces.diff.added}
    for app in apps:
        manifest = objects.get(app.id)
        if Owner(app.tenant, app.cluster) not in new and manifest and is_marked(manifest):
            yield ClusterDanger(DangerKind.PROTECTION, Rank.DATA, subject_of(app), app.cluster, text)


def rollout_dangers(pieces: Pieces) -> Iterator[ClusterDanger]:
    """An environment that loses its waves; and the apps in waves that follow a branch or a range from now on."""
    if pieces.before.rollout and not pieces.after.rollout:
        text = "without its waves, changes reach all clusters at the same time"
        yield ClusterDanger(DangerKind.ROLLOUT, Rank.WORK, ENVIRONMENT, "", text)
    known = {(app.full_name, followed) for app, followed in _followers(pieces.before)}
    for app, followed in _followers(pieces.after):
        if (app.full_name, followed) not in known:
            pin = "; to pin it, write a version in place of the range" if is_range(followed) else ""
            text = f"follows {followed}: what is new there bypasses the waves{pin}"
            yield ClusterDanger(DangerKind.ROLLOUT, Rank.WORK, subject_of(app), app.cluster, text)


def _followers(plan: Plan) -> Iterator[tuple[PlannedApp, str]]:
    if plan.rollout:
        chains = Chains(plan)
        for app in plan.apps:
            if plan.wave_of(app.id) and (followed := bypass(app, chains)):
                yield app, followed
