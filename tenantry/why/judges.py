"""Judges an app by the management cluster (the file's state, sources, dependencies, Flux's own errors), and by its own cluster
(its objects, their pods and events, or that it does not answer).
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from tenantry.cluster.health import PULLS, Trouble, state_of_object
from tenantry.cluster.health import State as ObjectState
from tenantry.cluster.kubectl import describe, named, reconcile, resume
from tenantry.cluster.report import why_command
from tenantry.cluster.running import Event, Running
from tenantry.cluster.states import State
from tenantry.kube.objects import Manifest, ObjectId, labels_of, object_id
from tenantry.kube.values import number_of
from tenantry.messages.data import mapping_at, value_at
from tenantry.messages.errors import UNREACHABLE, Refused
from tenantry.messages.text import one_line
from tenantry.plan.objects.lifecycle import STATE_LABEL
from tenantry.plan.planned_apps import PlannedApp
from tenantry.rollout.flux_status import (
    Readiness,
    is_cut_off,
    is_stalled,
    message_about,
    ready_of,
    reason_of,
    revision_of,
    state_of,
)
from tenantry.rollout.readiness import Live, Reconciler, source_problems
from tenantry.why.findings import Commands, Evidence, Finding, Stage


@dataclass(frozen=True, slots=True)
class Seen:
    """What the management cluster says of an app. states: as `tenantry status` says. planned: from the source to the reconciler."""

    app: PlannedApp
    states: Mapping[ObjectId, State]
    planned: tuple[Manifest, ...]
    needs: Reconciler
    live: Live

    @property
    def state(self) -> State:
        return self.states[self.app.id]

    def evidence(self, id: ObjectId, state: str, message: str = "") -> Evidence:
        """An object, and since when it is so."""
        return Evidence(str(id), state, self.states[id].since or "", message)

    @property
    def reconciler(self) -> Manifest | None:
        """The app's Kustomization or HelmRelease as it is; None: it is missing."""
        return self.live.get(self.app.id)


def trail(seen: Seen) -> Iterator[Evidence]:
    """The sources, charts and the reconciler of an app, each with what `tenantry status` says of it."""
    for id in map(object_id, seen.planned):
        state, live = seen.states[id], seen.live.get(id)
        if state.readiness is Readiness.READY and live:
            since = state.since or str(ready_of(live).get("lastTransitionTime") or "")
            revision = value_at(live, ("status", "artifact", "revision")) or revision_of(mapping_at(live, "status"))
            yield Evidence(str(id), state.readiness, since, str(revision or ""))
        else:
            yield seen.evidence(id, state.readiness, one_line(state.message))


@dataclass(frozen=True, slots=True)
class FluxJudge:
    """apps: all of the plan."""

    apps: Mapping[ObjectId, PlannedApp]
    commands: Commands
    now: datetime

    def findings(self, seen: Seen) -> Iterator[Finding]:
        """What is wrong, from the file to Flux's object."""
        live = seen.reconciler
        if live is None:
            cause = f"{seen.app.id} is not on the management cluster"
            yield Finding(Stage.FILE, cause, (Evidence(str(seen.app.id), "missing"),), next=self.commands.applied())
            return
        if since := mapping_at(live, "metadata").get("deletionTimestamp"):
            state = labels_of(seen.planned[-1]).get(STATE_LABEL)
            why = f", because the file says 'state: {state}'{self._at(seen.app, 'state')}" if state else ""
            yield Finding(
                Stage.FLUX,
                f"{seen.app.id} is being deleted{why}",
                (Evidence(str(seen.app.id), "being deleted", str(since)),),
                next=(self.commands.run("status"),),
            )
            return
        if seen.state.readiness is Readiness.SUSPENDED:
            yield self._suspended(seen)
        yield from self._source(seen)
        yield from self._dependencies(seen)
        yield from self._own(seen, live)

    def _suspended(self, seen: Seen) -> Finding:
        app, line = seen.app, self.commands.line(seen.app, ("state",))
        if seen.state.suspended_by_hand:
            cause = "it is suspended by hand, so Flux applies no change"
            evidence = (Evidence(str(app.id), "suspended", seen.state.since or ""),)
            return Finding(Stage.FLUX, cause, evidence, next=(self.commands.on_hub(resume(app.id)),), follows=True)
        at, state = f" in {line}" if line else "", labels_of(seen.planned[-1]).get(STATE_LABEL) or "paused"
        cause, advice = (
            f"the file says 'state: {state}'{at}, so Flux applies no change",
            "to resume it, set 'state: active'",
        )
        evidence, next = (seen.evidence(app.id, "suspended"),), self.commands.edited(line)
        return Finding(Stage.FILE, cause, evidence, f"{advice}{at}", next, follows=True)

    # --- sources, and what it depends on -------------------------------------------------------------------------------

    def _source(self, seen: Seen) -> Iterator[Finding]:
        """The first source or chart that is not what was asked for."""
        problem = next(source_problems(seen.needs.sources, seen.live, self.now), None)
        if problem is None:
            return
        id, state, app = problem.cause, problem.readiness, seen.app
        runs = seen.state.readiness is Readiness.READY
        message = problem.message.removeprefix(f"{id}: ").rstrip(": ")
        evidence = seen.evidence(id, state, message)
        if state is Readiness.MISSING:
            cause = f"{id} is not on the management cluster"
            yield Finding(Stage.SOURCE, cause, (evidence,), next=self.commands.applied())
        elif state is Readiness.SUSPENDED:
            cause, evidence = f"{id} is suspended by hand, so nothing new is fetched", Evidence(str(id), "suspended")
            yield Finding(Stage.SOURCE, cause, (evidence,), next=(self.commands.on_hub(resume(id)),), follows=runs)
        else:
            what, key = ("chart", ("helm", "version")) if id.kind == "HelmChart" else ("source", ("sources",))
            at = self._at(app, *key)
            yield Finding(
                Stage.SOURCE,
                f"the {what} cannot be fetched: {message}{'; the app runs what was fetched before' if runs else ''}",
                (evidence,),
                f"check the {what}{at}" if at else "",
                (self.commands.on_hub(describe(id)), self.commands.on_hub(reconcile(app.id, with_source=True))),
                follows=runs,
            )

    def _dependencies(self, seen: Seen) -> Iterator[Finding]:
        for before in seen.needs.after if seen.state.readiness is not Readiness.READY else ():
            live = seen.live.get(before.id)
            if live is None or (state := state_of(live)) is Readiness.READY:
                continue
            message = reason_of(live)
            evidence = (seen.evidence(before.id, state, message),)
            if app := self.apps.get(before.id):
                cause = f"it waits for {before.name} on {app.cluster}: {message}"
                yield Finding(
                    Stage.DEPENDENCY,
                    cause,
                    evidence,
                    next=(why_command(app, self.commands.environment),),
                )
            else:
                cause = f"{before.name} on {seen.app.cluster} is not ready: {message}"
                yield Finding(Stage.BASELINE, cause, evidence, next=(self.commands.on_hub(describe(before.id)),))

    # --- Flux's own object ---------------------------------------------------------------------------------------------

    def _own(self, seen: Seen, live: Manifest) -> Iterator[Finding]:
        state, app, commands = seen.state, seen.app, self.commands
        if state.readiness in (Readiness.CHANGED, Readiness.OUTDATED):
            by_hand, message = state.readiness is Readiness.CHANGED, one_line(state.message)
            evidence = (seen.evidence(app.id, "changed" if by_hand else "not applied yet", message),)
            cause = message.partition("; run `")[0].partition(", otherwise run `")[0]
            yield Finding(Stage.FLUX, cause, evidence, next=commands.applied(), follows=not by_hand)
        own, message = state_of(live), one_line(message_about(live))
        if own in (Readiness.READY, Readiness.SUSPENDED):
            return
        evidence = (seen.evidence(app.id, str(own), message),)
        if is_cut_off(live):
            check = (commands.run("preflight", "--cluster", app.cluster),)
            yield Finding(
                Stage.CLUSTER, f"Flux does not reach cluster '{app.cluster}': {message}", evidence, next=check
            )
            return
        who = "Flux has given up" if is_stalled(live) else "Flux"
        cause = f"{who}: {message}" if message else one_line(state.message) or "Flux has not reconciled it yet"
        line = commands.line(app, ("kustomize",)) or commands.line(app, ("helm",))
        advice = f"check what the app applies, and its settings in {line}" if line and own is Readiness.FAILED else ""
        next = (commands.on_hub(describe(app.id)), commands.on_hub(reconcile(app.id, with_source=True)))
        yield Finding(Stage.FLUX, cause, evidence, advice, next, follows=own is Readiness.PROGRESSING)

    def _at(self, app: PlannedApp, *key: str) -> str:
        line = self.commands.line(app, key)
        return f" in {line}" if line else ""


# --- the app's cluster -------------------------------------------------------------------------------------------------

_EVENTS = 3
"""So many events are shown of an object and what belongs to it."""
_WITH_LOGS = ("CrashLoopBackOff", "Error", "NotReady")
_PODS = ("Deployment", "StatefulSet", "DaemonSet", "Job", "CronJob")


def unreached(
    app: PlannedApp, refused: Refused, commands: Commands, evidence: Sequence[Evidence] = (), flux: str = ""
) -> Finding:
    """The finding that the app's cluster cannot be read. evidence: of the kubeconfig, and what Flux says; flux: in a few words."""
    check = commands.run("preflight", "--cluster", app.cluster)
    what = "does not answer" if refused.code == UNREACHABLE else "cannot be read"
    cause = f"cluster '{app.cluster}' {what}: {refused.message}{f'; {flux}' if flux else ''}"
    return Finding(Stage.CLUSTER, cause, tuple(evidence), one_line(refused.fix), (check,))


@dataclass(frozen=True, slots=True)
class ClusterJudge:
    """kubectl: its options for the app's cluster; "": there is no way."""

    commands: Commands
    kubectl: str

    def findings(self, app: PlannedApp, running: Running) -> Iterator[Finding]:
        """What is wrong with the app's objects: what has failed comes first."""
        states = {id: running.state_of(id) for id in running.objects}
        rank = {Readiness.FAILED: 0, Readiness.MISSING: 1, Readiness.PROGRESSING: 2}
        wrong = sorted((id for id in states if states[id].health in rank), key=lambda id: rank[states[id].health])
        yield from (self._finding(app, running, id, states[id]) for id in wrong)

    def _finding(self, app: PlannedApp, running: Running, id: ObjectId, state: ObjectState) -> Finding:
        live, look = running.objects[id], self._kubectl("describe", id)
        shown = Evidence(str(id), str(state.health), state.since, state_of_object(live).why or state.why)
        if live is None:
            again = self.commands.on_hub(reconcile(app.id))
            return Finding(Stage.OBJECT, f"{id}, which Flux applied, is not on {app.cluster}", (shown,), next=(again,))
        events = running.events_about([live, *running.owned(live)])
        evidence = (shown, *self._pods(running, live), *map(_of_event, events[:_EVENTS]))
        failed = state.health is Readiness.FAILED
        if id.kind in _PODS and (troubles := running.troubles(live)):
            return replace(self._of_pod(app, id, troubles[0], events, evidence), failed=failed)
        why, advice, edits = state.why, "", tuple[str, ...]()
        if id.kind in _PODS:
            advice, edits = self._quota(app, running, id.namespace)
        event = f": {events[0].message}" if events and not failed and events[0].message not in why else ""
        return Finding(Stage.OBJECT, f"{id}: {why}{event}", evidence, advice, (*edits, *look), failed=failed)

    def _quota(self, app: PlannedApp, running: Running, namespace: str) -> tuple[str, tuple[str, ...]]:
        """What of the fleet's quota of a namespace is used up, and what to type to raise it. The event names any other quota."""
        own = ObjectId("v1", "ResourceQuota", namespace, "tenantry")
        quotas = running.by_kind.get("ResourceQuota", ())
        status = next((mapping_at(quota, "status") for quota in quotas if object_id(quota) == own), {})
        used = mapping_at(status, "used")
        for resource, hard in mapping_at(status, "hard").items():
            most, now = number_of(hard), number_of(used.get(resource))
            if most and now and now >= most:
                at = self.commands.line(app, ("quota", resource))
                where = f"in {at}" if at else f"of tenant '{app.tenant}'" if app.tenant else "of the namespace"
                advice = f"{used[resource]} of {hard} {resource} are used; to raise it, change 'quota' {where}"
                return one_line(advice), self.commands.edited(at)
        return "", ()

    def _of_pod(
        self,
        app: PlannedApp,
        id: ObjectId,
        crashed: tuple[Manifest, Trouble],
        events: Sequence[Event],
        evidence: tuple[Evidence, ...],
    ) -> Finding:
        pod, trouble = crashed
        why, advice = trouble.why, ""
        if trouble.reason == "NotReady":
            probe = next((event.message for event in events if event.reason == "Unhealthy"), "")
            why = f"{why}: {probe}" if probe else why
        if "OOMKilled" in why:
            advice = "raise the container's memory limit, or look for the leak"
        if trouble.reason in PULLS:
            line = self.commands.line
            at = line(app, ("kustomize", "source")) or line(app, ("helm", "chart"))
            source = f"; see the source at {at}" if at else ""
            advice = f"correct the image in the app's manifests or chart values{source}"
        about = object_id(pod)
        logs = self._kubectl("logs", about, trouble) if trouble.reason in _WITH_LOGS else ()
        return Finding(Stage.OBJECT, f"{id}: {why}", evidence, advice, (*logs, *self._kubectl("describe", about)))

    @staticmethod
    def _pods(running: Running, owner: Manifest) -> Iterator[Evidence]:
        for pod, trouble in running.troubles(owner)[:2]:
            metadata = mapping_at(pod, "metadata")
            what = f"Pod {metadata.get('namespace')}/{metadata.get('name')}"
            yield Evidence(what, trouble.reason, running.since(pod, trouble), trouble.detail or trouble.why)

    def _kubectl(self, verb: str, id: ObjectId, trouble: Trouble | None = None) -> tuple[str, ...]:
        """`kubectl describe` of an object, or `kubectl logs` of a pod: of the container that has crashed, before it did."""
        if not self.kubectl:
            return ()
        what = named(id)[1:] if verb == "logs" else named(id)
        container = ("--container", trouble.container) if trouble and trouble.container else ()
        before = ("--previous",) if trouble and trouble.reason == "CrashLoopBackOff" else ()
        return (f"{shlex.join(('kubectl', verb, *what, *container, *before))} {self.kubectl}",)


def _of_event(event: Event) -> Evidence:
    times = f" ({event.times} times)" if event.times > 1 else ""
    return Evidence(f"Event of {event.about}", f"{event.reason}{times}", event.at, event.message)
