"""Reads the management cluster and the apps' clusters, and puts the answers together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from tenantry.cluster.connect import way_of
from tenantry.cluster.drift import compare, confirmed
from tenantry.cluster.reading import read_objects
from tenantry.cluster.requests import in_parallel
from tenantry.cluster.running import Running, inventory_of, read_app
from tenantry.cluster.states import compared, states_of
from tenantry.kube.objects import object_id
from tenantry.messages.errors import Refused
from tenantry.messages.text import counted, grouped
from tenantry.plan.engine_order import Chains
from tenantry.plan.plan import Plan
from tenantry.plan.planned_apps import PlannedApp
from tenantry.rollout.flux_status import Readiness
from tenantry.rollout.readiness import reconcilers_of
from tenantry.why.findings import Answer, Commands, Evidence, Finding, Stage
from tenantry.why.judges import ClusterJudge, FluxJudge, Seen, trail, unreached

if TYPE_CHECKING:
    from tenantry.cluster.client import Client

_MOST = 16
"""So many clusters are asked for one answer; those with trouble first."""


def answers(hub: Client, plan: Plan, commands: Commands, apps: Iterable[PlannedApp]) -> list[Answer]:
    """Why each app of a plan is not well, read as Flux reads: what needs attention first.

    Raises: Refused: the management cluster may not be read. httpx2.RequestError: it does not answer.
    """
    now = datetime.now(UTC)
    rank = [*Readiness].index
    observed = sorted(_seen(hub, plan, list(apps), now), key=lambda seen: rank(seen.state.readiness))
    applied = [seen for seen in observed if seen.reconciler is not None]

    def read_one(seen: Seen) -> Running | Refused:
        applied, namespaces = inventory_of(seen.reconciler or {}), _namespaces(plan, seen.app)
        return read_app(hub, way_of(seen.planned[-1]), seen.app.id, applied, namespaces)

    answered = in_parallel(read_one, applied[:_MOST])
    read = dict(zip((seen.app.id for seen in applied), answered, strict=False))
    left_out = {seen.app.id for seen in applied[_MOST:]}
    judge = FluxJudge({app.id: app for app in plan.apps}, commands, now)
    replies = []
    for seen in observed:
        limit = f"only {counted(_MOST, 'cluster')} were asked: name one with --cluster"
        unread = (limit,) if seen.app.id in left_out else ()
        findings = tuple(judge.findings(seen))
        answer = Answer(seen.app, seen.state.readiness, findings, tuple(trail(seen)), unread=unread)
        answer = _with_cluster(commands, seen, answer, read.get(seen.app.id))
        # The causes come before their consequences: what Flux cannot do, what became of what it did, and that it waits.
        failed = any(finding.failed for finding in answer.findings)
        findings = tuple(sorted(answer.findings, key=lambda of: of.follows or (failed and of.stage is Stage.FLUX)))
        replies.append(replace(answer, findings=findings))
    return replies


def _namespaces(plan: Plan, app: PlannedApp) -> tuple[str, ...]:
    """The namespaces on the app's cluster in which it can have objects."""
    own = [
        name
        for placement in plan.placements
        if (placement.tenant, placement.cluster) == (app.tenant, app.cluster)
        for name in placement.namespaces
    ]
    return tuple(dict.fromkeys([*([app.release[1]] if app.release else []), *own]))


def _seen(client: Client, plan: Plan, apps: Sequence[PlannedApp], now: datetime) -> Iterator[Seen]:
    """What the management cluster says of some apps."""
    chains, reconcilers = Chains(plan), reconcilers_of(plan)
    wanted = dict.fromkeys(object_id(part) for app in apps for part in chains.of(app.id))
    wanted |= dict.fromkeys(before.id for app in apps for before in reconcilers[app.id].after)
    live = read_objects(client, plan.environment, wanted)
    by_kind = grouped(live.values(), lambda manifest: (str(manifest["apiVersion"]), str(manifest["kind"])))
    read = {(id.api_version, id.kind): by_kind.get((id.api_version, id.kind), []) for id in wanted}
    objects = tuple(planned for planned in plan.objects if planned.id in wanted)
    differences = confirmed(client, compare(client, plan.environment, objects, others=False, read=read).differences)
    part = replace(plan, objects=objects)
    states = compared(part, states_of(part, live.values(), now), differences)
    for app in apps:
        yield Seen(app, states, chains.of(app.id), reconcilers[app.id], live)


def _with_cluster(commands: Commands, seen: Seen, answer: Answer, read: Running | Refused | None) -> Answer:
    """The answer with what the app's cluster says, or why it says nothing. None: it was not asked."""
    app, way = seen.app, way_of(seen.planned[-1])
    if read is None:
        return answer
    if isinstance(read, Running):
        judge = ClusterJudge(commands, commands.to_cluster(way))
        findings = tuple(judge.findings(app, read))
        count = Counter(str(read.state_of(id).health) for id in read.objects)
        summary = ", ".join(f"{number} {health}" for health, number in count.items()) or "none"
        applied = Evidence(f"{counted(len(read.objects), 'object')} on {app.cluster}", summary)
        return replace(
            answer,
            findings=(*answer.findings, *findings),
            trail=(*answer.trail, applied),
            unread=(*answer.unread, *read.unread),
            read_as=read.user or None,
        )
    if way.by_identity:
        unread = f"cluster '{app.cluster}': {read.message}; {read.fix}"
        return replace(answer, unread=(*answer.unread, unread))
    of_cluster = [finding for finding in answer.findings if finding.stage is Stage.CLUSTER]
    others: list[Finding] = [finding for finding in answer.findings if finding not in of_cluster]
    evidence = [evidence for finding in of_cluster for evidence in finding.evidence]
    flux = "Flux does not reach it either" if of_cluster else "Flux found the app ready before" if not others else ""
    others.append(unreached(app, read, commands, evidence, flux))
    return replace(answer, findings=tuple(others))
