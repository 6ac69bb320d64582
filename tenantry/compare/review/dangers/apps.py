"""What a changed Flux object does: reinstalls, deletes more, acts as somebody else, goes to another cluster."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tenantry.compare.diff import Changed
from tenantry.compare.review.dangers.found import Found, Pieces, Rank
from tenantry.compare.review.model import DangerKind
from tenantry.guard.reinstalls import APPLIED_GOES, CHARTS_GO, PLATFORM_GOES
from tenantry.guard.targets import CHART, Charts, chart_of, planned_parts, upgrades_in_place
from tenantry.kube.objects import KubeObject, ObjectId
from tenantry.messages.data import mapping_at
from tenantry.plan.plan import Plan
from tenantry.plan.planned_apps import PlannedApp

_KINDS = ("Kustomization", "HelmRelease")
_STAYS = ("MirrorPrune", "Orphan")
"""Values of `deletionPolicy` with which what is installed may stay when the app is deleted."""


def app_dangers(pieces: Pieces) -> Iterator[Found]:
    if pieces.diff.changed:
        yield from _changed(pieces)
    yield from _replaced(pieces)


def _changed(pieces: Pieces) -> Iterator[Found]:
    names = _Names(pieces)
    charts = (_charts(pieces.before), _charts(pieces.after))
    for each in pieces.diff.changed:
        if each.id.kind in _KINDS:
            yield from _reinstalled(each, names, charts)
            yield from _upgraded(each, names)
            yield from _of_app(each, names)
    yield from _from_registries(pieces, names, charts)


def _charts(plan: Plan) -> Charts:
    return Charts(planned.manifest for planned in plan.objects)


class _Names:
    """What a Flux object is called in a sentence, and the tenant behind it."""

    def __init__(self, pieces: Pieces) -> None:
        self.apps: dict[ObjectId, PlannedApp] = {app.id: app for app in pieces.after.apps}

    def of(self, planned: KubeObject) -> str:
        app = self.apps.get(planned.id)
        if app:
            return app_in_words(app)
        return "the baseline" if planned.owner.tenant else f"{planned.id.kind} {planned.id.name}"


def app_in_words(app: PlannedApp) -> str:
    """What an app or add-on is called; a sentence adds the tenant."""
    return f"app '{app.name}'" if app.tenant else f"add-on '{app.name}'"


def _of_app(changed: Changed, names: _Names) -> Iterator[Found]:
    before, after = (mapping_at(dict(each.manifest), "spec") for each in (changed.before, changed.after))
    owner, who = changed.after.owner, names.of(changed.after)
    if before.get("serviceAccountName") != after.get("serviceAccountName"):
        words = f"acts as another service account: {_change(before, after, 'serviceAccountName')}"
        yield Found(DangerKind.RIGHTS, Rank.ACCESS, *owner, verb=words, who=who)
    if before.get("kubeConfig") != after.get("kubeConfig"):
        yield _other_kubeconfig(owner.cluster, "Flux uses another kubeconfig")
    yield from _deletes_more(changed, before, after, who)
    if changed.id in names.apps and not _adopts(before) and _adopts(after):
        verb = "takes over objects that exist already"
        yield Found(DangerKind.ADOPTION, Rank.WORK, *owner, verb=verb, who=who)


def _reinstalled(changed: Changed, names: _Names, charts: tuple[Charts, Charts]) -> Iterator[Found]:
    """What Flux uninstalls first, as the guard judges it, or may uninstall."""
    old, new = changed.before.manifest, changed.after.manifest
    before, after = planned_parts(old, charts[0]), planned_parts(new, charts[1])
    keys = [key for key in before if before[key] != after.get(key, before[key])]
    if upgrades_in_place(old) and upgrades_in_place(new):
        keys = [key for key in keys if key != CHART]
    if keys:
        what = ", ".join(f"{key} {_change(before, after, key)}" for key in keys)
        tail = f": {_goes(changed.after, names)} ({what})"
        # helm-controller uninstalls the release before it installs it; kustomize-controller applies, and prunes afterwards.
        verb = "is uninstalled and installed anew" if new["kind"] == "HelmRelease" else "is applied anew"
        yield Found(DangerKind.REINSTALLATION, Rank.DATA, *changed.after.owner, verb, tail, "", names.of(changed.after))
    elif not upgrades_in_place(new):
        yield from _perhaps(changed.after, charts[0].guess(old), charts[1].guess(new), names)


def _upgraded(changed: Changed, names: _Names) -> Iterator[Found]:
    """A release that takes the whole source as its chart from now on: helm-controller adds the digest to the chart's version."""
    before, after = (
        mapping_at(dict(each.manifest), "spec", "chartRef").get("kind") for each in (changed.before, changed.after)
    )
    if (before, after) == ("HelmChart", "OCIRepository") and changed.id in names.apps:
        tail = ": the digest becomes a part of the chart's version, and pods with the label helm.sh/chart restart"
        verb = ("is upgraded once", "are upgraded once")
        yield Found(DangerKind.RESTART, Rank.WORK, *changed.after.owner, verb, tail, "", names.of(changed.after))


def _from_registries(pieces: Pieces, names: _Names, charts: tuple[Charts, Charts]) -> Iterator[Found]:
    """Releases that stay as they are, while the address that their chart comes from changes."""
    changed = {each.id for each in pieces.diff.changed}
    sources = {(each.kind, each.namespace, each.name) for each in changed if each.kind == "OCIRepository"}
    for planned in pieces.after.objects if sources else ():
        is_theirs = planned.id not in changed and chart_of(planned.manifest) in sources
        if is_theirs and not upgrades_in_place(planned.manifest):
            before, after = (chart.guess(planned.manifest) for chart in charts)
            yield from _perhaps(planned, before, after, names)


def _perhaps(planned: KubeObject, before: str, after: str, names: _Names) -> Iterator[Found]:
    """A release whose chart comes from another directory or address, where it may have another name."""
    if before and after and before != after:
        tail = f", if that chart has another name: {_goes(planned, names)} (chart {before} -> {after})"
        verb = "is uninstalled and installed anew"
        yield Found(DangerKind.REINSTALLATION, Rank.DATA, *planned.owner, verb, tail, "", names.of(planned))


def _goes(planned: KubeObject, names: _Names) -> str:
    """Which data goes with what a Flux object has installed."""
    app = names.apps.get(planned.id)
    goes = CHARTS_GO if planned.id.kind == "HelmRelease" else APPLIED_GOES
    return goes.format(chart="its chart", it="it") if app and app.tenant else PLATFORM_GOES


def _deletes_more(changed: Changed, before: dict[str, Any], after: dict[str, Any], who: str) -> Iterator[Found]:
    owner = changed.after.owner
    if changed.id.kind == "Kustomization" and not before.get("prune") and after.get("prune"):
        verb = "deletes what disappears from its source"
        yield Found(
            DangerKind.PROTECTION, Rank.ACCESS, *owner, verb=verb, tail=" from now on (prune: false -> true)", who=who
        )
    old, new = before.get("deletionPolicy"), after.get("deletionPolicy")
    # A suspended object leaves everything: that it deletes again is what its author wants by resuming it.
    resumed = before.get("suspend") and not after.get("suspend")
    kept = old == "Orphan" or (old == "MirrorPrune" and not before.get("prune"))
    if kept and new != old and not resumed and new not in _STAYS:
        verb = "takes what it installed with it when it is removed"
        tail = f" from now on (deletionPolicy: {old} -> {new or 'MirrorPrune'})"
        yield Found(DangerKind.PROTECTION, Rank.ACCESS, *owner, verb=verb, tail=tail, who=who)
    if not before.get("force") and after.get("force"):
        verb = "may replace objects that it cannot change"
        yield Found(DangerKind.REINSTALLATION, Rank.DATA, *owner, verb=verb, tail=" (force: true)", who=who)


def _other_kubeconfig(cluster: str, lead: str) -> Found:
    """A cluster that Flux reaches in another way: whose apps are there does not matter."""
    tail = ": if it leads to another cluster, everything on the old one stays there"
    return Found(DangerKind.KUBECONFIG, Rank.ADMIN, "", cluster, tail=tail, lead=lead, nobody=True)


def _adopts(spec: dict[str, Any]) -> bool:
    """Whether a release takes over objects. What the fleet's own releases may do is a permit of their tenant."""
    return not mapping_at(spec, "install").get("disableTakeOwnership")


def _change(before: Mapping[str, Any], after: Mapping[str, Any], key: str) -> str:
    return f"{before.get(key) or 'unset'} -> {after.get(key) or 'unset'}"


def _replaced(pieces: Pieces) -> Iterator[Found]:
    """Apps that get another object although their tenant and their cluster do not change."""
    diff = pieces.diff
    if diff.elsewhere:
        return
    moved = {(each.tenant, each.cluster) for each in diff.moved}
    clusters = {each.cluster for each in diff.rehomed}
    for before, after in diff.replaced:
        if (before.tenant, before.cluster) in moved or before.cluster in clusters:
            continue
        same = before.id.kind == after.id.kind
        words = "gets another object" if same else f"becomes a {after.id.kind} instead of a {before.id.kind}"
        tail = ": Flux deletes what the old one installed, with PersistentVolumeClaims and their data"
        who = app_in_words(before)
        yield Found(DangerKind.REINSTALLATION, Rank.DATA, before.tenant, before.cluster, words, tail, "", who)
