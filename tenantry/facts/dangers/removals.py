"""What is deleted: clusters, tenants, namespaces, apps, add-ons and objects that hold data; new marks of removal; missing waves."""

from __future__ import annotations

from collections.abc import Iterator

from tenantry.facts.dangers.danger import ClusterDanger, DangerKind, of_owner
from tenantry.facts.dangers.pieces import Pieces
from tenantry.facts.subjects import ENVIRONMENT, subject_of
from tenantry.guard.reading import held_by
from tenantry.kube.objects import Manifest, Owner, holds_data
from tenantry.messages.text import listed
from tenantry.plan.engine_order import Chains, bypass, is_range
from tenantry.plan.objects.lifecycle import is_marked
from tenantry.plan.plan import Plan
from tenantry.plan.planned_apps import PlannedApp

_WITH_DATA = ("PersistentVolumeClaim", "PersistentVolume", "CustomResourceDefinition")
_STAYS = "is no longer managed, and stays with its data"


def removal_dangers(pieces: Pieces) -> Iterator[ClusterDanger]:
    """Dangers of what is removed from an environment that keeps its management cluster."""
    old, new = pieces.placements
    manifests = {removed.id: removed.manifest for removed in pieces.diff.removed}
    # Placements whose baseline is suspended: on the cluster nothing is deleted.
    abandoned = {
        removed.owner
        for removed in pieces.diff.removed
        if removed.id.kind == "HelmRelease" and leaves_objects(removed.manifest)
    }
    namespaces = {place for place in pieces.namespaces[0] - pieces.namespaces[1] if place[0] in new}
    namespaces -= {(owner, former) for owner, (former, _) in pieces.moved.items()}
    for piece in pieces.of_kinds("Namespace"):
        if not piece.key.owner.tenant and piece.after is None:
            namespaces.add((piece.key.owner, piece.key.name))
    given_up = _given_up(pieces.before) if namespaces or old.keys() - new.keys() else frozenset()
    for owner in old:
        if owner not in new and owner not in abandoned:
            # Their names, unless the only one is called like the tenant.
            names = "" if old[owner].namespaces == (owner.tenant,) else f" {listed(old[owner].namespaces)}"
            text = f"apps and rights are deleted, and namespaces{names} stay with their data"
            if any(owner == whose for whose, _ in given_up):
                text = "everything in the namespaces is deleted, with its data"
            yield of_owner(DangerKind.DELETION, owner, f"is removed: {text}")
    for owner, name in sorted(namespaces):
        if owner not in abandoned:
            outcome = "is deleted with everything in it" if (owner, name) in given_up else _STAYS
            yield of_owner(DangerKind.DELETION, owner, f"namespace {name} {outcome}")
    planned = {_key(app) for app in pieces.after.apps}
    for app in pieces.before.apps:
        is_alone = _key(app) not in planned and (Owner(app.tenant, app.cluster) in new or not app.tenant)
        if is_alone and app.id in manifests and not leaves_objects(manifests[app.id]):
            text = "is removed: Flux deletes what it installed"
            yield ClusterDanger(DangerKind.DELETION, subject_of(app), app.cluster, text)
    for piece in pieces.of_kinds(*_WITH_DATA):
        if piece.after is None and piece.kept and holds_data(piece.key.group, piece.key.kind):
            yield piece.danger(DangerKind.DELETION, f"{piece.key.kind} {piece.key.name} {_STAYS}")
    yield from _marked_anew(pieces)


def _given_up(plan: Plan) -> frozenset[tuple[Owner, str]]:
    """Namespaces that were off-boarded before."""
    held = held_by(plan)
    own = {(Owner(*key[:2]), key[2]) for key, leaving in held.namespaces.items() if leaving}
    return frozenset(own | {(Owner("", key[0]), key[1]) for key, leaving in held.addon_namespaces.items() if leaving})


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
    old, new = pieces.placements
    names = {(app.tenant, app.name) for app in pieces.before.apps}
    apps = [app for app in pieces.after.apps if (app.tenant, app.name) not in names]
    owners = new.keys() - old.keys()
    if not pieces.before.objects or not (owners or apps):
        return
    text = "is new and marked for removal already: no environment protects it"
    marked = owners & {Owner(*mark[:2]) for mark in held_by(pieces.after).marked}
    for owner in new:
        if owner in marked:
            yield of_owner(DangerKind.PROTECTION, owner, text)
    objects = {added.id: added.manifest for added in pieces.diff.added}
    for app in apps:
        if app.id in objects and Owner(app.tenant, app.cluster) not in marked and is_marked(objects[app.id]):
            yield ClusterDanger(DangerKind.PROTECTION, subject_of(app), app.cluster, text)


def rollout_dangers(pieces: Pieces) -> Iterator[ClusterDanger]:
    """An environment that loses its waves; and the apps in waves that follow a branch or a range from now on."""
    if pieces.before.rollout and not pieces.after.rollout:
        text = "without its waves, changes reach all clusters at the same time"
        yield ClusterDanger(DangerKind.ROLLOUT, ENVIRONMENT, "", text)
    known = {(app.full_name, followed) for app, followed in _followers(pieces.before)}
    for app, followed in _followers(pieces.after):
        if (app.full_name, followed) not in known:
            pin = "; to pin it, write a version in place of the range" if is_range(followed) else ""
            text = f"follows {followed}: what is new there bypasses the waves{pin}"
            yield ClusterDanger(DangerKind.ROLLOUT, subject_of(app), app.cluster, text)


def _followers(plan: Plan) -> Iterator[tuple[PlannedApp, str]]:
    if plan.rollout:
        chains = Chains(plan)
        for app in plan.apps:
            if plan.wave_of(app.id) and (followed := bypass(app, chains)):
                yield app, followed
