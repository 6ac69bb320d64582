"""Judges an app by the management cluster: the file's state, sources, dependencies, and Flux's own errors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from tenantry.cluster.inventory import is_own
from tenantry.cluster.report import why_command
from tenantry.cluster.states import PAUSED, State
from tenantry.kube.objects import Manifest, ObjectId, labels_of, object_id
from tenantry.messages.data import mapping_at, mappings_in, value_at
from tenantry.messages.text import one_line
from tenantry.plan.objects.lifecycle import STATE_LABEL
from tenantry.plan.planned_apps import PlannedApp
from tenantry.rollout.flux_status import (
    Readiness,
    changed_at,
    is_stalled,
    message_about,
    message_of,
    ready_of,
    reason_of,
    revision_of,
    state_of,
)
from tenantry.rollout.readiness import MISSING, Live, Reconciler, Since, source_problems, unready_since
from tenantry.why import texts
from tenantry.why.findings import Commands, Evidence, Finding, Stage


@dataclass(frozen=True, slots=True)
class Seen:
    """What the management cluster says of an app. state: as `tenantry status` says. planned: from the source to the reconciler.

    objects: what it depends on and is not as planned, with what to say of each. unread: what of these could not be read.
    """

    app: PlannedApp
    state: State
    planned: tuple[Manifest, ...]
    needs: Reconciler
    live: Live
    objects: Mapping[ObjectId, str]
    unread: tuple[str, ...] = ()

    @property
    def since(self) -> Since:
        return Since(self.state.since or "", self.state.at_most)

    @property
    def reconciler(self) -> Manifest | None:
        """The app's Kustomization or HelmRelease as it is; None: it is missing."""
        return self.live.get(self.app.id)


def trail(seen: Seen) -> Iterator[Evidence]:
    """The sources, charts and the reconciler of an app, each with what it says."""
    for planned in seen.planned:
        id = object_id(planned)
        live, state, since = seen.live.get(id), seen.state.readiness, seen.since
        if id == seen.app.id and live is not None and state in (Readiness.FAILED, Readiness.PROGRESSING):
            yield Evidence(str(id), state, since.at, one_line(seen.state.message), since.at_most)
        else:
            yield _step(planned, id, live, seen.since if id == seen.app.id else None)


def _step(planned: Manifest, id: ObjectId, live: Manifest | None, app: Since | None) -> Evidence:
    if live is None:
        return Evidence(str(id), Readiness.MISSING, message=MISSING)
    if not is_own(planned, live):
        stranger = "it exists, but its labels do not say that it belongs to this environment"
        return Evidence(str(id), Readiness.FAILED, message=stranger)
    readiness, ready = state_of(live), ready_of(live)
    if readiness is Readiness.READY:
        since = app or Since(str(ready.get("lastTransitionTime") or ""))
        revision = value_at(live, ("status", "artifact", "revision")) or revision_of(mapping_at(live, "status"))
        return Evidence(str(id), readiness, since.at, str(revision or ""), since.at_most)
    message = message_of(ready)
    if readiness is Readiness.SUSPENDED:
        message = PAUSED if mapping_at(planned, "spec").get("suspend") is True else "suspended by hand, not in the file"
    return _unready(id, live, readiness, one_line(message))


def _unready(id: ObjectId, live: Manifest | None, state: str, message: str) -> Evidence:
    """An object that is not ready, and since when."""
    since = unready_since(live, changed_at(live)) if live else Since()
    return Evidence(str(id), state, since.at, message, since.at_most)


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
            waits, message = seen.state.waits, one_line(seen.state.message)
            cause = f"{seen.app.id} is not {f'there yet: {message}' if waits else 'on the management cluster'}"
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
            yield self._suspended(seen, live)
        yield from self._source(seen)
        yield from self._dependencies(seen)
        yield from self._own(seen, live)
        for id, message in seen.objects.items():
            if id != seen.app.id and id not in seen.needs.sources:
                evidence = (Evidence(str(id), "missing" if "missing" in message else "changed", "", message),)
                cause, next = f"{id} is not as planned: {message}", self.commands.applied()
                yield Finding(Stage.BASELINE, cause, evidence, next=next, follows=True)

    def _suspended(self, seen: Seen, live: Manifest) -> Finding:
        app, line = seen.app, self.commands.line(seen.app, ("state",))
        if seen.state.suspended_by_hand:
            who, since = suspended_by(live)
            cause = f"it is suspended{f' by {who}' if who else ''}, so Flux applies no change"
            evidence = (self._evidence(seen, "suspended", since),)
            return Finding(Stage.FLUX, cause, evidence, next=(self.commands.resume(app.id),), follows=True)
        at, state = f" in {line}" if line else "", labels_of(seen.planned[-1]).get(STATE_LABEL) or "paused"
        cause, advice = (
            f"the file says 'state: {state}'{at}, so Flux applies no change",
            "to resume it, set 'state: active'",
        )
        evidence, next = (self._evidence(seen, "suspended"),), self.commands.edited(line)
        return Finding(Stage.FILE, cause, evidence, f"{advice}{at}", next, follows=True)

    # --- sources, and what it depends on -------------------------------------------------------------------------------

    def _source(self, seen: Seen) -> Iterator[Finding]:
        """The first source or chart that is not what was asked for."""
        problem = next(source_problems(seen.needs.sources, seen.live, self.now), None)
        if problem is None:
            return
        id, state, app = problem.cause, problem.readiness, seen.app
        live, runs = seen.live.get(id), seen.state.readiness is Readiness.READY
        message = problem.message.removeprefix(f"{id}: ").rstrip(": ")
        evidence = _unready(id, live, state, message)
        if state is Readiness.MISSING:
            cause = f"{id} is not on the management cluster"
            yield Finding(Stage.SOURCE, cause, (evidence,), next=self.commands.applied())
        elif state is Readiness.SUSPENDED:
            who, suspended = suspended_by(live or {})
            cause = f"{id} is suspended{f' by {who}' if who else ''}, so nothing new is fetched"
            evidence = Evidence(str(id), "suspended", suspended)
            yield Finding(Stage.SOURCE, cause, (evidence,), next=(self.commands.resume(id),), follows=runs)
        else:
            what, key = ("chart", ("helm", "version")) if id.kind == "HelmChart" else ("source", ("sources",))
            at = self._at(app, *key)
            yield Finding(
                Stage.SOURCE,
                f"the {what} cannot be fetched: {message}{'; the app runs what was fetched before' if runs else ''}",
                (evidence,),
                f"check the {what}{at}" if at else "",
                (self.commands.describe(id), self.commands.reconcile(app.id, with_source=True)),
                follows=runs,
            )

    def _dependencies(self, seen: Seen) -> Iterator[Finding]:
        for before in seen.needs.after if seen.state.readiness is not Readiness.READY else ():
            live = seen.live.get(before.id)
            if live is None or (state := state_of(live)) is Readiness.READY:
                continue
            message = reason_of(live)
            evidence = (_unready(before.id, live, state, message),)
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
                yield Finding(Stage.BASELINE, cause, evidence, next=(self.commands.describe(before.id),))

    # --- Flux's own object ---------------------------------------------------------------------------------------------

    def _own(self, seen: Seen, live: Manifest) -> Iterator[Finding]:
        state, app = seen.state, seen.app
        if state.readiness in (Readiness.CHANGED, Readiness.OUTDATED):
            by_hand, message = state.readiness is Readiness.CHANGED, one_line(state.message)
            evidence = (self._evidence(seen, "changed" if by_hand else "not applied yet", "", message),)
            cause = message.partition("; run `")[0].partition(", otherwise run `")[0]
            yield Finding(Stage.FLUX, cause, evidence, next=self.commands.applied(), follows=not by_hand)
        own = state_of(live)
        if own in (Readiness.READY, Readiness.SUSPENDED):
            return
        message = one_line(message_about(live))
        evidence = (self._evidence(seen, str(own), "", message),)
        if recognized := texts.recognized(message):
            yield self._recognized(seen, recognized, message, evidence)
            return
        who = "Flux has given up" if is_stalled(live) else "Flux"
        cause = f"{who}: {message}" if message else one_line(state.message) or "Flux has not reconciled it yet"
        next = (self.commands.describe(app.id), self.commands.reconcile(app.id))
        yield Finding(Stage.FLUX, cause, evidence, next=next, follows=own is Readiness.PROGRESSING)

    def _recognized(
        self, seen: Seen, recognized: texts.Recognized, message: str, evidence: tuple[Evidence, ...]
    ) -> Finding:
        app, commands, stage = seen.app, self.commands, Stage.FLUX
        again = commands.reconcile(app.id)
        cause, advice = recognized.text, ""
        next: tuple[str, ...] = (commands.describe(app.id), again)
        match recognized.kind:
            case texts.HEALTH:
                waits = seen.state.readiness is Readiness.PROGRESSING
                cause, next = "Flux waits until what it applied is ready" if waits else f"Flux: {message}", (again,)
            case texts.PATH:
                line = commands.line(app, ("kustomize", "path"))
                at = f" in {line}" if line else ""
                path = value_at(seen.planned[-1], ("spec", "path"), "./")
                cause = f"path '{path}' does not exist in the source{at and f' (set{at})'}"
                advice = f"correct the path{at}, or push the directory"
                next = (*commands.edited(line), commands.reconcile(app.id, with_source=True))
            case texts.RIGHT:
                at = self._at(app, "role")
                advice = f"check the tenant's rights{at}" if at else ""
                next = (commands.run("explain", app.tenant),) if app.tenant else next
            case texts.QUOTA:
                advice, edits = raise_quota(recognized.text, app, commands)
                next = (*edits, again)
            case texts.CONNECTION if "kubeConfig" in mapping_at(seen.planned[-1], "spec"):
                stage, cause = Stage.CLUSTER, f"Flux does not reach cluster '{app.cluster}': {recognized.text}"
                next = (commands.run("preflight", "--cluster", app.cluster),)
            case texts.CONNECTION:
                cause = f"Flux: {message}"
        return Finding(stage, cause, evidence, advice, next, follows=recognized.kind == texts.HEALTH)

    def _at(self, app: PlannedApp, *key: str) -> str:
        line = self.commands.line(app, key)
        return f" in {line}" if line else ""

    @staticmethod
    def _evidence(seen: Seen, state: str, since: str = "", message: str = "") -> Evidence:
        known = seen.since
        return Evidence(str(seen.app.id), state, since or known.at, message, not since and known.at_most)


def raise_quota(text: str, app: PlannedApp, commands: Commands) -> tuple[str, tuple[str, ...]]:
    """What to change where a quota refuses something, and what to type for that."""
    resource = text.partition("used up: ")[2].partition(" ")[0]
    at = commands.line(app, ("quota", resource)) if resource else ""
    advice = f"to raise it, change 'quota' in {at}" if at else ""
    if not at and app.tenant:
        advice = f"to raise it, change 'quota' of tenant '{app.tenant}' in tenants.yaml"
    return advice, commands.edited(at)


_WHO = dict.fromkeys(("flux", "flux-cli"), "`flux suspend`")


def suspended_by(live: Manifest) -> tuple[str, str]:
    """Who set `suspend`, and when (RFC 3339); "" where the object does not say."""
    for manager in mappings_in(mapping_at(live, "metadata").get("managedFields")):
        if "f:suspend" in mapping_at(manager, "fieldsV1", "f:spec"):
            name = str(manager.get("manager") or "")
            return _WHO.get(name, f"'{one_line(name)}'" if name else ""), str(manager.get("time") or "")
    return "", ""
