"""What a changed object does: a Flux object reinstalls, deletes more, acts as somebody else; another one cannot change in place.

What apps install is not in a plan, and whether a live object differs only the guard and `preflight` can see.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tenantry.facts.dangers.danger import ClusterDanger, DangerKind, Rank, of_owner
from tenantry.facts.dangers.pieces import Piece, Pieces
from tenantry.facts.subjects import CLUSTER, subject_of
from tenantry.guard.reinstalls import APPLIED_GOES, CHARTS_GO, PLATFORM_GOES
from tenantry.guard.targets import CHART, Charts, planned_parts, upgrades_in_place
from tenantry.kube.objects import KubeObject, Owner
from tenantry.messages.data import mapping_at, value_at
from tenantry.messages.text import listed

_KINDS = ("Kustomization", "HelmRelease")
_STAYS = ("MirrorPrune", "Orphan")
"""Values of `deletionPolicy` with which what is installed may stay when the app is deleted."""


def app_dangers(pieces: Pieces) -> Iterator[ClusterDanger]:
    """The dangers of apps, add-ons and baselines that both plans have."""
    changed = {changed.id: changed.before for changed in pieces.diff.changed}
    if changed.keys():
        judge = _Judge(pieces)
        # A release changes with the address that its chart comes from, although it stays as it is.
        moved = any(id.kind == "OCIRepository" for id in changed)
        for planned in pieces.after.objects:
            if planned.id.kind in _KINDS and (moved or planned.id in changed):
                before = changed.get(planned.id, planned)
                yield from judge.reinstalled(before, planned)
                yield from judge.spec(before, planned)
    if not pieces.diff.elsewhere:
        yield from _replaced(pieces)


class _Judge:
    """Judges changed objects, with the charts and the apps of both plans."""

    def __init__(self, pieces: Pieces) -> None:
        self._apps = {app.id: app for app in pieces.after.apps}
        self._charts = [Charts(planned.manifest for planned in plan.objects) for plan in (pieces.before, pieces.after)]

    def reinstalled(self, before: KubeObject, after: KubeObject) -> Iterator[ClusterDanger]:
        """What Flux uninstalls first, as the guard judges it, or may uninstall."""
        sides = (before.manifest, after.manifest)
        old, new = map(planned_parts, sides, self._charts)
        keys = [key for key in old if old[key] != new.get(key, old[key])]
        if all(map(upgrades_in_place, sides)):
            keys = [key for key in keys if key != CHART]
        verb = "is uninstalled and installed anew"
        if not keys and not upgrades_in_place(after.manifest):
            # Its chart comes from another directory or address, where it may have another name.
            names = [charts.guess(side) for charts, side in zip(self._charts, sides, strict=True)]
            if all(names) and names[0] != names[1]:
                old, new, keys, verb = (
                    {CHART: names[0]},
                    {CHART: names[1]},
                    [CHART],
                    f"{verb}, if that chart has another name",
                )
        elif after.id.kind == "Kustomization":
            # helm-controller uninstalls the release before it installs it; kustomize-controller applies, and prunes afterwards.
            verb = "is applied anew"
        if keys:
            app = self._apps.get(after.id)
            text = CHARTS_GO if after.id.kind == "HelmRelease" else APPLIED_GOES
            data = text.format(chart="its chart", it="it") if app and app.tenant else PLATFORM_GOES
            changes = ", ".join(f"{key} {_change(old, new, key)}" for key in keys)
            yield self._danger(DangerKind.REINSTALLATION, Rank.DATA, after, f"{verb}: {data} ({changes})")

    def spec(self, planned: KubeObject, after_change: KubeObject) -> Iterator[ClusterDanger]:
        """Fields of the object that let it do more."""
        before, after = (mapping_at(dict(side.manifest), "spec") for side in (planned, after_change))
        if before.get("serviceAccountName") != after.get("serviceAccountName"):
            text = f"acts as another service account: {_change(before, after, 'serviceAccountName')}"
            yield self._danger(DangerKind.RIGHTS, Rank.ACCESS, after_change, text)
        if planned.id.kind == "Kustomization" and not before.get("prune") and after.get("prune"):
            text = "deletes what disappears from its source from now on (prune: false -> true)"
            yield self._danger(DangerKind.PROTECTION, Rank.ACCESS, after_change, text)
        old, new = before.get("deletionPolicy"), after.get("deletionPolicy")
        # A suspended object leaves everything: that it deletes again is what its author wants by resuming it.
        resumed = before.get("suspend") and not after.get("suspend")
        kept = old == "Orphan" or (old == "MirrorPrune" and not before.get("prune"))
        if kept and new != old and not resumed and new not in _STAYS:
            text = (
                f"takes what it installed with it when it is removed (deletionPolicy: {old} -> {new or 'MirrorPrune'})"
            )
            yield self._danger(DangerKind.PROTECTION, Rank.ACCESS, after_change, text)
        if not before.get("force") and after.get("force"):
            text = "may replace objects that it cannot change (force: true)"
            yield self._danger(DangerKind.REINSTALLATION, Rank.DATA, after_change, text)
        kinds = [mapping_at(side, "chartRef").get("kind") for side in (before, after)]
        if kinds == ["HelmChart", "OCIRepository"] and after_change.id in self._apps:
            # helm-controller adds the digest to the chart's version.
            text = "is upgraded once: the chart's version gets a digest, and pods with the label helm.sh/chart restart"
            yield self._danger(DangerKind.RESTART, Rank.WORK, after_change, text)
        if after_change.id in self._apps and not _adopts(before) and _adopts(after):
            yield self._danger(DangerKind.ADOPTION, Rank.WORK, after_change, "takes over objects that exist already")

    def _danger(self, kind: DangerKind, rank: Rank, planned: KubeObject, text: str) -> ClusterDanger:
        """A danger of an app, or of its tenant if the object is no app's."""
        if app := self._apps.get(planned.id):
            return ClusterDanger(kind, rank, subject_of(app), app.cluster, text)
        name = "the baseline" if planned.owner.tenant else f"{planned.id.kind} {planned.id.name}"
        return of_owner(kind, rank, planned.owner, f"{name} {text}")


def _replaced(pieces: Pieces) -> Iterator[ClusterDanger]:
    """Apps that get another object although their tenant and their cluster do not change.

    Another namespace of the tenant or of the kubeconfig is a danger of its own, which says the same of all apps there.
    """
    new = {(app.tenant, app.cluster, app.name): app for app in pieces.after.apps}
    for app in pieces.before.apps:
        successor = new.get((app.tenant, app.cluster, app.name), app)
        if successor.id == app.id or Owner(app.tenant, app.cluster) in pieces.moved:
            continue
        if app.cluster != pieces.after.management and app.id.namespace != successor.id.namespace:
            places = f"from namespace {app.id.namespace} to {successor.id.namespace}"
            text = f"its Flux objects move {places}: Flux deletes what the old ones installed, and namespaces stay"
            yield ClusterDanger(DangerKind.KUBECONFIG, Rank.DATA, CLUSTER, app.cluster, text)
            continue
        same = app.id.kind == successor.id.kind
        verb = "gets another object" if same else f"becomes a {successor.id.kind} instead of a {app.id.kind}"
        text = f"{verb}: Flux deletes what the old one installed, with PersistentVolumeClaims and their data"
        yield ClusterDanger(DangerKind.REINSTALLATION, Rank.DATA, subject_of(app), app.cluster, text)


def _adopts(spec: dict[str, Any]) -> bool:
    """Whether a release takes over objects. What the fleet's own releases may do is a permit of their tenant."""
    return not mapping_at(spec, "install").get("disableTakeOwnership")


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
            text = (
                f"{piece.key.kind} {piece.key.name} cannot change in {listed(fields)}: on a management cluster it is deleted and"
                " created anew; on a remote cluster its baseline fails until somebody deletes it"
            )
            yield of_owner(DangerKind.REINSTALLATION, Rank.DATA, piece.key.owner, text)


def _changed(piece: Piece) -> Iterator[str]:
    """The fields that differ and may not."""
    before, after = dict(piece.before or {}), dict(piece.after or {})
    key = (piece.key.group, piece.key.kind)
    for field in _FIELDS.get(key, ()):
        old, new = (value_at(side, tuple(field.split("."))) for side in (before, after))
        # What is left out keeps its value, or the API server sets it, where it does not hold what the author wrote.
        if old != new and (new is not None or key[1] in ("Job", "StorageClass")):
            yield field
    if key in _CHANGEABLE:
        old, new = (_without(mapping_at(side, "spec"), _CHANGEABLE[key]) for side in (before, after))
        yield from (f"spec.{name}" for name in sorted(old.keys() | new.keys()) if old.get(name) != new.get(name))
    if key[0] == "" and key[1] in _FROZEN and before.get("immutable") is True:
        yield from (name for name in ("immutable", *_FROZEN[key[1]]) if before.get(name) != after.get(name))


def _without(spec: Mapping[str, Any], keys: tuple[str, ...]) -> dict[str, Any]:
    return {key: value for key, value in spec.items() if key not in keys}
