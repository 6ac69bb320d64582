"""Judges an app by its own cluster: its objects, their pods and events, quotas, or that it does not answer."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tenantry.cluster.health import PULLS, Health, State, Trouble, state_of_object
from tenantry.cluster.kubectl import named
from tenantry.cluster.running import Event, Running
from tenantry.kube.objects import Manifest, ObjectId, object_id
from tenantry.messages.data import mapping_at, mappings_in
from tenantry.messages.errors import UNREACHABLE, Refused
from tenantry.messages.text import one_line
from tenantry.plan.planned_apps import PlannedApp
from tenantry.why import texts
from tenantry.why.findings import Commands, Evidence, Finding, Stage
from tenantry.why.flux import raise_quota

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
        """What is wrong with the app's objects: what explains most comes first, and bare counts of pods last."""
        states = {id: running.state_of(id) for id in running.objects}
        rank = {Health.FAILED: 0, Health.MISSING: 1, Health.PROGRESSING: 2}
        ranked = []
        for id, state in states.items():
            if state.health in rank:
                finding = self._finding(app, running, id, state)
                counts_pods = re.search(r": \d+ of \d+ pods (?:ready|are of the new version[^:]*)$", finding.cause)
                ranked.append((counts_pods is not None, rank[state.health], finding))
        yield from (finding for *_, finding in sorted(ranked, key=lambda entry: entry[:2]))

    def _finding(self, app: PlannedApp, running: Running, id: ObjectId, state: State) -> Finding:
        live = running.objects[id]
        shown = Evidence(str(id), str(state.health), state.since, state_of_object(live).why or state.why)
        if live is None:
            again = self.commands.reconcile(app.id)
            return Finding(Stage.OBJECT, f"{id}, which Flux applied, is not on {app.cluster}", (shown,), next=(again,))
        family = [live, *running.owned(live)]
        events = running.events_about(family)
        evidence = (shown, *self._pods(running, live), *map(_of_event, events[:_EVENTS]))
        if refusal := self._refusal(app, live, events, state.why):
            cause, advice, edits = refusal
            return Finding(Stage.OBJECT, cause, evidence, advice, (*edits, *self._kubectl("describe", id)))
        troubles = running.troubles(live) if id.kind in _PODS else []
        if troubles:
            return self._of_pod(app, id, troubles[0], running, events, evidence)
        if id.kind in _PODS and (claim := self._claim(running, live)):
            return Finding(Stage.OBJECT, f"{id}: {claim}", evidence, next=self._kubectl("describe", id))
        event = f": {events[0].message}" if events and state.health is Health.PROGRESSING and not state.why else ""
        return Finding(Stage.OBJECT, f"{id}: {state.why}{event}", evidence, next=self._kubectl("describe", id))

    def _refusal(
        self, app: PlannedApp, workload: Manifest, events: Sequence[Event], why: str
    ) -> tuple[str, str, tuple[str, ...]] | None:
        """Why the API server refuses the pods of a workload, what to change, and what to type for that."""
        failures = (event.message for event in events if event.reason in ("FailedCreate", "FailedCreatePodGroup"))
        for message in (why, *failures):
            recognized = texts.recognized(message)
            if recognized and recognized.kind in (texts.QUOTA, texts.LIMIT, texts.ADMISSION):
                text, advice, edits = recognized.text, "", tuple[str, ...]()
                if recognized.kind == texts.QUOTA:
                    advice, edits = raise_quota(text, app, self.commands)
                if recognized.kind == texts.LIMIT and (at := self.commands.line(app, ("limits",))):
                    advice, edits = f"check the limits in {at}", self.commands.edited(at)
                return f"{object_id(workload)} gets no more pods: {text}", advice, edits
        return None

    def _of_pod(
        self,
        app: PlannedApp,
        id: ObjectId,
        crashed: tuple[Manifest, Trouble],
        running: Running,
        events: Sequence[Event],
        evidence: tuple[Evidence, ...],
    ) -> Finding:
        pod, trouble = crashed
        why, advice = trouble.why, ""
        if trouble.reason == "Unschedulable" and "PersistentVolumeClaim" in why:
            why = self._claim(running, pod) or why
        elif trouble.reason == "NotReady":
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
    def _claim(running: Running, owner: Manifest) -> str:
        """What keeps a volume claim of a pod or workload from being bound; "" if nothing does."""
        namespace = mapping_at(owner, "metadata").get("namespace")
        specs = (mapping_at(holder, "spec") for holder in (owner, *running.owned(owner)))
        volumes = [volume for spec in specs for volume in mappings_in(spec.get("volumes"))]
        claims = {str(mapping_at(volume, "persistentVolumeClaim").get("claimName")) for volume in volumes}
        for claim in running.by_kind.get("PersistentVolumeClaim", ()):
            metadata = mapping_at(claim, "metadata")
            if metadata.get("name") not in claims or metadata.get("namespace") != namespace:
                continue
            if mapping_at(claim, "status").get("phase") != "Bound":
                events = running.events_about([claim])
                wanted = mapping_at(claim, "spec").get("storageClassName")
                of = f" of storage class '{wanted}'" if wanted else ""
                return f"volume claim '{metadata['name']}'{of} is not bound{f': {events[0].message}' if events else ''}"
        return ""

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
