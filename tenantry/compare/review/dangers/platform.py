"""What concerns everybody on a cluster: the chart of baselines, who acts there, what is permitted, and what waits for nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from tenantry.compare.diff import Status
from tenantry.compare.review.dangers.apps import app_in_words
from tenantry.compare.review.dangers.found import Found, Pieces, Rank
from tenantry.compare.review.model import DangerKind
from tenantry.kube.objects import KubeObject
from tenantry.messages.data import mapping_at
from tenantry.plan.plan import Plan
from tenantry.plan.planned_apps import PlannedApp
from tenantry.rollout.bypasses import bypass, is_range

_OF_CHARTS = ("HelmChart", "HelmRepository", "GitRepository", "OCIRepository")


def platform_dangers(pieces: Pieces) -> Iterator[Found]:
    yield from _objects_chart(pieces)
    yield from _acting(pieces)
    yield from _permitted(pieces)


class _Origin(NamedTuple):
    """Where the chart that installs baselines comes from. version: "" in Git; directory, ref: "" in a repository of charts.

    signed: the program that checks its signature; "" if none does.
    """

    url: str
    version: str
    directory: str
    ref: str
    signed: str = ""

    def instead_of(self, other: _Origin) -> Iterator[str]:
        if self.url != other.url:
            yield f"comes from {self.url} instead of {other.url}"
        if self.version != other.version and self.version and other.version:
            yield f"has version {self.version} instead of {other.version}"
        if self.directory != other.directory and self.directory and other.directory:
            yield f"is directory {self.directory} instead of {other.directory}"
        if self.ref != other.ref and self.ref and other.ref:
            yield f"is taken at {self.ref} instead of {other.ref}"
        if other.signed and not self.signed:
            yield f"is taken without the signature that '{other.signed}' checked"


def _objects_chart(pieces: Pieces) -> Iterator[Found]:
    """The chart that installs baselines, with the platform's rights on every remote cluster."""
    touched = (*pieces.diff.added.objects, *(each.after for each in pieces.diff.changed))
    if any(each.id.kind in _OF_CHARTS and not each.owner.tenant for each in touched):
        before, after = (_origins(pieces, plan) for plan in (pieces.before, pieces.after))
        for cluster, origin in after.items():
            yield from (_chart(cluster, what) for what in origin.instead_of(before.get(cluster, origin)))


def _origins(pieces: Pieces, plan: Plan) -> dict[str, _Origin]:
    """By cluster. The fleet's own releases are those of baselines and of namespaces: their chart is the one."""
    platform = (each for each in plan.objects if each.id.kind in _OF_CHARTS and not each.owner.tenant)
    there = {(each.id.kind, each.id.namespace, each.id.name): each for each in platform}
    found: dict[str, _Origin] = {}
    for release in plan.objects:
        is_own = release.id.kind == "HelmRelease" and release.id not in pieces.apps
        if not is_own or release.owner.cluster in found:
            continue
        namespace, name = release.id.namespace, mapping_at(_spec(release), "chartRef").get("name")
        if chart := there.get(("HelmChart", namespace, str(name))):
            reference = _spec(chart)["sourceRef"]
            source = there[reference["kind"], namespace, reference["name"]]
            found[release.owner.cluster] = _origin(_spec(chart), _spec(source))
        elif whole := there.get(("OCIRepository", namespace, str(name))):
            spec = _spec(whole)
            signed = str(mapping_at(spec, "verify").get("provider", ""))
            found[release.owner.cluster] = _Origin(spec["url"], "", "", _ref(spec), signed)
    return found


def _origin(chart: dict[str, Any], source: dict[str, Any]) -> _Origin:
    if "ref" not in source:
        return _Origin(source["url"], str(chart.get("version", "")), "", "")
    return _Origin(source["url"], "", chart["chart"], _ref(source))


def _ref(source: dict[str, Any]) -> str:
    return " and ".join(f"{key} {value}" for key, value in source["ref"].items())


def _chart(cluster: str, what: str) -> Found:
    lead = f"the chart that installs baselines {what}"
    tail = ": it acts with the platform's rights"
    return Found(DangerKind.RIGHTS, Rank.ACCESS, "", cluster, tail=tail, lead=lead, nobody=True)


def _spec(planned: KubeObject) -> dict[str, Any]:
    return mapping_at(dict(planned.manifest), "spec")


def _acting(pieces: Pieces) -> Iterator[Found]:
    for each in pieces.diff.added.objects:
        if each.id.kind == "Receiver":
            words = "listens for webhooks from now on"
            yield Found(DangerKind.RIGHTS, Rank.WORK, *each.owner, verb=words, who=f"receiver '{each.id.name}'")


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


def gate_dangers(pieces: Pieces) -> Iterator[Found]:
    one, other = pieces.diff.after
    if one is None or pieces.diff.status is not Status.KEPT:
        return
    if other is None:
        lead = f"without its gate, changes no longer wait for {one.environment}"
    elif other.environment != one.environment:
        lead = f"changes wait for {other.environment}, and no longer for {one.environment}"
    elif other.seconds < one.seconds:
        lead = f"changes wait less for {one.environment}: {one} -> {other}"
    else:
        return
    yield Found(DangerKind.GATE, Rank.WORK, "", "", lead=lead, nobody=True)


def rollout_dangers(pieces: Pieces) -> Iterator[Found]:
    if pieces.before.rollout and not pieces.after.rollout:
        lead = "without its rollout, changes reach all clusters at the same time"
        yield Found(DangerKind.ROLLOUT, Rank.WORK, "", "", lead=lead, nobody=True)
    if not pieces.after.rollout:
        return
    yield from _leavers(pieces)
    known = {(each.tenant, each.name, followed) for each, followed in _followers(pieces.before)}
    for each, what in _followers(pieces.after):
        if (each.tenant, each.name, what) not in known:
            more = "; to pin it, write a version in place of the range" if is_range(what) else ""
            yield _of(each, each.cluster, f"follows {what}: what is new there bypasses the waves{more}")


def _of(app: PlannedApp, cluster: str, verb: str) -> Found:
    who = app_in_words(app)
    return Found(DangerKind.ROLLOUT, Rank.WORK, app.tenant, cluster, (verb, verb), who=who, nowhere=True)


def _leavers(pieces: Pieces) -> Iterator[Found]:
    """The apps of both plans that were in waves and are in none now."""
    left = {rollout.app for rollout in pieces.diff.rollouts if rollout.after is False}
    if not (left and pieces.before.rollout):
        return
    words = "leaves the waves: its changes reach all of its clusters at the same time"
    for app in pieces.before.apps:
        if app.full_name in left:
            yield _of(app, "", words)


def _followers(plan: Plan) -> Iterator[tuple[PlannedApp, str]]:
    """The apps in waves that Flux changes by itself, each with what it follows."""
    if not plan.rollout:
        return
    objects = {planned.id: planned for planned in plan.objects}
    for app in plan.apps:
        if plan.wave_of(app.id) and (what := bypass(app, objects)):
            yield app, what
