"""What a changed object does: a Flux object reinstalls, deletes more, acts as somebody else; another one cannot change in place.

What apps install is not in a plan, and whether a live object differs only the guard and `preflight` can see.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tenantry.facts.dangers.pieces import ClusterDanger, DangerKind, Piece, Pieces, of_owner
from tenantry.facts.facts import subject_of
from tenantry.guard.reinstalls import (
    APPLIED_GOES,
    CHART,
    CHARTS_GO,
    PLATFORM_GOES,
    Charts,
    planned_parts,
    upgrades_in_place,
)
from tenantry.kube.objects import KubeObject, Owner
from tenantry.messages.data import mapping_at, value_at
from tenantry.messages.text import listed
from tenantry.plan.objects.scope import RECONCILERS
from tenantry.plan.planned_apps import PlannedApp

_STAYS = ("MirrorPrune", "Orphan")
"""Values of `deletionPolicy` with which what is installed may stay when the app is deleted."""


def app_dangers(pieces: Pieces) -> Iterator[ClusterDanger]:
    """The dangers of apps, add-ons and baselines that both plans have."""
    changed = {changed.id: changed.before for changed in pieces.diff.changed}
    if changed:
        apps = {app.id: app for app in pieces.after.apps}
        charts = [Charts(plan) for plan in (pieces.before, pieces.after)]
        # A release changes with the address that its chart comes from, although it stays as it is.
        moved = any(id.kind == "OCIRepository" for id in changed)
        for after in pieces.after.objects:
            if after.id.kind in RECONCILERS and (moved or after.id in changed):
                before, app = changed.get(after.id, after), apps.get(after.id)
                name = "the baseline" if after.owner.tenant else f"{after.id.kind} {after.id.name}"
                for kind, text in (*_reinstalled(before, after, app, charts), *_spec(before, after, app)):
                    if app:
                        yield ClusterDanger(kind, subject_of(app), app.cluster, text)
                    else:
                        yield of_owner(kind, after.owner, f"{name} {text}")
    if not pieces.diff.elsewhere:
        yield from _replaced(pieces)


def _reinstalled(
    before: KubeObject, after: KubeObject, app: PlannedApp | None, charts: Sequence[Charts]
) -> Iterator[tuple[DangerKind, str]]:
    """What Flux uninstalls first, as the guard judges it, or may uninstall. Args: charts: of both plans."""
    sides = (before.manifest, after.manifest)
    old, new = map(planned_parts, sides, charts)
    keys = [key for key in old if old[key] != new.get(key, old[key])]
    if all(map(upgrades_in_place, sides)):
        keys = [key for key in keys if key != CHART]
    release = after.id.kind == "HelmRelease"
    # helm-controller uninstalls the release before it installs it; kustomize-controller applies, and prunes afterwards.
    verb = "is uninstalled and installed anew" if release else "is applied anew"
    if not keys and not upgrades_in_place(after.manifest):
        # Its chart comes from another directory or address, where it may have another name.
        names = [charts.guess(side) for charts, side in zip(charts, sides, strict=True)]
        if all(names) and names[0] != names[1]:
            old, new, keys = {CHART: names[0]}, {CHART: names[1]}, [CHART]
            verb += ", if that chart has another name"
    if keys:
        text = CHARTS_GO if release else APPLIED_GOES
        data = text.format(chart="its chart", it="it") if app and app.tenant else PLATFORM_GOES
        changes = ", ".join(f"{key} {_change(old, new, key)}" for key in keys)
        yield DangerKind.REINSTALLATION, f"{verb}: {data} ({changes})"


def _spec(planned: KubeObject, changed: KubeObject, app: PlannedApp | None) -> Iterator[tuple[DangerKind, str]]:
    """Fields of the object that let it do more."""
    before, after = (mapping_at(side.manifest, "spec") for side in (planned, changed))
    if before.get("serviceAccountName") != after.get("serviceAccountName"):
        change = _change(before, after, "serviceAccountName")
        yield DangerKind.RIGHTS, f"acts as another service account: {change}"
    if planned.id.kind == "Kustomization" and not before.get("prune") and after.get("prune"):
        text = "deletes what disappears from its source from now on (prune: false -> true)"
        yield DangerKind.PROTECTION, text
    old, new = before.get("deletionPolicy"), after.get("deletionPolicy")
    # A suspended object leaves everything: that it deletes again is what its author wants by resuming it.
    resumed = before.get("suspend") and not after.get("suspend")
    kept = old == "Orphan" or (old == "MirrorPrune" and not before.get("prune"))
    if kept and new != old and not resumed and new not in _STAYS:
        change = f"deletionPolicy: {old} -> {new or 'MirrorPrune'}"
        yield DangerKind.PROTECTION, f"takes what it installed with it when it is removed ({change})"
    if not before.get("force") and after.get("force"):
        yield DangerKind.REINSTALLATION, "may replace objects that it cannot change (force: true)"
    # What the fleet's own releases may take over is a permit of their tenant.
    old, new = (mapping_at(side, "install").get("disableTakeOwnership") for side in (before, after))
    if app and old and not new:
        yield DangerKind.ADOPTION, "takes over objects that exist already"


def _replaced(pieces: Pieces) -> Iterator[ClusterDanger]:
    """Apps that get another object although their tenant and their cluster do not change.

    Another namespace of the tenant is a danger of its own, which says the same of all apps there.
    """
    new = {(app.tenant, app.cluster, app.name): app for app in pieces.after.apps}
    for app in pieces.before.apps:
        successor = new.get((app.tenant, app.cluster, app.name), app)
        if successor.id != app.id and Owner(app.tenant, app.cluster) not in pieces.moved:
            same = app.id.kind == successor.id.kind
            verb = "gets another object" if same else f"becomes a {successor.id.kind} instead of a {app.id.kind}"
            text = f"{verb}: Flux deletes what the old one installed, with PersistentVolumeClaims and their data"
            yield ClusterDanger(DangerKind.REINSTALLATION, subject_of(app), app.cluster, text)


def _change(before: Mapping[str, Any], after: Mapping[str, Any], key: str) -> str:
    return f"{before.get(key) or 'unset'} -> {after.get(key) or 'unset'}"


_FIELDS: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("", "PersistentVolume"): ("spec.csi", "spec.hostPath", "spec.local", "spec.nfs", "spec.volumeMode"),
    ("", "Secret"): ("type",),
    ("", "Service"): ("spec.clusterIP", "spec.clusterIPs", "spec.loadBalancerClass"),
    ("apps", "DaemonSet"): ("spec.selector",),
    ("apps", "Deployment"): ("spec.selector",),
    ("apps", "ReplicaSet"): ("spec.selector",),
    ("batch", "Job"): ("spec.completionMode", "spec.podFailurePolicy", "spec.selector", "spec.template"),
    ("discovery.k8s.io", "EndpointSlice"): ("addressType",),
    ("networking.k8s.io", "IngressClass"): ("spec.controller",),
    ("node.k8s.io", "RuntimeClass"): ("handler",),
    ("rbac.authorization.k8s.io", "ClusterRoleBinding"): ("roleRef",),
    ("rbac.authorization.k8s.io", "RoleBinding"): ("roleRef",),
    ("resource.k8s.io", "ResourceClaim"): ("spec",),
    ("scheduling.k8s.io", "PriorityClass"): ("preemptionPolicy", "value"),
    ("storage.k8s.io", "StorageClass"): ("parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"),
}
"""By group and kind, the fields that cannot change.

Source: k8s.io/kubernetes `pkg/apis/*/validation`, the functions `Validate...Update`.
"""
_CHANGEABLE: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("", "PersistentVolumeClaim"): ("resources", "volumeAttributesClassName"),
    ("", "Pod"): (
        "activeDeadlineSeconds",
        "containers",
        "initContainers",
        "terminationGracePeriodSeconds",
        "tolerations",
    ),
    ("apps", "StatefulSet"): (
        *("minReadySeconds", "ordinals", "persistentVolumeClaimRetentionPolicy", "replicas", "revisionHistoryLimit"),
        *("template", "updateStrategy"),
    ),
}
"""By group and kind, the only parts of the spec that change."""
_FROZEN = {"ConfigMap": ("binaryData", "data"), "Secret": ("data", "stringData")}
"""What stays where `immutable` is true, which itself stays then, too."""


def immutable_dangers(pieces: Pieces) -> Iterator[ClusterDanger]:
    """A danger for each object that both plans have, and that no API server changes from the one to the other."""
    for piece in pieces.all:
        if piece.before and piece.after and piece.kept and (fields := list(_changed(piece))):
            then = (
                "on a management cluster it is deleted and created anew, on a remote one its baseline fails"
                if (piece.key.kind, fields) == ("Secret", ["type"])
                else "the API server refuses it, and what belongs to it stays as it is; give it another name"
            )
            text = f"{piece.key.kind} {piece.key.name} cannot change in {listed(fields)}: {then}"
            yield piece.danger(DangerKind.REINSTALLATION, text)


def _changed(piece: Piece) -> Iterator[str]:
    """The fields that differ and may not."""
    before, after, key = dict(piece.before or {}), dict(piece.after or {}), (piece.key.group, piece.key.kind)
    for field in _FIELDS.get(key, ()):
        old, new = (value_at(side, tuple(field.split("."))) for side in (before, after))
        # What is left out keeps its value, or the API server sets it, where it does not hold what the author wrote.
        if old != new and (new is not None or key[1] in ("Job", "StorageClass")):
            yield field
    if key in _CHANGEABLE:
        old, new = (mapping_at(side, "spec") for side in (before, after))
        names = sorted((old.keys() | new.keys()) - {*_CHANGEABLE[key]})
        yield from (f"spec.{name}" for name in names if old.get(name) != new.get(name))
    if key[0] == "" and key[1] in _FROZEN and before.get("immutable") is True:
        yield from (name for name in ("immutable", *_FROZEN[key[1]]) if before.get(name) != after.get(name))
