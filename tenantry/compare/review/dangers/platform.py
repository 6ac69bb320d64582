"""What the platform team changes for everybody, and what begins to act by itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from tenantry.compare.diff import Diff
from tenantry.compare.review.dangers.found import Found, Rank
from tenantry.compare.review.dangers.pieces import Pieces
from tenantry.compare.review.model import DangerKind
from tenantry.kube.objects import KubeObject, Owner
from tenantry.messages.data import mapping_at
from tenantry.plan.objects.remote import OBJECTS_CHART
from tenantry.plan.objects.scope import APP_LABEL

_ACTING = {
    "ImageUpdateAutomation": "pushes commits to its source from now on",
    "Receiver": "listens for webhooks from now on",
}


def platform_dangers(pieces: Pieces) -> Iterator[Found]:
    yield from _objects_chart(pieces)
    yield from _acting(pieces)
    yield from _permitted(pieces)


def _objects_chart(pieces: Pieces) -> Iterator[Found]:
    """The chart that installs baselines, with the platform's rights on every remote cluster."""
    before, after = (_charts(side) for side in _sides(pieces.diff))
    for owner, chart in after.items():
        one, other = (_spec(each).get("version") for each in (before.get(owner, chart), chart))
        if one != other:
            yield _chart(owner, f"has version {other} instead of {one}")
    for changed in pieces.diff.changed:
        if changed.id.kind != "HelmRepository" or changed.after.owner.tenant:
            continue
        one, other = (_spec(each).get("url") for each in (changed.before, changed.after))
        if one != other and changed.id in pieces.chart_sources:
            yield _chart(changed.after.owner, f"comes from {other} instead of {one}")


def _charts(objects: Iterable[KubeObject]) -> dict[Owner, KubeObject]:
    return {
        each.owner: each
        for each in objects
        if each.id.kind == "HelmChart" and not each.owner.tenant and _spec(each).get("chart") == OBJECTS_CHART
    }


def _chart(owner: Owner, what: str) -> Found:
    lead = f"the chart that installs baselines {what}"
    tail = ": it acts with the platform's rights"
    return Found(DangerKind.RIGHTS, Rank.ACCESS, "", owner.cluster, tail=tail, lead=lead, nobody=True)


def _sides(diff: Diff) -> tuple[list[KubeObject], list[KubeObject]]:
    return (
        [*diff.removed.objects, *(each.before for each in diff.changed)],
        [*diff.added.objects, *(each.after for each in diff.changed)],
    )


def _spec(planned: KubeObject) -> dict[str, Any]:
    return mapping_at(dict(planned.manifest), "spec")


def _acting(pieces: Pieces) -> Iterator[Found]:
    for each in pieces.diff.added.objects:
        if words := _ACTING.get(each.id.kind):
            app = each.manifest["metadata"]["labels"].get(APP_LABEL)
            what = f"the image automation of app '{app}'" if app else f"receiver '{each.id.name}'"
            yield Found(DangerKind.RIGHTS, Rank.WORK, *each.owner, verb=(words, words), who=what)


def _permitted(pieces: Pieces) -> Iterator[Found]:
    """What the file allows from now on. It may change no object."""
    for permit, tenant, addon in pieces.diff.permitted:
        if permit == "adopt":
            who = f"add-on '{addon}'" if addon else ""
            verb = ("takes over objects that exist already", "take over objects that exist already")
            yield Found(DangerKind.ADOPTION, Rank.WORK, tenant, "", verb, " (adopt: true)", "", who)
        else:
            lead = f"tenants may use the cloud identity of Flux's controllers ({permit}: true)"
            yield Found(DangerKind.RIGHTS, Rank.ACCESS, "", "", lead=lead, nobody=True)
