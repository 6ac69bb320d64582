"""Judges what an app's own cluster says: its objects, their pods and events, quotas, or that it does not answer."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tenantry.cluster.health import PULLS, Health, State, Trouble, state_of_object
from tenantry.cluster.running import Event, Running
from tenantry.kube.objects import Manifest, ObjectId, object_id, readable_id
from tenantry.kube.values import number_of
from tenantry.messages.data import mapping_at, mappings_in
from tenantry.messages.errors import UNREACHABLE, Refused
from tenantry.messages.text import one_line, printable
from tenantry.plan.planned_apps import PlannedApp
from tenantry.why import texts
from tenantry.why.findings import Commands, Evidence, Finding, PlaceOf, Stage, named
from tenantry.why.flux import raise_quota

_EVENTS = 3
"""So many events are shown of an object and what belongs to it."""
_NEARLY = 0.9
"""From this share of a quota on, a note tells of it."""
_WITH_LOGS = ("CrashLoopBackOff", "Error", "NotReady")
_PODS = ("Deployment", "StatefulSet", "DaemonSet", "Job", "CronJob")


def unreached(
    app: PlannedApp, refused: Refused, commands: Commands, evidence: Sequence[Evidence] = (), flux: str = ""
) -> Finding:
    """The finding that the app's cluster cannot be read. evidence: of the kubeconfig, and what Flux says; flux: in a few words."""
    check = commands.of_environment("preflight", "--cluster", app.cluster)
    what = "does not answer" if refused.code == UNREACHABLE else "cannot be read"
    cause = f"cluster '{app.cluster}' {what}: {refused.message}{f'; {flux}' if flux else ''}"
    return Finding(Stage.CLUSTER, cause, tuple(evidence), one_line(refused.fix), (check,))


@dataclass(frozen=True, slots=True)
class ClusterJudge:
    """place: where the file says something. there: the options of kubectl for the app's cluster; "": there is no way."""

    commands: Commands
    place: PlaceOf
    there: str

    def findings(self, app: PlannedApp, running: Running) -> Iterator[Finding]:
        """What is wrong with the app's objects: what explains most comes first."""
        states = {id: running.state_of(id) for id in running.objects}
        bad = [id for id, state in states.items() if state.health not in (Health.READY, Health.UNKNOWN)]
        found = [self._finding(app, running, id, states[id]) for id in bad]
        rank = {Health.FAILED: 0, Health.MISSING: 1, Health.PROGRESSING: 2}
        explained = sorted(
            zip(bad, found, strict=True), key=lambda each: (not _tells(each[1]), rank[states[each[0]].health])
        )
        yield from (finding for _, finding in explained)

    def _finding(self, app: PlannedApp, running: Running, id: ObjectId, state: State) -> Finding:
        found = running.objects[id]
        shown = Evidence(str(id), str(state.health), state.since, state_of_object(found).why or state.why)
        if found is None:
            again = self.commands.reconcile(app.id)
            return Finding(Stage.OBJECT, f"{id}, which Flux applied, is not on {app.cluster}", (shown,), next=(again,))
        family = [found, *running.owned(found)]
        events = running.events_about(family)
        evidence = (shown, *self._pods(running, found), *map(_of_event, events[:_EVENTS]))
        if refusal := self._refusal(app, found, events, state.why):
            cause, advice, edits = refusal
            return Finding(Stage.OBJECT, cause, evidence, advice, (*edits, *self._kubectl("describe", id)))
        troubles = running.troubles(found) if id.kind in _PODS else []
        if troubles:
            return self._of_pod(app, id, troubles[0], running, events, evidence)
        if id.kind in _PODS and (claim := self._claim(running, found)):
            return Finding(Stage.OBJECT, f"{id}: {claim}", evidence, next=self._kubectl("describe", id))
        told = f": {events[0].message}" if events and state.health is Health.PROGRESSING and not state.why else ""
        return Finding(Stage.OBJECT, f"{id}: {state.why}{told}", evidence, next=self._kubectl("describe", id))

    def _refusal(
        self, app: PlannedApp, found: Manifest, events: Sequence[Event], why: str
    ) -> tuple[str, str, tuple[str, ...]] | None:
        """Why the API server refuses the pods of a workload, what to change, and what to type for that."""
        messages = [
            why,
            *(each.message for each in events if each.reason in ("FailedCreate", "FailedCreatePodGroup")),
        ]
        for message in messages:
            said = texts.recognized(message)
            if said and said.kind in (texts.QUOTA, texts.LIMIT, texts.ADMISSION):
                id, text, advice, edits = object_id(found), said.text, "", tuple[str, ...]()
                if said.kind == texts.QUOTA:
                    text = _with_replicas(text, found)
                    advice, edits = raise_quota(text, app, self.commands, self.place)
                if said.kind == texts.LIMIT and (at := self.place(app, ("limits",))):
                    advice, edits = f"check the limits in {at}", self.commands.edited(app, ("limits",), "", at)
                return f"{id} gets no more pods: {text}", advice, edits
        return None

    def _of_pod(
        self,
        app: PlannedApp,
        id: ObjectId,
        found: tuple[Manifest, Trouble],
        running: Running,
        events: Sequence[Event],
        evidence: tuple[Evidence, ...],
    ) -> Finding:
        pod, trouble = found
        why, advice = trouble.why, ""
        if trouble.reason == "Unschedulable" and "PersistentVolumeClaim" in why:
            why = self._claim(running, pod) or why
        elif trouble.reason == "NotReady":
            probe = next((each.message for each in events if each.reason == "Unhealthy"), "")
            why = f"{why}: {probe}" if probe else why
        if "OOMKilled" in why and (limit := _memory_limit(pod, trouble.container)):
            why, advice = f"{why} (memory limit {limit})", "raise the container's memory limit, or look for the leak"
        if trouble.reason in PULLS:
            at = self.place(app, ("kustomize", "source")) or self.place(app, ("helm", "chart"))
            source = f"; see the source at {at}" if at else ""
            advice = f"correct the image in the app's manifests or chart values{source}"
        about = object_id(pod)
        logs = self._kubectl("logs", about, trouble) if trouble.reason in _WITH_LOGS else ()
        return Finding(Stage.OBJECT, f"{id}: {why}", evidence, advice, (*logs, *self._kubectl("describe", about)))

    @staticmethod
    def _claim(running: Running, owner: Manifest) -> str:
        """What keeps a volume claim of a pod or workload from being bound; "" if nothing does."""
        claims = {str(mapping_at(each, "persistentVolumeClaim").get("claimName")) for each in _volumes(owner)}
        space = mapping_at(owner, "metadata").get("namespace")
        for pod in running.owned(owner):
            claims |= {str(mapping_at(each, "persistentVolumeClaim").get("claimName")) for each in _volumes(pod)}
        for claim in running.by_kind.get("PersistentVolumeClaim", ()):
            metadata = mapping_at(claim, "metadata")
            if metadata.get("name") not in claims or metadata.get("namespace") != space:
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
        if not self.there:
            return ()
        what = named(id)[1:] if verb == "logs" else named(id)
        container = ("--container", trouble.container) if trouble and trouble.container else ()
        before = ("--previous",) if trouble and trouble.reason == "CrashLoopBackOff" else ()
        return (f"{shlex.join(('kubectl', verb, *what, *container, *before))} {self.there}",)

    def notes(self, running: Running) -> Iterator[str]:
        """Quotas that are nearly used up."""
        for quota in running.by_kind.get("ResourceQuota", ()):
            status, id = mapping_at(quota, "status"), readable_id(quota)
            for name, limit in mapping_at(status, "hard").items():
                used = mapping_at(status, "used").get(name)
                share = _share(used, limit)
                if id and share is not None and share >= _NEARLY:
                    much = "used up" if share >= 1 else "nearly used up"
                    yield printable(
                        f"quota '{id.name}' in namespace {id.namespace} is {much}: {name} {used} of {limit}"
                    )


def _tells(finding: Finding) -> bool:
    """Whether a finding says more than that pods are missing."""
    return not re.search(r": \d+ of \d+ pods (?:ready|are of the new version[^:]*)$", finding.cause)


def _with_replicas(text: str, found: Manifest) -> str:
    """The quota's text, which is about one pod at a time, with how many pods are wanting."""
    wanted, exist = mapping_at(found, "spec").get("replicas"), mapping_at(found, "status").get("replicas", 0)
    if not isinstance(wanted, int) or not isinstance(exist, int) or wanted <= exist:
        return text
    counts = f"({wanted} replicas, {exist} exist)"
    counted = re.sub(r"(: pods \S+ of \S+), 1 more wanted", rf"\1, {wanted - exist} more wanted {counts}", text)
    return counted if counted != text else f"{text} {counts}"


def _of_event(event: Event) -> Evidence:
    times = f" ({event.times} times)" if event.times > 1 else ""
    return Evidence(f"Event of {event.about}", f"{event.reason}{times}", event.at, event.message)


def _volumes(owner: Manifest) -> list[dict[str, object]]:
    return mappings_in(mapping_at(owner, "spec").get("volumes"))


def _memory_limit(pod: Manifest, container: str) -> str:
    found = next(
        (each for each in mappings_in(mapping_at(pod, "spec").get("containers")) if each.get("name") == container), {}
    )
    return str(mapping_at(found, "resources", "limits").get("memory") or "")


def _share(used: object, limit: object) -> float | None:
    """Which part of a limit is used; None: one of the two is no quantity, or nothing is allowed."""
    have, most = number_of(used), number_of(limit)
    return float(have / most) if have is not None and most else None
