"""What a changed Flux object does: reinstalls, deletes more, acts as somebody else, replaces objects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tenantry.facts.dangers.found import DangerKind, Found, Rank, owner_subject
from tenantry.facts.dangers.pieces import Pieces
from tenantry.facts.objects import Changed
from tenantry.facts.subjects import CLUSTER, subject_of
from tenantry.guard.reinstalls import APPLIED_GOES, CHARTS_GO, PLATFORM_GOES
from tenantry.guard.targets import CHART, Charts, chart_of, planned_parts, upgrades_in_place
from tenantry.kube.objects import KubeObject, Owner
from tenantry.messages.data import mapping_at

_KINDS = ("Kustomization", "HelmRelease")
_STAYS = ("MirrorPrune", "Orphan")
"""Values of `deletionPolicy` with which what is installed may stay when the app is deleted."""


def app_dangers(pieces: Pieces) -> Iterator[Found]:
    """The dangers of apps, add-ons and baselines that both plans have."""
    judge = _Judge(pieces)
    for changed in pieces.diff.changed:
        if changed.id.kind in _KINDS:
            yield from judge.reinstalled(changed)
            yield from judge.upgraded(changed)
            yield from judge.spec(changed)
    yield from judge.registries()
    yield from judge.replaced()


class _Judge:
    """Judges changed objects, with the charts and the apps of both plans."""

    def __init__(self, pieces: Pieces) -> None:
        self._pieces = pieces
        self._apps = {app.id: app for app in pieces.after.apps}
        plans = (pieces.before, pieces.after) if pieces.diff.changed else ()
        self._charts = [Charts(planned.manifest for planned in plan.objects) for plan in plans]

    def reinstalled(self, changed: Changed) -> Iterator[Found]:
        """What Flux uninstalls first, as the guard judges it, or may uninstall."""
        old, new = changed.before.manifest, changed.after.manifest
        before, after = (
            planned_parts(*manifest_and_chart) for manifest_and_chart in zip((old, new), self._charts, strict=True)
        )
        keys = [key for key in before if before[key] != after.get(key, before[key])]
        if upgrades_in_place(old) and upgrades_in_place(new):
            keys = [key for key in keys if key != CHART]
        if keys:
            what = ", ".join(f"{key} {_change(before, after, key)}" for key in keys)
            # helm-controller uninstalls the release before it installs it; kustomize-controller applies, and prunes afterwards.
            verb = "is uninstalled and installed anew" if new["kind"] == "HelmRelease" else "is applied anew"
            yield self._reinstallation(changed.after, f"{verb}: {self._data(changed.after)} ({what})")
        elif not upgrades_in_place(new):
            yield from self._perhaps(
                changed.after,
                *(chart.guess(manifest) for chart, manifest in zip(self._charts, (old, new), strict=True)),
            )

    def upgraded(self, changed: Changed) -> Iterator[Found]:
        """A release that takes the whole source as its chart from now on."""
        kinds = [
            mapping_at(dict(planned.manifest), "spec", "chartRef").get("kind")
            for planned in (changed.before, changed.after)
        ]
        if kinds == ["HelmChart", "OCIRepository"] and changed.id in self._apps:
            # helm-controller adds the digest to the chart's version.
            text = "is upgraded once: the chart's version gets a digest, and pods with the label helm.sh/chart restart"
            yield self._found(DangerKind.RESTART, Rank.WORK, changed.after, text)

    def spec(self, changed: Changed) -> Iterator[Found]:
        """Fields of the object that let it do more."""
        before, after = (mapping_at(dict(planned.manifest), "spec") for planned in (changed.before, changed.after))
        if before.get("serviceAccountName") != after.get("serviceAccountName"):
            text = f"acts as another service account: {_change(before, after, 'serviceAccountName')}"
            yield self._found(DangerKind.RIGHTS, Rank.ACCESS, changed.after, text)
        if changed.id.kind == "Kustomization" and not before.get("prune") and after.get("prune"):
            text = "deletes what disappears from its source from now on (prune: false -> true)"
            yield self._found(DangerKind.PROTECTION, Rank.ACCESS, changed.after, text)
        old, new = before.get("deletionPolicy"), after.get("deletionPolicy")
        # A suspended object leaves everything: that it deletes again is what its author wants by resuming it.
        resumed = before.get("suspend") and not after.get("suspend")
        kept = old == "Orphan" or (old == "MirrorPrune" and not before.get("prune"))
        if kept and new != old and not resumed and new not in _STAYS:
            text = (
                f"takes what it installed with it when it is removed (deletionPolicy: {old} -> {new or 'MirrorPrune'})"
            )
            yield self._found(DangerKind.PROTECTION, Rank.ACCESS, changed.after, text)
        if not before.get("force") and after.get("force"):
            yield self._reinstallation(changed.after, "may replace objects that it cannot change (force: true)")
        if changed.id in self._apps and not _adopts(before) and _adopts(after):
            yield self._found(DangerKind.ADOPTION, Rank.WORK, changed.after, "takes over objects that exist already")

    def registries(self) -> Iterator[Found]:
        """Releases that stay as they are, while the address that their chart comes from changes."""
        changed = {changed_object.id for changed_object in self._pieces.diff.changed}
        sources = {
            (changed_id.kind, changed_id.namespace, changed_id.name)
            for changed_id in changed
            if changed_id.kind == "OCIRepository"
        }
        for planned in self._pieces.after.objects if sources else ():
            is_theirs = planned.id not in changed and chart_of(planned.manifest) in sources
            if is_theirs and not upgrades_in_place(planned.manifest):
                yield from self._perhaps(planned, *(chart.guess(planned.manifest) for chart in self._charts))

    def _perhaps(self, planned: KubeObject, before: str, after: str) -> Iterator[Found]:
        """A release whose chart comes from another directory or address, where it may have another name."""
        if before and after and before != after:
            text = f"is uninstalled and installed anew, if that chart has another name: {self._data(planned)}"
            yield self._reinstallation(planned, f"{text} (chart {before} -> {after})")

    def replaced(self) -> Iterator[Found]:
        """Apps that get another object although their tenant and their cluster do not change.

        Another namespace of the tenant or of the kubeconfig is a danger of its own, which says the same of all apps there.
        """
        if self._pieces.diff.elsewhere:
            return
        new = {(app.tenant, app.cluster, app.name): app for app in self._pieces.after.apps}
        for app in self._pieces.before.apps:
            other = new.get((app.tenant, app.cluster, app.name), app)
            if other.id == app.id or Owner(app.tenant, app.cluster) in self._pieces.moved:
                continue
            if app.cluster != self._pieces.after.management and app.id.namespace != other.id.namespace:
                places = f"from namespace {app.id.namespace} to {other.id.namespace}"
                text = f"its Flux objects move {places}: Flux deletes what the old ones installed, and namespaces stay"
                yield Found(DangerKind.KUBECONFIG, Rank.DATA, CLUSTER, app.cluster, text)
                continue
            same = app.id.kind == other.id.kind
            verb = "gets another object" if same else f"becomes a {other.id.kind} instead of a {app.id.kind}"
            text = f"{verb}: Flux deletes what the old one installed, with PersistentVolumeClaims and their data"
            yield Found(DangerKind.REINSTALLATION, Rank.DATA, subject_of(app), app.cluster, text)

    def _data(self, planned: KubeObject) -> str:
        """Which data goes with what a Flux object has installed."""
        app = self._apps.get(planned.id)
        goes = CHARTS_GO if planned.id.kind == "HelmRelease" else APPLIED_GOES
        return goes.format(chart="its chart", it="it") if app and app.tenant else PLATFORM_GOES

    def _reinstallation(self, planned: KubeObject, text: str) -> Found:
        return self._found(DangerKind.REINSTALLATION, Rank.DATA, planned, text)

    def _found(self, kind: DangerKind, rank: Rank, planned: KubeObject, text: str) -> Found:
        """A danger of an app, or of its tenant if the object is no app's."""
        if app := self._apps.get(planned.id):
            return Found(kind, rank, subject_of(app), app.cluster, text)
        name = "the baseline" if planned.owner.tenant else f"{planned.id.kind} {planned.id.name}"
        return Found(kind, rank, owner_subject(planned.owner), planned.owner.cluster, f"{name} {text}")


def _adopts(spec: dict[str, Any]) -> bool:
    """Whether a release takes over objects. What the fleet's own releases may do is a permit of their tenant."""
    return not mapping_at(spec, "install").get("disableTakeOwnership")


def _change(before: Mapping[str, Any], after: Mapping[str, Any], key: str) -> str:
    return f"{before.get(key) or 'unset'} -> {after.get(key) or 'unset'}"
