"""What is deleted, new marks of removal, missing waves; and the keys of tenants.yaml whose change is dangerous by itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from tenantry.facts.changes import ChangedValue, Effect, Occurrence
from tenantry.facts.dangers.pieces import ClusterDanger, DangerKind, Pieces, of_owner
from tenantry.facts.facts import ENVIRONMENT, Kind, subject_of
from tenantry.guard.reading import held_by
from tenantry.kube.objects import Manifest, Owner, holds_data
from tenantry.messages.data import ABSENT
from tenantry.messages.text import format_path, listed
from tenantry.model.durations import seconds_of
from tenantry.plan.engine_order import Chains, bypass
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
    namespaces = held_by(plan).namespaces.items()
    return frozenset((Owner(tenant, cluster), name) for (tenant, cluster, name), held in namespaces if held.leaving)


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
    marked = owners & {Owner(*key[:2]) for key, held in held_by(pieces.after).namespaces.items() if held.marked}
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
            text = f"follows {followed}: what is new there bypasses the waves"
            yield ClusterDanger(DangerKind.ROLLOUT, subject_of(app), app.cluster, text)


def _followers(plan: Plan) -> Iterator[tuple[PlannedApp, str]]:
    if plan.rollout:
        chains = Chains(plan)
        for app in plan.apps:
            if plan.wave_of(app.id) and (followed := bypass(app, chains)):
                yield app, followed


class Row(NamedTuple):
    """A key of a kind of subject, as a pattern; whether a change of its value is dangerous; and what that means.

    of_new: whether it is dangerous on a subject that is new, too, as permissions are.
    """

    of: tuple[Kind, ...]
    path: str
    is_dangerous: Callable[[Any, Any], bool]
    kind: DangerKind
    text: str
    of_new: bool = False


def _is_true(_: Any, after: Any) -> bool:
    return after is True


def _was_set(before: Any, _: Any) -> bool:
    return before is not ABSENT


def _is_shorter(before: Any, after: Any) -> bool:
    return before is not ABSENT and (after is ABSENT or seconds_of(str(after)) < seconds_of(str(before)))


_ROWS = (
    Row(
        (Kind.ENVIRONMENT,), "management", _was_set, DangerKind.DELETION,
        "every object is deleted on the former management cluster, and created on the new one",
    ),
    Row(
        (Kind.ENVIRONMENT,), "protected", lambda before, _: before is True, DangerKind.PROTECTION,
        "it is no longer protected: `pulumi destroy` can delete it, and runs can remove what was not marked before",
    ),
    Row(
        (Kind.ENVIRONMENT,), "after.environment", _was_set, DangerKind.GATE,
        "changes no longer wait for the environment before",
    ),
    Row((Kind.ENVIRONMENT,), "after.soak", _is_shorter, DangerKind.GATE, "changes wait less"),
    Row(
        (Kind.PLATFORM,), "sharedIdentity", _is_true, DangerKind.RIGHTS,
        "tenants may use the cloud identity of Flux's controllers", of_new=True,
    ),
    Row(
        (Kind.CLUSTER,), "chart.*", _was_set, DangerKind.RIGHTS,
        "the chart that installs baselines changes, and acts with the platform's rights",
    ),
    Row(
        (Kind.CLUSTER,), "kubeconfig.*", _was_set, DangerKind.KUBECONFIG,
        "Flux uses another kubeconfig: if it leads to another cluster, everything on the old one stays there",
    ),
    Row(
        (Kind.TENANT,), "clusterAdmin", _is_true, DangerKind.RIGHTS,
        "it may give cluster-admin from now on", of_new=True,
    ),
    Row(
        (Kind.TENANT,), "namespace", _was_set, DangerKind.NAMESPACE,
        "it gets another namespace: what is in the old one does not come along, and its data stays there",
    ),
    Row(
        (Kind.TENANT,), "receivers.*.type", lambda before, _: before is ABSENT, DangerKind.RIGHTS,
        "a receiver listens for webhooks", of_new=True,
    ),
    Row(
        (Kind.TENANT, Kind.ADDON), "adopt", _is_true, DangerKind.ADOPTION,
        "it takes over objects that exist already", of_new=True,
    ),
    Row(
        (Kind.APP, Kind.ADDON), "waves", lambda _, after: after is False, DangerKind.ROLLOUT,
        "it leaves the waves: its changes reach all of its clusters at the same time",
    ),
)  # fmt: skip


def of_facts(changes: Iterable[Occurrence]) -> Iterator[ClusterDanger]:
    """The dangers of the keys that differ; of several keys in one row, one danger."""
    for subject, cluster, effect, values in changes:
        for row in _ROWS:
            if subject.kind in row.of and (row.of_new or effect is Effect.CHANGED):
                own = [value for value in values if fnmatchcase(format_path(value.path), row.path)]
                if any(row.is_dangerous(value.before, value.after) for value in own):
                    sides = listed(map(_sides, own))
                    yield ClusterDanger(row.kind, subject, cluster, f"{row.text} ({sides})")


def _sides(value: ChangedValue) -> str:
    """Such as `adopt: true`, `management: hub -> far`."""
    before, after = (_text(side) for side in (value.before, value.after))
    return f"{format_path(value.path)}: {after if value.before is ABSENT else f'{before} -> {after}'}"


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return "unset" if value is ABSENT else listed(value) if isinstance(value, list) else str(value)
