"""Whether a wave of a rollout has arrived on its clusters, according to Flux. It reads nothing itself and writes nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from typing import Any, TypeAlias

from tenantry.cluster.control import REQUESTED
from tenantry.cluster.status import Readiness, condition, digest_of, message_of, one_line, readiness
from tenantry.kube.objects import KubeObject, Manifest, ObjectId, object_id
from tenantry.messages.data import mapping_at, mappings_in, value_at
from tenantry.plan.chain import Chains
from tenantry.plan.engine_order import becomes_ready, is_reconciled
from tenantry.plan.plan import Plan

Live: TypeAlias = Mapping[ObjectId, Manifest]
"""What has been read from the management cluster."""


class State(StrEnum):
    GOOD = "good"
    WAITING = "waiting"
    STUCK = "stuck"
    """Flux has given up, and waiting longer changes nothing."""
    LEFT_OUT = "left out"


@dataclass(frozen=True, slots=True)
class Awaited:
    """A Kustomization or HelmRelease that a wave waits for.

    name:    what users call it: `rocky/web`, `platform/dns`, or `the baseline of rocky`.
    sources: what it takes its content from, from the first source to the last chart.
    inputs:  the planned ConfigMaps and Secrets that it reads.
    """

    id: ObjectId
    cluster: str
    name: str
    sources: tuple[ObjectId, ...]
    inputs: tuple[ObjectId, ...] = ()


@dataclass(frozen=True, slots=True)
class Judged:
    """What has become of one reconciler. reason: why it is not good. request: what `requestedAt` has to be set to."""

    awaited: Awaited
    state: State
    reason: str = ""
    request: str = ""


def awaited_in(plan: Plan, ids: Iterable[ObjectId]) -> list[Awaited]:
    """The reconcilers among some objects of a plan. One that is suspended or leaves need not become Ready."""
    chains, wanted = Chains(plan), frozenset(ids)
    planned = {each.id: each for each in plan.objects}
    names = {each.id: each.full_name for each in plan.apps}
    return [
        Awaited(
            each.id,
            each.owner.cluster,
            names.get(each.id) or _baseline(each),
            tuple(map(object_id, chains.of(each.id)[:-1])),
            tuple(id for id in inputs_of(each) if id in planned),
        )
        for each in plan.objects
        if each.id in wanted and is_reconciled(each.id) and becomes_ready(each.manifest)
    ]


def _baseline(planned: KubeObject) -> str:
    return f"the baseline of {planned.owner.tenant}" if planned.owner.tenant else str(planned.id)


def inputs_of(planned: KubeObject) -> Iterator[ObjectId]:
    """The ConfigMaps and Secrets in a reconciler's namespace whose values change what it applies."""
    spec = mapping_at(planned.manifest, "spec")
    references = [
        *mappings_in(spec.get("valuesFrom")),
        *mappings_in(mapping_at(spec, "postBuild").get("substituteFrom")),
    ]
    keys = mapping_at(mapping_at(spec, "decryption"), "secretRef")
    for each in [*references, *([{"kind": "Secret", **keys}] if keys else [])]:
        yield ObjectId("v1", str(each.get("kind")), planned.id.namespace, str(each.get("name")))


def judge(awaited: Awaited, live: Live) -> Judged:
    """Whether Flux has applied what is on the management cluster now: this generation, from this revision, with these inputs."""
    found = live.get(awaited.id)
    if found is None:
        return Judged(awaited, State.WAITING, "not on the management cluster")
    if mapping_at(found, "spec").get("suspend"):
        return Judged(awaited, State.LEFT_OUT, "suspended by hand")
    for state, reason in _sources(awaited, live):
        return Judged(awaited, state, reason)
    token = token_of(awaited, live)
    status = mapping_at(found, "status")
    if token and status.get("lastHandledReconcileAt") != token:
        asked = mapping_at(mapping_at(found, "metadata"), "annotations").get(REQUESTED) == token
        return Judged(awaited, State.WAITING, "Flux has not read its configs again yet", "" if asked else token)
    return _reconciler(awaited, found, live)


def _sources(awaited: Awaited, live: Live) -> Iterator[tuple[State, str]]:
    """What keeps a source from being the one that was asked for."""
    before: Manifest | None = None
    for id in awaited.sources:
        found = live.get(id)
        if found is None:
            yield State.WAITING, f"{id} is not on the management cluster"
            return
        if (problem := _source(id, found)) or (problem := _behind(id, found, before)):
            yield problem
        before = found


def _source(id: ObjectId, found: Manifest) -> tuple[State, str] | None:
    spec, status = mapping_at(found, "spec"), mapping_at(found, "status")
    if spec.get("suspend"):
        return State.LEFT_OUT, f"{id} is suspended by hand"
    if id.kind == "HelmRepository" and spec.get("type") == "oci":
        return None  # Flux does not reconcile these: it reads them when it fetches a chart
    if readiness(found, condition(status, "Ready")) is Readiness.READY:
        return None
    return _state(found), f"{id}: {_said(found)}"


def _behind(id: ObjectId, found: Manifest, source: Manifest | None) -> tuple[State, str] | None:
    """Whether a chart is of an older revision of its source. The index of a HelmRepository says nothing about one chart."""
    revision = value_at(source or {}, ("status", "artifact", "revision"))
    if source is None or not revision or source["kind"] == "HelmRepository":
        return None
    if value_at(found, ("status", "observedSourceArtifactRevision")) == revision:
        return None
    return State.WAITING, f"{id} is not from {one_line(str(revision))} yet"


def token_of(awaited: Awaited, live: Live) -> str:
    """Tells the present inputs of a reconciler from those before; "" if it has none. It contains nothing that is in them."""
    if not awaited.inputs:
        return ""
    versions = []
    for id in awaited.inputs:
        metadata = mapping_at(live.get(id) or {}, "metadata")
        versions.append(f"{id} {metadata.get('uid')} {metadata.get('resourceVersion')}")
    return f"tenantry-{sha256(chr(10).join(versions).encode()).hexdigest()[:16]}"


def _reconciler(awaited: Awaited, found: Manifest, live: Live) -> Judged:
    source = live[awaited.sources[-1]] if awaited.sources else {}
    revision = str(value_at(source, ("status", "artifact", "revision")) or "")
    status = mapping_at(found, "status")
    tried = _is_of(revision, status, found["kind"])
    if readiness(found, condition(status, "Ready")) is Readiness.READY:
        if tried:
            return Judged(awaited, State.GOOD)
        return Judged(awaited, State.WAITING, f"Flux has not applied {one_line(revision)} yet")
    # What Flux gave up may have been the revision before.
    given_up = tried or (found["kind"] == "Kustomization" and status.get("lastAttemptedRevision") == revision)
    return Judged(awaited, _state(found) if given_up else State.WAITING, _said(found))


def _is_of(revision: str, status: Mapping[str, Any], kind: str) -> bool:
    """Whether a reconciler's status is of a source's revision."""
    if not revision:
        return True
    if kind == "Kustomization":
        return status.get("lastAppliedRevision") == revision
    attempted = status.get("lastAttemptedRevision")
    if value_at(status, ("history", 0, "chartVersion")) not in (None, attempted):
        return False
    digest = digest_of(revision)
    # helm-controller puts the digest of a chart from a registry into a field of its own, and twelve digits of it into the version.
    return attempted == revision or status.get("lastAttemptedRevisionDigest") == digest


def _state(found: Manifest) -> State:
    """Whether Flux has given up, on what is there now."""
    stalled = condition(mapping_at(found, "status"), "Stalled")
    is_current = stalled.get("observedGeneration") in (None, found["metadata"].get("generation"))
    return State.STUCK if stalled.get("status") == "True" and is_current else State.WAITING


def _said(found: Manifest) -> str:
    """Flux's reason, unless it is about an older generation."""
    ready = condition(mapping_at(found, "status"), "Ready")
    is_current = ready.get("observedGeneration") in (None, found["metadata"].get("generation"))
    if not ready or not is_current or ready.get("status") == "True":
        return "Flux has not reconciled the change yet"
    return one_line(message_of(ready)) or f"Flux says {one_line(str(ready.get('reason')))}"
