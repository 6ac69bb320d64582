"""Whether a Kustomization or HelmRelease is ready, has failed or is not reached, and since when.

One judge for the waves of a rollout, for `after`, `status` and `why`: a pure function of one reading and of the time. It judges a
reconciler with its sources and charts, and with what it depends on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from typing import NamedTuple, TypeAlias

from tenantry.flux.references import references
from tenantry.kube.objects import Manifest, ObjectId, Owner, object_id
from tenantry.messages.data import mapping_at, mappings_in, value_at
from tenantry.messages.text import one_line
from tenantry.model.durations import seconds_of
from tenantry.plan.engine_order import Chains, is_reconciled
from tenantry.plan.plan import Plan
from tenantry.rollout.flux_status import (
    REQUESTED,
    SUCCEEDED,
    Readiness,
    began_at,
    changed_at,
    condition,
    digest_of,
    history_of,
    is_cut_off,
    is_observed,
    is_stalled,
    last_of,
    latest,
    message_about,
    message_of,
    moment,
    ready_of,
    reason_of,
    state_of,
    unready_since,
)

Live: TypeAlias = Mapping[ObjectId, Manifest]
"""What has been read from the management cluster."""
MISSING = "not on the management cluster: run `tenantry up`"
"""The message for an object that is planned and does not exist."""


@dataclass(frozen=True, slots=True)
class Reconciler:
    """A Kustomization or HelmRelease, and what it needs.

    name:    what users call it: `rocky/web`, `platform/dns`, or `the baseline of rocky`.
    owner:   the tenant and the cluster that it is for.
    sources: what it takes its content from, from the first source to the last chart.
    inputs:  the planned ConfigMaps and Secrets that it reads.
    after:   the reconcilers that it depends on, such as its baseline.
    """

    id: ObjectId
    owner: Owner
    name: str
    sources: tuple[ObjectId, ...] = ()
    inputs: tuple[ObjectId, ...] = ()
    after: tuple[Reconciler, ...] = ()


def reconcilers_of(plan: Plan) -> dict[ObjectId, Reconciler]:
    """The reconcilers of a plan, in its order: dependencies come first."""
    chains, apps = Chains(plan), {app.id: app.full_name for app in plan.apps}
    planned_ids = {planned.id for planned in plan.objects}
    reconcilers: dict[ObjectId, Reconciler] = {}
    for planned in plan.objects:
        id = planned.id
        if is_reconciled(id):
            # Their values change what it applies.
            named = references(id.kind, planned.manifest["spec"])
            inputs = (ObjectId("v1", reference.kind, id.namespace, reference.name) for reference in named)
            baseline = f"the baseline of {planned.owner.tenant}" if planned.owner.tenant else str(id)
            reconcilers[id] = Reconciler(
                id,
                planned.owner,
                apps.get(id) or baseline,
                tuple(map(object_id, chains.of(id)[:-1])),
                tuple(input for input in inputs if input in planned_ids),
                tuple(reconcilers[before] for before in planned.depends_on if before in reconcilers),
            )
    return reconcilers


class Request(NamedTuple):
    """A value of `requestedAt` that makes Flux reconcile an object now. once: in a run, also if it changes nothing."""

    id: ObjectId
    token: str
    once: bool = False


class Standing(NamedTuple):
    """How a reconciler or a source is.

    message: Flux's reason, or what it waits for; "" if there is nothing to say.
    cause:   the object that decides: the reconciler itself, a source, or what it waits for.
    lasts:   whether it has failed for good: Flux has given up, or two attempts since the last change ended in the same failure; in
             a run also whether it has not been ready for longer than the timeout.
    request: what Flux has to be asked for, so that it goes on; None: nothing.
    since:   in a run, since when it is ready; None: not known.
    """

    readiness: Readiness
    message: str
    cause: ObjectId
    lasts: bool = False
    request: Request | None = None
    since: datetime | None = None


# --- one reconciler ---------------------------------------------------------------------------------------------------


def judge(reconciler: Reconciler, live: Live, now: datetime, begun: datetime | None = None) -> Standing:
    """How a reconciler is. What is not in `live` apart from itself says nothing.

    A source that has failed is the failure of what needs it. One that is not ready only because it could not be fetched again
    is none: what was fetched before is what its spec asks for.

    begun: when somebody began to watch: no attempt before that counts.
    """
    id, manifest = reconciler.id, live.get(reconciler.id)
    if manifest is None:
        return Standing(Readiness.MISSING, MISSING, id)
    own = state_of(manifest)
    if own is Readiness.SUSPENDED:
        return Standing(own, "", id)
    for problem in source_problems(reconciler.sources, live, now, begun):
        state, source = problem.readiness, live.get(problem.cause)
        is_fetched = own is Readiness.READY and source is not None and is_observed(source)
        if state not in (Readiness.SUSPENDED, Readiness.MISSING) and not is_fetched:
            return problem if state is Readiness.FAILED else _waiting(problem)
    revision = fetched_revision(reconciler, live)
    is_tried = is_of(revision, manifest)
    if own is Readiness.READY:
        if is_tried:
            return Standing(own, message_about(manifest), id)
        return Standing(Readiness.PROGRESSING, f"Flux has not applied {one_line(revision)} yet", id)
    if waits := next(_waits_for(reconciler, manifest, live, now, begun), None):
        return waits
    # What Flux gave up may have been the revision before.
    attempted = mapping_at(manifest, "status").get("lastAttemptedRevision")
    is_current = is_tried or (manifest["kind"] == "Kustomization" and attempted == revision)
    failed = own is Readiness.FAILED and _failed_again(manifest, _content_at(reconciler, live), now, begun)
    lasts = is_current if is_stalled(manifest) else failed
    return Standing(own, reason_of(manifest), id, lasts)


def _waiting(problem: Standing) -> Standing:
    return problem._replace(readiness=Readiness.PROGRESSING, message=f"waits for {problem.message}")


def source_problems(
    sources: Iterable[ObjectId], live: Live, now: datetime, begun: datetime | None = None
) -> Iterator[Standing]:
    """What keeps sources from being what was asked for, the first source first."""
    before: Manifest | None = None
    failed = False
    for id in sources:
        found = live.get(id)
        if found is None:
            yield Standing(Readiness.MISSING, f"{id} is not on the management cluster", id)
            return
        state = state_of(found)
        if state is Readiness.SUSPENDED:
            yield Standing(state, f"{id} is suspended by hand", id)
        elif state is not Readiness.READY:
            # A chart does not fail while its repository does.
            again = state is Readiness.FAILED and _failed_again(found, changed_at(found), now, begun)
            lasts = is_stalled(found) or (again and not failed)
            failed = True
            yield Standing(state, f"{id}: {reason_of(found)}", id, lasts)
        elif behind := _behind_source(id, found, before):
            yield Standing(Readiness.PROGRESSING, behind, id)
        before = found


def _behind_source(id: ObjectId, chart: Manifest, source: Manifest | None) -> str:
    """Whether a chart is of an older revision of its source. The index of a HelmRepository says nothing about one chart."""
    revision = value_at(source or {}, ("status", "artifact", "revision"))
    if source is None or not revision or source["kind"] == "HelmRepository":
        return ""
    if value_at(chart, ("status", "observedSourceArtifactRevision")) == revision:
        return ""
    return f"{id} is not from {one_line(str(revision))} yet"


def _waits_for(
    reconciler: Reconciler, manifest: Manifest, live: Live, now: datetime, begun: datetime | None
) -> Iterator[Standing]:
    """What a reconciler that is not ready waits for: what it depends on, and the next attempt after that became ready."""
    ready, failed = ready_of(manifest), state_of(manifest) is Readiness.FAILED
    applied = mapping_at(manifest, "status").get(
        "lastAppliedRevision" if manifest["kind"] == "Kustomization" else "history"
    )
    for before in reconciler.after:
        other = live.get(before.id)
        if other is None or (state := state_of(other)) is Readiness.SUSPENDED:
            continue
        if state is Readiness.FAILED and failed and applied:
            continue  # both fail, as with a kubeconfig that is no longer accepted, and nothing waits
        is_looked_after = ready_of(other).get("status") == "Unknown" and is_observed(other)
        if state is not Readiness.READY and (state is Readiness.FAILED or not is_looked_after):
            lasts = state is Readiness.FAILED and judge(before, live, now, begun).lasts
            waits = Standing(state, f"{before.name}: {reason_of(other)}", before.id, lasts)
            yield _waiting(waits)
        elif state is Readiness.READY and not is_stalled(manifest):
            ended, good = _ended(manifest), _good_since(other)
            if ended is not None and good is not None and ended <= good:
                message = f"tried before {before.name} was ready, and is tried again: {message_of(ready)}"
                # Flux waits for its interval then, which nobody has to.
                request = Request(reconciler.id, f"tenantry-{good:%Y%m%d%H%M%S}", once=True)
                yield Standing(Readiness.PROGRESSING, message, reconciler.id, request=request)


def _good_since(manifest: Manifest) -> datetime | None:
    """Since when an object that is Ready applies what it applies. A Kustomization's condition changes at each interval."""
    return moment(last_of(manifest).get("firstReconciled") or ready_of(manifest).get("lastTransitionTime"))


def _ended(manifest: Manifest) -> datetime | None:
    """When the last attempt ended that failed. While a Kustomization is tried again, only its history knows."""
    ready = ready_of(manifest)
    return moment(
        ready.get("lastTransitionTime") if ready.get("status") == "False" else last_of(manifest).get("lastReconciled")
    )


def fetched_revision(reconciler: Reconciler, live: Live) -> str:
    """The revision that the last source or chart has fetched; "" if it is not known."""
    source = live.get(reconciler.sources[-1], {}) if reconciler.sources else {}
    return str(value_at(source, ("status", "artifact", "revision")) or "")


def is_of(revision: str, manifest: Manifest) -> bool:
    """Whether a reconciler's status is of a source's revision."""
    status = mapping_at(manifest, "status")
    if not revision:
        return True
    if manifest["kind"] == "Kustomization":
        return status.get("lastAppliedRevision") == revision
    attempted = status.get("lastAttemptedRevision")
    if value_at(status, ("history", 0, "chartVersion")) not in (None, attempted):
        return False
    # helm-controller puts the digest of a chart from a registry into fields of their own, and twelve digits of it into the version.
    digest = digest_of(revision)
    if "@" in revision and value_at(status, ("history", 0, "ociDigest")) not in (None, digest):
        return False
    return attempted == revision or status.get("lastAttemptedRevisionDigest") == digest


# --- failures that last -----------------------------------------------------------------------------------------------

_PATIENCE = timedelta(seconds=15)
"""Within this time a change of the fleet may still be going on, so the same failure does not count twice."""


def _failed_again(manifest: Manifest, changed: datetime | None, now: datetime, begun: datetime | None) -> bool:
    """Whether at least two attempts since the last change have ended in the failure that Flux reports now.

    A first attempt can fail normally: until the baseline of a tenant exists, its apps may not be applied.
    changed: when the content changed last. begun: as of `judge`.
    """
    ended, status = _ended(manifest), mapping_at(manifest, "status")
    if ended is None:
        return False
    if manifest["kind"] != "Kustomization" and condition(status, "Released").get("status") != "False":
        # Nothing shows the attempts. Flux tries again after less than a second, then after twice as long each time: another attempt
        # comes within the time since the first.
        started = latest(ended, changed, begun) or ended
        return now - started >= max(_PATIENCE, started - ended)
    created = moment(mapping_at(manifest, "metadata").get("creationTimestamp"))
    since = latest(changed or created, begun)
    if since is None or ended - since < _PATIENCE:
        return False
    if manifest["kind"] != "Kustomization":
        failures = status.get("failures")
        return isinstance(failures, int) and failures >= 2
    last = last_of(manifest)
    first, count = moment(last.get("firstReconciled")), last.get("totalReconciliations")
    is_failure = last.get("lastReconciledStatus") not in (None, SUCCEEDED)
    if is_failure and isinstance(count, int) and count >= 2 and first is not None and first >= since:
        return True
    spec = mapping_at(manifest, "spec")
    began = began_at(last) if is_failure and moment(last.get("lastReconciled")) == ended else None
    interval = seconds_of(str(spec.get("retryInterval") or spec.get("interval")))
    return (began or ended) - since > timedelta(seconds=interval)


def _changed_at(reconciler: Reconciler, live: Live) -> datetime | None:
    """When a run changed a reconciler, its sources, charts or inputs last."""
    parts = (reconciler.id, *reconciler.sources, *reconciler.inputs)
    return latest(*(changed_at(live[id]) for id in parts if id in live))


def _fetched_at(reconciler: Reconciler, live: Live) -> datetime | None:
    """When the content of a reconciler changed last: by a run, or by its sources."""
    sources = (live[id] for id in reconciler.sources if id in live)
    fetched = (moment(value_at(source, ("status", "artifact", "lastUpdateTime"))) for source in sources)
    return latest(_changed_at(reconciler, live), *fetched)


def _content_at(reconciler: Reconciler, live: Live) -> datetime | None:
    """The same, or when what it depends on became ready."""
    before = (live[before.id] for before in reconciler.after if before.id in live)
    return latest(
        _fetched_at(reconciler, live),
        *(_good_since(other) for other in before if state_of(other) is Readiness.READY),
    )


# --- clusters that Flux does not reach --------------------------------------------------------------------------------


def judge_all(
    reconcilers: Iterable[Reconciler], live: Live, now: datetime, begun: datetime | None = None
) -> dict[ObjectId, Standing]:
    """How reconcilers are. What a cluster cannot get for want of a connection has not failed: it is unreachable."""
    reconcilers = list(reconcilers)
    unreached = {reconciler.owner.cluster for reconciler in reconcilers if is_cut_off(live.get(reconciler.id, {}))}
    standings: dict[ObjectId, Standing] = {}
    for reconciler in reconcilers:
        standing, manifest = judge(reconciler, live, now, begun), live.get(reconciler.id, {})
        failed = standing.readiness is Readiness.FAILED
        # It can be no better for want of a connection alone. While Flux tries again, nothing tells why the attempt before failed.
        lost = is_cut_off(manifest) or not failed or ready_of(manifest).get("status") != "False"
        is_own = standing.cause not in reconciler.sources and (failed or standing.readiness is Readiness.PROGRESSING)
        if reconciler.owner.cluster in unreached and is_own and lost:
            message = f"Flux does not reach {reconciler.owner.cluster}: {standing.message}"
            standing = Standing(Readiness.UNREACHABLE, message, standing.cause)
        standings[reconciler.id] = standing
    return standings


# --- for a run that waits -----------------------------------------------------------------------------------------------


def judge_reconcilers(
    reconcilers: Iterable[Reconciler], live: Live, now: datetime, timeout: timedelta, *, asks: bool = True
) -> dict[ObjectId, Standing]:
    """Whether Flux has applied this generation, from this revision, with these inputs.

    What has failed and does not last is progressing. What somebody has suspended by hand, or its source, is suspended.

    timeout: for an attempt, from the last change. asks: whether Flux has to have handled a request for the present inputs.
    """
    reconcilers = list(reconcilers)
    standings = judge_all(reconcilers, live, now)
    return {
        reconciler.id: _awaited(reconciler, standings[reconciler.id], live, now, timeout, asks=asks)
        for reconciler in reconcilers
    }


def _awaited(
    reconciler: Reconciler, standing: Standing, live: Live, now: datetime, timeout: timedelta, *, asks: bool
) -> Standing:
    id, reconciled = reconciler.id, live.get(reconciler.id)
    if reconciled is None:
        return Standing(Readiness.PROGRESSING, "not on the management cluster", id)
    if standing.readiness is Readiness.SUSPENDED:
        return standing._replace(message="suspended by hand")
    # What keeps newer content from coming counts, also if the reconciler is ready with what was fetched before.
    is_of_source = standing.cause in reconciler.sources
    problem = standing if is_of_source else next(source_problems(reconciler.sources, live, now), None)
    if problem and problem.readiness is Readiness.SUSPENDED:
        return problem
    token = token_of(reconciler, live) if asks else ""
    if problem is None and token and mapping_at(reconciled, "status").get("lastHandledReconcileAt") != token:
        asked = mapping_at(reconciled, "metadata", "annotations").get(REQUESTED) == token
        request = None if asked else Request(id, token)
        unread = Standing(Readiness.PROGRESSING, "Flux has not read its configs again yet", id, request=request)
        changed = latest(*(changed_at(live[input]) for input in reconciler.inputs if input in live))
        return _late(unread, changed, now, timeout)
    if problem is None and standing.readiness is Readiness.READY:
        return Standing(Readiness.READY, "", id, since=since_of(reconciler, live))
    problem = problem or standing
    state = Readiness.FAILED if problem.lasts else Readiness.PROGRESSING
    if problem.readiness is Readiness.UNREACHABLE:
        state = Readiness.UNREACHABLE
    # When what is not ready began not to be, at the earliest with the last change of the reconciler.
    source = live.get(problem.cause) if problem.cause in reconciler.sources else None
    since = unready_since(source, changed_at(source)) if source else since_of(reconciler, live)
    problem = problem._replace(readiness=state, message=one_line(problem.message).removeprefix("waits for "))
    return _late(problem, latest(_changed_at(reconciler, live), since), now, timeout)


def _late(standing: Standing, started: datetime | None, now: datetime, timeout: timedelta) -> Standing:
    """What has had the timeout has failed. An unreachable cluster remains one."""
    if started is None or now - started < timeout:
        return standing
    is_reached = standing.readiness is Readiness.PROGRESSING
    return standing._replace(readiness=Readiness.FAILED if is_reached else standing.readiness, lasts=True)


def token_of(reconciler: Reconciler, live: Live) -> str:
    """Tells the present inputs of a reconciler from those before; "" if it has none. It contains nothing that is in them."""
    inputs = ((id, mapping_at(live.get(id) or {}, "metadata")) for id in reconciler.inputs)
    versions = "\n".join(f"{id} {metadata.get('uid')} {metadata.get('resourceVersion')}" for id, metadata in inputs)
    return f"tenantry-{sha256(versions.encode()).hexdigest()[:16]}" if versions else ""


def was_ever_ready(manifest: Manifest) -> bool:
    """Whether a Kustomization or HelmRelease has applied something successfully, now or before."""
    status = mapping_at(manifest, "status")
    released = (entry.get("status") in ("deployed", "superseded") for entry in mappings_in(status.get("history")))
    return bool(status.get("lastAppliedRevision")) or any(released)


# --- since when, from what Flux and the API server have recorded ------------------------------------------------------


def since_of(reconciler: Reconciler, live: Live) -> datetime | None:
    """Since when a reconciler is ready with its content, or since when it is not.

    Ready is the latest of: a run's last change of it, its sources, charts and inputs; the first success with what it applies now;
    the end of its last attempt with something else, or that failed.
    """
    manifest = live.get(reconciler.id)
    if manifest is None:
        return None
    if state_of(manifest) not in (Readiness.READY, Readiness.SUSPENDED) or not is_of(
        fetched_revision(reconciler, live), manifest
    ):
        return unready_since(manifest, _fetched_at(reconciler, live))
    last, ready = last_of(manifest), ready_of(manifest)
    first = moment(last.get("firstReconciled") or last.get("lastDeployed") or ready.get("lastTransitionTime"))
    before = latest(*(moment(entry.get("lastReconciled")) for entry in history_of(manifest)[1:]))
    return latest(first, before, _changed_at(reconciler, live))
