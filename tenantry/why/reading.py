"""Reads the management cluster and the apps' clusters, and puts the answers together."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from tenantry.cluster.apps import statuses
from tenantry.cluster.drift import Difference, compare, confirmed
from tenantry.cluster.inventory import secret_of
from tenantry.cluster.objects import Compared
from tenantry.cluster.reach import Connect, answered, connected, way_of
from tenantry.cluster.reading import read_objects
from tenantry.cluster.running import Asked, Running, read_all, read_running
from tenantry.cluster.standing import needs_of
from tenantry.cluster.status import TROUBLE, AppStatus, Readiness, one_line
from tenantry.cluster.tree import Step, inventory
from tenantry.kube.objects import KubeObject, ObjectId, is_of_flux, object_id
from tenantry.messages.errors import Refused, Severity
from tenantry.messages.text import counted, grouped
from tenantry.plan.engine_order import Chains
from tenantry.plan.plan import Plan
from tenantry.plan.planned_apps import PlannedApp
from tenantry.preflight.fitness import fitted
from tenantry.preflight.kubeconfig import check_secret, is_loopback
from tenantry.why.cluster import ClusterJudge, unreached
from tenantry.why.findings import Answer, Commands, Evidence, Finding, PlaceOf, Stage, ordered
from tenantry.why.flux import FluxJudge, Seen

if TYPE_CHECKING:
    from tenantry.cluster.client import Client

MOST = 16
"""So many clusters are asked for one answer; those with trouble first."""
_WITHOUT_VALUES = ("Secret", "ConfigMap")
"""Kinds whose content is not compared: the values of Secrets are not read."""


@dataclass(frozen=True, slots=True)
class Asking:
    """plan: of which the apps are a part. place: where the file says something. connect: makes clients of remotes."""

    plan: Plan
    commands: Commands
    place: PlaceOf
    connect: Connect = connected


def answers(hub: Client, asking: Asking, apps: Iterable[PlannedApp], own: Client | None = None) -> list[Answer]:
    """Why each app is not well, read as Flux reads: what needs attention first.

    Args:   own: a client for the cluster of all of them with the person's own rights, used instead of Flux's kubeconfig.
    Raises: Refused: the management cluster may not be read. httpx2.RequestError: it does not answer.
    """
    asking = replace(asking, plan=fitted(hub, asking.plan))
    seen = sorted(_seen(hub, asking.plan, list(apps)), key=lambda each: TROUBLE.index(each.status.readiness))
    asked = [each for each in seen if each.reconciler is not None]
    if own is None:
        read = _read_as_flux(hub, asking, asked[:MOST])
    else:
        read = {each.app.id: _read_as_oneself(own, asking.plan, each.app, _applied(each)) for each in asked[:MOST]}
    late = f"only {counted(MOST, 'cluster')} were asked: name one with --cluster"
    left_out = {each.app.id: late for each in asked[MOST:]}
    return [_answer(hub, asking, each, read.get(each.app.id), left_out.get(each.app.id, "")) for each in seen]


def answers_with_own_rights(
    there: Client, asking: Asking, apps: Iterable[PlannedApp], without_hub: str
) -> list[Answer]:
    """The same without the management cluster: with a client for the apps' cluster. without_hub: why it was not read."""
    plan, found = asking.plan, []
    for app in apps:
        if app.cluster == plan.management:
            try:
                found += answers(there, asking, [app], there)
                continue
            except Refused as refused:
                without_hub = f"Flux's objects: {refused.message}"
        read = _read_as_oneself(there, plan, app, None)
        if isinstance(read, Refused):
            findings: tuple[Finding, ...] = (unreached(app, read, asking.commands),)
            found.append(Answer(app, None, findings, unread=(without_hub,)))
            continue
        judge = ClusterJudge(asking.commands, asking.place, shlex.join(asking.commands.own))
        findings = ordered([*judge.findings(app, read)])
        trail = (_objects(app, read),)
        found.append(Answer(app, None, findings, trail, tuple(judge.notes(read)), (without_hub, *read.unread)))
    return found


def _applied(seen: Seen) -> Sequence[ObjectId] | None:
    return inventory(seen.reconciler) if seen.reconciler is not None else None


def _read_as_flux(hub: Client, asking: Asking, seen: Sequence[Seen]) -> dict[ObjectId, Running | Refused]:
    asked = [
        Asked(way_of(each.planned[-1]), each.app.id, _applied(each), _namespaces(asking.plan, each.app))
        for each in seen
    ]
    return dict(zip((each.app.id for each in seen), read_all(hub, asked, asking.connect), strict=True))


def _read_as_oneself(
    there: Client, plan: Plan, app: PlannedApp, wanted: Sequence[ObjectId] | None
) -> Running | Refused:
    try:
        with answered():
            return read_running(there, app.id, wanted, _namespaces(plan, app))
    except Refused as refused:
        return refused


def _namespaces(plan: Plan, app: PlannedApp) -> tuple[str, ...]:
    """The namespaces on the app's cluster in which it can have objects."""
    own = [
        name
        for placement in plan.placements
        if (placement.tenant, placement.cluster) == (app.tenant, app.cluster)
        for name in placement.namespaces
    ]
    return tuple(dict.fromkeys([*([app.release[1]] if app.release else []), *own]))


# --- the management cluster -----------------------------------------------------------------------------------------------


def _seen(client: Client, plan: Plan, apps: Sequence[PlannedApp]) -> list[Seen]:
    """What the management cluster says of some apps. With a rollout, its other apps tell which wave has arrived."""
    chains, needs, planned = Chains(plan), needs_of(plan), {each.id: each for each in plan.objects}
    about = plan.apps if plan.rollout else tuple(apps)
    chain = {app.id: chains.of(app.id) for app in about}
    before = dict.fromkeys(id for app in about for id in planned[app.id].depends_on)
    of_flux = dict.fromkeys(id for app in about for id in map(object_id, chain[app.id])) | {
        id: None for id in before if is_of_flux(id.api_version)
    }
    others = [id for id in before if id not in of_flux and id.kind not in _WITHOUT_VALUES]
    live = dict(read_objects(client, plan.environment, of_flux))
    unread: tuple[str, ...] = ()
    try:
        live |= read_objects(client, plan.environment, others)
    except Refused as refused:
        others, unread = [], (f"the baseline: {refused.message}",)
    wanted = [*of_flux, *others]
    by_kind = grouped(live.values(), lambda each: (str(each["apiVersion"]), str(each["kind"])))
    read = {(id.api_version, id.kind): by_kind.get((id.api_version, id.kind), []) for id in wanted}
    objects = [planned[id] for id in wanted if id in planned]
    differences = confirmed(client, compare(client, plan.environment, objects, others=False, read=read).differences)
    part = replace(plan, apps=about)
    found = statuses(part, live.values())
    compared = Compared(part, found, differences)
    states = {each.app.id: compared.app(each) for each in found}
    changed = {difference.id: difference for difference in differences}
    return [
        Seen(app, states[app.id], chain[app.id], needs[app.id], live, _not_as_planned(planned[app.id], changed), unread)
        for app in apps
    ]


def _not_as_planned(planned: KubeObject, changed: Mapping[ObjectId, Difference]) -> dict[ObjectId, str]:
    """What an object depends on and what is not as planned, with what to say of each."""
    return {id: str(changed[id]).removeprefix(f"{id}: ") for id in planned.depends_on if id in changed}


# --- the answer -----------------------------------------------------------------------------------------------------------


def _answer(hub: Client, asking: Asking, seen: Seen, read: Running | Refused | None, left_out: str) -> Answer:
    app, state = seen.app, seen.status.readiness
    findings = [*FluxJudge(asking.plan, asking.commands, asking.place).findings(seen)]
    trail = tuple(_step(_as_status_says(each, seen.status)) for each in seen.steps)
    if read is None:
        return Answer(app, state, ordered(findings), trail, unread=(*seen.unread, *([left_out] if left_out else [])))
    if isinstance(read, Refused):
        way = way_of(seen.planned[-1])
        if way.by_identity:
            unread = f"cluster '{app.cluster}': {read.message}; {read.fix}"
            return Answer(app, state, ordered(findings), trail, unread=(*seen.unread, unread))
        told = [each for finding in findings if finding.stage is Stage.CLUSTER for each in finding.evidence]
        findings = [each for each in findings if each.stage is not Stage.CLUSTER]
        of_secret = _of_kubeconfig(hub, seen) if way.kubeconfig else ()
        flux = "Flux does not reach it either" if told else "Flux found the app ready before" if not findings else ""
        findings.append(unreached(app, read, asking.commands, (*told, *of_secret), flux))
        return Answer(app, state, ordered(findings), trail, unread=seen.unread)
    judge = ClusterJudge(asking.commands, asking.place, asking.commands.to_cluster(way_of(seen.planned[-1])))
    there = [*judge.findings(app, read)]
    notes = () if any("is used up" in each.cause for each in there) else tuple(judge.notes(read))
    trail = (*trail, _objects(app, read))
    # What Flux cannot do comes before what became of what it did; that it waits comes after.
    return Answer(app, state, ordered([*findings, *there]), trail, notes, (*seen.unread, *read.unread), read.user)


def _as_status_says(step: Step, status: AppStatus) -> Step:
    """The reconciler with what `status` says of the app, where a source or a dependency decides that."""
    if step.id != status.app.id or status.readiness not in (Readiness.FAILED, Readiness.PROGRESSING):
        return step
    return replace(step, readiness=status.readiness, message=status.message, since=status.since)


def _step(step: Step) -> Evidence:
    said = "" if step.readiness is Readiness.READY else one_line(step.message)
    return Evidence(str(step.id), str(step.readiness), step.since, said or step.revision)


def _objects(app: PlannedApp, read: Running) -> Evidence:
    """`3 objects on edge-1`, `2 ready, 1 failed`"""
    count = Counter(str(state.health) for state in read.states().values())
    told = ", ".join(f"{number} {health}" for health, number in count.items()) or "none"
    return Evidence(f"{counted(len(read.objects), 'object')} on {app.cluster}", told)


def _of_kubeconfig(hub: Client, seen: Seen) -> tuple[Evidence, ...]:
    """What is wrong with the kubeconfig that Flux uses, such as a certificate that has expired."""
    reference = way_of(seen.planned[-1]).kubeconfig
    assert reference is not None
    local = is_loopback(urlsplit(hub.config.cluster.server).hostname or "")
    try:
        problems = check_secret(reference, secret_of(hub, reference), now=datetime.now(UTC), local=local)
    except Refused as refused:
        return (Evidence(f"Secret {reference.namespace}/{reference.name}", "not readable", "", refused.message),)
    name = f"Secret {reference.namespace}/{reference.name}"
    bad = [each for each in problems if each.severity is Severity.ERROR or each.code == "expires-soon"]
    return tuple(Evidence(name, str(each.severity), "", each.message) for each in bad)
