"""Whether a Kustomization or HelmRelease is ready, has failed or is not reached; since when: `since`.

One judge for the waves of a rollout, for `after`, `status` and `why`: a pure function of one reading and of the time. It judges a
reconciler with its sources and charts, and with what it depends on.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple, TypeAlias

from tenantry.kube.objects import KubeObject, Manifest, ObjectId, Owner, object_id
from tenantry.messages.data import mapping_at, mappings_in, value_at
from tenantry.messages.text import one_line
from tenantry.model.durations import seconds_of
from tenantry.plan.engine_order import Chains, is_reconciled
from tenantry.plan.plan import Plan
from tenantry.rollout.flux_status import (
    SUCCEEDED,
    Readiness,
    began_at,
    changed_at,
    condition,
    digest_of,
    history_of,
    is_observed,
    is_stalled,
    latest,
    message_about,
    message_of,
    moment,
    ready_of,
    reason_of,
    revision_of,
    state_of,
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

    @property
    def where(self) -> str:
        """Such as: edge-1 rocky/web"""
        return f"{self.owner.cluster} {self.name}"


def reconcilers_of(plan: Plan) -> dict[ObjectId, Reconciler]:
    """The reconcilers of a plan, in its order: dependencies come first."""
    chains, apps = Chains(plan), {app.id: app.full_name for app in plan.apps}
    planned_ids = {planned.id for planned in plan.objects}
    reconcilers: dict[ObjectId, Reconciler] = {}
    for planned in plan.objects:
        id = planned.id
        if is_reconciled(id):
            baseline = f"the baseline of {planned.owner.tenant}" if planned.owner.tenant else str(id)
            reconcilers[id] = Reconciler(
                id,
                planned.owner,
                apps.get(id) or baseline,
                tuple(map(object_id, chains.of(id)[:-1])),
                tuple(input for input in inputs_of(planned) if input in planned_ids),
                tuple(reconcilers[before] for before in planned.depends_on if before in reconcilers),
            )
    return reconcilers


def inputs_of(planned: KubeObject) -> Iterator[ObjectId]:
    """The ConfigMaps and Secrets in a reconciler's namespace whose values change what it applies."""
    spec = mapping_at(planned.manifest, "spec")
    references = [
        *mappings_in(spec.get("valuesFrom")),
        *mappings_in(mapping_at(spec, "postBuild").get("substituteFrom")),
    ]
    keys = mapping_at(spec, "decryption", "secretRef")
    for reference in [*references, *([{"kind": "Secret", **keys}] if keys else [])]:
        yield ObjectId("v1", str(reference.get("kind")), planned.id.namespace, str(reference.get("name")))


class Standing(NamedTuple):
    """How a reconciler or a source is.

    message: Flux's reason, or what it waits for; "" if there is nothing to say.
    cause:   the object that decides: the reconciler itself, a source, or what it waits for.
    lasts:   whether it has failed for good: Flux has given up, or two attempts since the last change ended in the same failure.
    pending: what keeps newer content from coming, of a reconciler that may be ready with what was fetched before.
    behind:  what the cluster lacks, if Flux does not reach it: a revision, `changed settings` or `everything`; else "".
    tried_before: since when what it depends on is ready, if it was tried before that, and is tried again; else None.
    """

    readiness: Readiness
    message: str
    cause: ObjectId
    lasts: bool = False
    pending: Standing | None = None
    behind: str = ""
    tried_before: datetime | None = None


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
    own, pending = state_of(manifest), None
    if own is Readiness.SUSPENDED:
        return Standing(own, "", id)
    for problem in source_problems(reconciler.sources, live, now, begun):
        state, source = problem.readiness, live.get(problem.cause)
        is_fetched = own is Readiness.READY and source is not None and is_observed(source)
        if state in (Readiness.SUSPENDED, Readiness.MISSING) or is_fetched:
            pending = pending or problem
        else:
            return problem if state is Readiness.FAILED else _waiting(problem)
    revision = fetched_revision(reconciler, live)
    is_tried = is_of(revision, manifest)
    if own is Readiness.READY:
        if is_tried:
            return Standing(own, message_about(manifest), id, pending=pending)
        return Standing(Readiness.PROGRESSING, f"Flux has not applied {one_line(revision)} yet", id, pending=pending)
    if waits := next(_waits_for(reconciler, manifest, live, now, begun), None):
        return waits._replace(pending=pending)
    # What Flux gave up may have been the revision before.
    attempted = mapping_at(manifest, "status").get("lastAttemptedRevision")
    is_current = is_tried or (manifest["kind"] == "Kustomization" and attempted == revision)
    failed = own is Readiness.FAILED and _failed_again(manifest, _content_at(reconciler, live), now, begun)
    lasts = is_current if is_stalled(manifest) else failed
    return Standing(own, reason_of(manifest), id, lasts, pending)


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
                yield Standing(Readiness.PROGRESSING, message, reconciler.id, tried_before=good)


def _good_since(manifest: Manifest) -> datetime | None:
    """Since when an object that is Ready applies what it applies. A Kustomization's condition changes at each interval."""
    first = (
        value_at(manifest, ("status", "history", 0, "firstReconciled")) if manifest["kind"] == "Kustomization" else None
    )
    return moment(first or ready_of(manifest).get("lastTransitionTime"))


def _ended(manifest: Manifest) -> datetime | None:
    """When the last attempt ended that failed. While a Kustomization is tried again, only its history knows."""
    ready = ready_of(manifest)
    if ready.get("status") == "False":
        return moment(ready.get("lastTransitionTime"))
    return (
        moment(value_at(manifest, ("status", "history", 0, "lastReconciled")))
        if manifest["kind"] == "Kustomization"
        else None
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
    last = next(iter(history_of(manifest)), {})
    first, count = moment(last.get("firstReconciled")), last.get("totalReconciliations")
    is_failure = last.get("lastReconciledStatus") not in (None, SUCCEEDED)
    if is_failure and isinstance(count, int) and count >= 2 and first is not None and first >= since:
        return True
    spec = mapping_at(manifest, "spec")
    began = began_at(last) if is_failure and moment(last.get("lastReconciled")) == ended else None
    interval = seconds_of(str(spec.get("retryInterval") or spec.get("interval")))
    return (began or ended) - since > timedelta(seconds=interval)


def _content_at(reconciler: Reconciler, live: Live) -> datetime | None:
    """When the content of a reconciler changed last: by a run, by its sources, or because what it depends on became ready."""
    chain = [live[id] for id in (reconciler.id, *reconciler.sources, *reconciler.inputs) if id in live]
    fetched = (moment(value_at(manifest, ("status", "artifact", "lastUpdateTime"))) for manifest in chain)
    before = (live[before.id] for before in reconciler.after if before.id in live)
    good = (_good_since(other) for other in before if state_of(other) is Readiness.READY)
    return latest(*map(changed_at, chain), *fetched, *good)


# --- clusters that Flux does not reach --------------------------------------------------------------------------------

_NO_CONNECTION = re.compile(
    r"dial tcp|connection refused|connection reset|i/o timeout|no such host|no route to host|network is unreachable|"
    r"TLS handshake timeout|Client\.Timeout exceeded|client connection lost"
)
_ANSWERED = re.compile(r"webhook|artifact|x509: |Unauthorized|asked for the client to provide credentials")
"""What shows that a cluster answered, or that it was not asked yet, beside what sounds like a lost connection."""


def is_cut_off(manifest: Manifest) -> bool:
    """Whether Flux reports of a reconciler that it did not reach its cluster, which is a remote one."""
    ready = ready_of(manifest)
    if ready.get("status") != "False" or not mapping_at(manifest, "spec").get("kubeConfig"):
        return False
    message = str(ready.get("message"))
    return bool(_NO_CONNECTION.search(message)) and not _ANSWERED.search(message)


def judge_all(
    reconcilers: Iterable[Reconciler], live: Live, now: datetime, begun: datetime | None = None
) -> dict[ObjectId, Standing]:
    """How reconcilers are. What a cluster cannot get for want of a connection has not failed: it is unreachable."""
    reconcilers = list(reconcilers)
    unreached = {reconciler.owner.cluster for reconciler in reconcilers if is_cut_off(live.get(reconciler.id, {}))}
    standings: dict[ObjectId, Standing] = {}
    for reconciler in reconcilers:
        standing, manifest = judge(reconciler, live, now, begun), live.get(reconciler.id)
        lost = (
            _unreachable(reconciler, standing, manifest, live)
            if manifest and reconciler.owner.cluster in unreached
            else None
        )
        standings[reconciler.id] = lost or standing
    return standings


def _unreachable(reconciler: Reconciler, standing: Standing, manifest: Manifest, live: Live) -> Standing | None:
    """The same for a cluster that Flux does not reach, if the reconciler can be no better for that alone."""
    if standing.readiness not in (Readiness.FAILED, Readiness.PROGRESSING) or standing.cause in reconciler.sources:
        return None
    # While Flux tries again, nothing tells why the attempt before failed.
    is_failed = standing.readiness is Readiness.FAILED and ready_of(manifest).get("status") == "False"
    if is_failed and not is_cut_off(manifest):
        return None
    has, behind = (
        revision_of(mapping_at(manifest, "status")),
        _missing_on_cluster(fetched_revision(reconciler, live), manifest),
    )
    lacks = f"it has {one_line(has)} and lacks {one_line(behind)}" if has else "it has nothing of it yet"
    state = f", which is behind: {lacks};" if behind else ":"
    message = f"Flux does not reach {reconciler.owner.cluster}{state} {standing.message}"
    return Standing(Readiness.UNREACHABLE, message, standing.cause, behind=behind)


def _missing_on_cluster(revision: str, manifest: Manifest) -> str:
    """What has changed on the management cluster since Flux reached the cluster. revision: of the source."""
    if not revision_of(mapping_at(manifest, "status")):
        return revision or "everything"
    if not is_of(revision, manifest):
        return revision
    return "" if is_observed(manifest) else "changed settings"
