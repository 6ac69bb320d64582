"""Judges what the management cluster says of an app: the file's state, sources, dependencies, and Flux's own errors."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta

from tenantry.cluster.standing import Live, Needs, names_of, problems_of_sources, said_of
from tenantry.cluster.standing import state_of as state_of_flux
from tenantry.cluster.status import (
    AppStatus,
    Readiness,
    condition,
    is_stalled,
    last_good,
    message_about,
    moment,
    one_line,
    since_of,
)
from tenantry.cluster.tree import Step, tree_of
from tenantry.kube.objects import Manifest, ObjectId, labels_of
from tenantry.messages.data import mapping_at, mappings_in, value_at
from tenantry.model.durations import seconds_of
from tenantry.plan.objects.lifecycle import STATE_LABEL
from tenantry.plan.plan import Plan
from tenantry.plan.planned_apps import PlannedApp
from tenantry.why import texts
from tenantry.why.findings import Commands, Evidence, Finding, PlaceOf, Stage


@dataclass(frozen=True, slots=True)
class Seen:
    """What the management cluster says of an app. status: as `tenantry status` says. planned: from the source to the reconciler.

    objects: the planned objects that are not as planned, with what to say of each. unread: what of these could not be read.
    """

    app: PlannedApp
    status: AppStatus
    planned: tuple[Manifest, ...]
    needs: Needs
    live: Live
    objects: Mapping[ObjectId, str]
    unread: tuple[str, ...] = ()

    @property
    def reconciler(self) -> Manifest | None:
        return self.live.get(self.app.id)

    @property
    def steps(self) -> tuple[Step, ...]:
        return tree_of(self.app, self.planned, self.live).steps


@dataclass(frozen=True, slots=True)
class FluxJudge:
    """plan: of which the app is a part. place: where the file says something."""

    plan: Plan
    commands: Commands
    place: PlaceOf

    def findings(self, seen: Seen) -> Iterator[Finding]:
        """What is wrong, from the file to Flux's object."""
        found = seen.reconciler
        if found is None:
            yield self._missing(seen)
            return
        if since := mapping_at(found, "metadata").get("deletionTimestamp"):
            yield self._leaving(seen, str(since))
            return
        if seen.status.readiness is Readiness.SUSPENDED:
            yield self._suspended(seen, found)
        yield from self._sources(seen)
        yield from self._dependencies(seen)
        yield from self._own(seen, found)
        yield from self._baseline(seen)

    # --- the file ------------------------------------------------------------------------------------------------------

    def _missing(self, seen: Seen) -> Finding:
        waits = "waits for" in seen.status.message
        cause = f"{seen.app.id} is not on the management cluster"
        if waits:
            cause = f"{seen.app.id} is not there yet: it {one_line(seen.status.message)}"
        return Finding(
            Stage.FILE,
            cause,
            (Evidence(str(seen.app.id), "missing"),),
            next=self.commands.applied(),
        )

    def _leaving(self, seen: Seen, since: str) -> Finding:
        state = labels_of(seen.planned[-1]).get(STATE_LABEL)
        why = f", because the file says 'state: {state}'{self._at(seen.app, 'state')}" if state else ""
        return Finding(
            Stage.FLUX,
            f"{seen.app.id} is being deleted{why}",
            (self._evidence(seen.app.id, seen.live, "being deleted", since),),
            next=(self.commands.of_environment("status"),),
        )

    def _suspended(self, seen: Seen, found: Manifest) -> Finding:
        app, state = seen.app, labels_of(seen.planned[-1]).get(STATE_LABEL)
        if not seen.status.by_hand:
            word = str(state or "paused")
            return Finding(
                Stage.FILE,
                f"the file says 'state: {word}'{self._at(app, 'state')}, so Flux applies no change",
                (self._evidence(app.id, seen.live, "suspended"),),
                f"to resume it, set 'state: active'{self._at(app, 'state')}",
                self._resumes(app),
                follows=True,
            )
        who, since = suspended_by(found)
        by = f" by {who}" if who else ""
        return Finding(
            Stage.FLUX,
            f"it is suspended{by}, so Flux applies no change",
            (self._evidence(app.id, seen.live, "suspended", since),),
            next=(self.commands.resume(app.id),),
            follows=True,
        )

    # --- sources, and what it depends on -------------------------------------------------------------------------------

    def _sources(self, seen: Seen) -> Iterator[Finding]:
        for state, message, id in problems_of_sources(seen.needs.sources, seen.live):
            found, app = seen.live.get(id), seen.app
            said = message.removeprefix(f"{id}: ").rstrip(": ")
            runs = seen.status.readiness is Readiness.READY
            old = "; the app runs what was fetched before" if runs else ""
            since = last_good(found) if found else ""
            evidence = (Evidence(str(id), str(state), since, said),)
            if state is Readiness.MISSING:
                next = self.commands.applied()
                yield Finding(Stage.SOURCE, f"{id} is not on the management cluster", evidence, next=next)
            elif state is Readiness.SUSPENDED:
                who, since = suspended_by(found or {})
                evidence = (Evidence(str(id), "suspended", since),)
                cause = f"{id} is suspended{f' by {who}' if who else ''}, so nothing new is fetched"
                yield Finding(Stage.SOURCE, cause, evidence, next=(self.commands.resume(id),), follows=runs)
            else:
                what = "chart" if id.kind == "HelmChart" else "source"
                key = ("helm", "version") if id.kind == "HelmChart" else ("sources",)
                at = self._at(app, *key)
                yield Finding(
                    Stage.SOURCE,
                    f"the {what} cannot be fetched: {said}{old}",
                    evidence,
                    f"check the {what}{at}" if at else "",
                    (
                        self.commands.describe(id),
                        self.commands.reconcile(app.id, with_source=True),
                    ),
                    follows=runs,
                )
            return

    def _dependencies(self, seen: Seen) -> Iterator[Finding]:
        names, apps = names_of(self.plan), {each.id: each for each in self.plan.apps}
        if seen.status.readiness is Readiness.READY:
            return
        for id in seen.needs.after:
            found = seen.live.get(id)
            if found is None or (state := state_of_flux(found)) is Readiness.READY:
                continue
            said = said_of(found)
            evidence = (Evidence(str(id), str(state), last_good(found), said),)
            if id in apps:
                told = f"it waits for {names[id]} on {apps[id].cluster}: {said}"
                yield Finding(Stage.DEPENDENCY, told, evidence, next=(self.commands.of_app("why", apps[id]),))
            else:
                told = f"{names.get(id, str(id))} on {seen.app.cluster} is not ready: {said}"
                yield Finding(Stage.BASELINE, told, evidence, next=(self.commands.describe(id),))

    def _baseline(self, seen: Seen) -> Iterator[Finding]:
        for id, message in seen.objects.items():
            next = self.commands.applied()
            evidence = (Evidence(str(id), "missing" if "missing" in message else "changed", "", message),)
            if id != seen.app.id and id not in seen.needs.sources:
                yield Finding(Stage.BASELINE, f"{id} is not as planned: {message}", evidence, next=next, follows=True)

    # --- Flux's own object ---------------------------------------------------------------------------------------------

    def _own(self, seen: Seen, found: Manifest) -> Iterator[Finding]:
        status, app = seen.status, seen.app
        if status.readiness in (Readiness.CHANGED, Readiness.OUTDATED):
            by_hand = status.readiness is Readiness.CHANGED
            state = "changed" if by_hand else "not applied yet"
            evidence = (self._evidence(app.id, seen.live, state, "", one_line(status.message)),)
            next = self.commands.applied()
            cause = one_line(status.message).partition("; run `")[0].partition(", otherwise run `")[0]
            yield Finding(Stage.FLUX, cause, evidence, next=next, follows=not by_hand)
        state = state_of_flux(found)
        if state in (Readiness.READY, Readiness.SUSPENDED):
            return
        if unseen := _unseen(found):
            evidence = (self._evidence(app.id, seen.live, "not looked at yet"),)
            yield Finding(Stage.FLUX, unseen, evidence, next=(self.commands.describe(app.id),), follows=True)
        message = one_line(message_about(found))
        evidence = (self._evidence(app.id, seen.live, str(state), "", message),)
        said = texts.recognized(message)
        if said is None:
            who = "Flux has given up" if is_stalled(found) else "Flux"
            cause = f"{who}: {message}" if message else one_line(status.message) or "Flux has not reconciled it yet"
            next = (self.commands.describe(app.id), self.commands.reconcile(app.id))
            yield Finding(Stage.FLUX, cause, evidence, next=next, follows=state is Readiness.PROGRESSING)
        else:
            yield self._recognized(seen, said, message, evidence)

    def _recognized(self, seen: Seen, said: texts.Said, message: str, evidence: tuple[Evidence, ...]) -> Finding:
        app, commands, stage = seen.app, self.commands, Stage.FLUX
        again = commands.reconcile(app.id)
        cause, advice = said.text, ""
        next: tuple[str, ...] = (commands.describe(app.id), again)
        match said.kind:
            case texts.HEALTH:
                waits = seen.status.readiness is Readiness.PROGRESSING
                cause, next = "Flux waits until what it applied is ready" if waits else f"Flux: {message}", (again,)
            case texts.PATH:
                at = self._at(app, "kustomize", "path")
                path = value_at(seen.planned[-1], ("spec", "path"), "./")
                cause = f"path '{path}' does not exist in the source{at and f' (set{at})'}"
                advice = f"correct the path{at}, or push the directory"
                edits = commands.edited(app, ("kustomize", "path"), "", self.place(app, ("kustomize", "path")))
                next = (*edits, commands.reconcile(app.id, with_source=True))
            case texts.RIGHT:
                at = self._at(app, "role")
                advice = f"check the tenant's rights{at}" if at else ""
                next = (commands.run("explain", app.tenant),) if app.tenant else next
            case texts.QUOTA:
                advice = quota_advice(said.text, app, self.place)
                next = (*quota_edits(said.text, app, commands, self.place), again)
            case texts.CONNECTION if "kubeConfig" in mapping_at(seen.planned[-1], "spec"):
                stage, cause = Stage.CLUSTER, f"Flux does not reach cluster '{app.cluster}': {said.text}"
                next = (commands.of_environment("preflight", "--cluster", app.cluster),)
            case texts.CONNECTION:
                cause = f"Flux: {message}"
        return Finding(stage, cause, evidence, advice, next, follows=said.kind == texts.HEALTH)

    def _resumes(self, app: PlannedApp) -> tuple[str, ...]:
        return self.commands.edited(app, ("state",), "", self.place(app, ("state",)))

    def _at(self, app: PlannedApp, *key: str) -> str:
        place = self.place(app, key)
        return f" in {place}" if place else ""

    @staticmethod
    def _evidence(id: ObjectId, live: Live, state: str, since: str = "", message: str = "") -> Evidence:
        found = live.get(id)
        return Evidence(str(id), state, since or (last_good(found) if found else ""), message)


def _unseen(found: Manifest) -> str:
    """That Flux still works on the spec before the last change, if it does: it waits for pods, and says nothing of the change."""
    status, generation = mapping_at(found, "status"), mapping_at(found, "metadata").get("generation")
    ready = condition(status, "Ready")
    seen = ready.get("observedGeneration", status.get("observedGeneration"))
    said = texts.recognized(one_line(message_about(found)))
    if not isinstance(seen, int) or not isinstance(generation, int) or seen >= generation:
        return ""
    if said is None or said.kind != texts.HEALTH:
        return "Flux has not looked at the last change of the spec yet"
    began, timeout = moment(since_of(found, ready)), str(mapping_at(found, "spec").get("timeout") or "")
    until = ""
    if began is not None and _SIMPLE.fullmatch(timeout):
        until = f", at most until {began + timedelta(seconds=seconds_of(timeout)):%H:%M} UTC"
    return (
        "Flux has not looked at the last change of the spec yet: it still waits for the health check of the change before"
        f"{until}"
    )


_SIMPLE = re.compile(r"([0-9]+[smh])+")
"""A duration as the file writes it."""


def quota_advice(text: str, app: PlannedApp, place: PlaceOf) -> str:
    """Where the file sets what a quota refuses."""
    at = _place_of_quota(text, app, place)
    if at or not app.tenant:
        return f"to raise it, change 'quota' in {at}" if at else ""
    return f"to raise it, change 'quota' of tenant '{app.tenant}' in tenants.yaml"


def quota_edits(text: str, app: PlannedApp, commands: Commands, place: PlaceOf) -> tuple[str, ...]:
    """What raises a quota: for pods, to as many as are wanted."""
    found = re.search(r": pods (\d+) of (\d+), (\d+) more wanted", text)
    enough = str(max(int(found[1]) + int(found[3]), int(found[2]) + 1)) if found else ""
    return commands.edited(app, ("quota", "pods" if found else ""), enough, _place_of_quota(text, app, place))


def _place_of_quota(text: str, app: PlannedApp, place: PlaceOf) -> str:
    resource = text.partition("used up: ")[2].partition(" ")[0]
    return place(app, ("quota", resource)) if resource else ""


_WHO = dict.fromkeys(("flux", "flux-cli"), "`flux suspend`")


def suspended_by(found: Manifest) -> tuple[str, str]:
    """Who set `suspend`, and when (RFC 3339); "" where the object does not say."""
    for manager in mappings_in(mapping_at(found, "metadata").get("managedFields")):
        if "f:suspend" in mapping_at(manager, "fieldsV1", "f:spec"):
            name = str(manager.get("manager") or "")
            return _WHO.get(name, f"'{one_line(name)}'" if name else ""), str(manager.get("time") or "")
    return "", ""
