"""How a reconciler is together with what it needs: its sources, and what it depends on. It reads nothing itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

from tenantry.cluster.status import (
    MISSING,
    Readiness,
    condition,
    digest_of,
    is_stalled,
    message_about,
    message_of,
    moment,
    one_line,
    readiness,
)
from tenantry.kube.objects import KubeObject, Manifest, ObjectId, object_id
from tenantry.messages.data import mapping_at, mappings_in, value_at
from tenantry.plan.engine_order import Chains, is_reconciled
from tenantry.plan.plan import Plan

Live: TypeAlias = Mapping[ObjectId, Manifest]
"""What has been read from the management cluster."""


class Needs(NamedTuple):
    """What a reconciler needs.

    sources: what it takes its content from, from the first source to the last chart.
    after:   the Kustomizations and HelmReleases that it depends on, such as its baseline, with what users call them.
    """

    sources: tuple[ObjectId, ...]
    after: Mapping[ObjectId, str]


class Standing(NamedTuple):
    """cause: the object that decides: the reconciler itself, a source, or what it waits for."""

    readiness: Readiness
    message: str
    cause: ObjectId


def names_of(plan: Plan) -> dict[ObjectId, str]:
    """What users call each reconciler: `rocky/web`, `platform/dns`, or `the baseline of rocky`."""
    names = {app.id: app.full_name for app in plan.apps}
    return {
        planned.id: names.get(planned.id) or _baseline(planned) for planned in plan.objects if is_reconciled(planned.id)
    }


def _baseline(planned: KubeObject) -> str:
    return f"the baseline of {planned.owner.tenant}" if planned.owner.tenant else str(planned.id)


def needs_of(plan: Plan) -> dict[ObjectId, Needs]:
    """What each reconciler of a plan needs."""
    chains, names = Chains(plan), names_of(plan)
    return {
        planned.id: Needs(
            tuple(map(object_id, chains.of(planned.id)[:-1])),
            {id: names[id] for id in planned.depends_on if id in names},
        )
        for planned in plan.objects
        if planned.id in names
    }


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


def standing(id: ObjectId, needs: Needs, live: Live) -> Standing:
    """How a reconciler is. What is not in `live` apart from itself says nothing.

    A source that has failed is the failure of what needs it. One that is not ready only because it could not be fetched again
    is none: what was fetched before is what its spec asks for.
    """
    found = live.get(id)
    if found is None:
        return Standing(Readiness.MISSING, MISSING, id)
    own = state_of(found)
    if own is Readiness.SUSPENDED:
        return Standing(own, "", id)
    for state, message, cause in problems_of_sources(needs.sources, live):
        if state in (Readiness.SUSPENDED, Readiness.MISSING) or (own is Readiness.READY and _is_observed(live[cause])):
            continue
        return Standing(*((state, message) if state is Readiness.FAILED else _waiting(message)), cause)
    if own is Readiness.READY:
        revision = revision_of_source(needs, live)
        if is_of(revision, found):
            return Standing(own, message_about(found), id)
        return Standing(Readiness.PROGRESSING, f"Flux has not applied {one_line(revision)} yet", id)
    waits = next(waits_for(found, needs, live), None)
    return waits or Standing(own, message_about(found), id)


def _waiting(message: str) -> tuple[Readiness, str]:
    return Readiness.PROGRESSING, f"waits for {message}"


def state_of(manifest: Manifest) -> Readiness:
    """What an object says of itself. Flux does not reconcile OCI Helm repositories: it reads them when it fetches a chart."""
    if manifest["kind"] == "HelmRepository" and value_at(manifest, ("spec", "type")) == "oci":
        return Readiness.SUSPENDED if mapping_at(manifest, "spec").get("suspend") else Readiness.READY
    return readiness(manifest, condition(mapping_at(manifest, "status"), "Ready"))


def problems_of_sources(sources: Iterable[ObjectId], live: Live) -> Iterator[Standing]:
    """What keeps sources from being what was asked for, the first source first."""
    before: Manifest | None = None
    for id in sources:
        found = live.get(id)
        if found is None:
            yield Standing(Readiness.MISSING, f"{id} is not on the management cluster", id)
            return
        state = state_of(found)
        if state is Readiness.SUSPENDED:
            yield Standing(state, f"{id} is suspended by hand", id)
        elif state is not Readiness.READY:
            yield Standing(state, f"{id}: {said_of(found)}", id)
        elif behind := _behind(id, found, before):
            yield Standing(Readiness.PROGRESSING, behind, id)
        before = found


def _behind(id: ObjectId, found: Manifest, source: Manifest | None) -> str:
    """Whether a chart is of an older revision of its source. The index of a HelmRepository says nothing about one chart."""
    revision = value_at(source or {}, ("status", "artifact", "revision"))
    if source is None or not revision or source["kind"] == "HelmRepository":
        return ""
    if value_at(found, ("status", "observedSourceArtifactRevision")) == revision:
        return ""
    return f"{id} is not from {one_line(str(revision))} yet"


def said_of(found: Manifest) -> str:
    """Flux's reason why an object is not ready, unless it is about an older generation."""
    ready = condition(mapping_at(found, "status"), "Ready")
    is_current = ready.get("observedGeneration") in (None, found["metadata"].get("generation"))
    if not ready or not is_current or ready.get("status") == "True":
        return "Flux has not reconciled the change yet"
    return one_line(message_about(found)) or f"Flux says {one_line(str(ready.get('reason')))}"


def _is_observed(found: Manifest) -> bool:
    observed = value_at(found, ("status", "observedGeneration"))
    return bool(observed == found["metadata"].get("generation"))


def waits_for(found: Manifest, needs: Needs, live: Live) -> Iterator[Standing]:
    """What a reconciler that is not ready waits for: what it depends on, and the next attempt after that became ready."""
    ready = condition(mapping_at(found, "status"), "Ready")
    for id, name in needs.after.items():
        other = live.get(id)
        if other is None or (state := state_of(other)) is Readiness.SUSPENDED:
            continue
        if state is Readiness.FAILED and state_of(found) is Readiness.FAILED and _was_applied(found):
            continue  # both fail, as with a kubeconfig that is no longer accepted, and nothing waits
        if state is not Readiness.READY and not _is_good_so_far(other):
            yield Standing(*_waiting(f"{name}: {said_of(other)}"), id)
        elif state is Readiness.READY and not is_stalled(found) and _is_before(found, ready, _good_since(other)):
            message = f"tried before {name} was ready, and is tried again: {message_of(ready)}"
            yield Standing(Readiness.PROGRESSING, message, object_id(found))


def _was_applied(found: Manifest) -> bool:
    status = mapping_at(found, "status")
    return bool(status.get("lastAppliedRevision" if found["kind"] == "Kustomization" else "history"))


def _is_good_so_far(found: Manifest) -> bool:
    """Whether Flux only looks again after an object that was Ready with its present spec."""
    ready = condition(mapping_at(found, "status"), "Ready")
    return ready.get("status") == "Unknown" and _is_observed(found) and state_of(found) is not Readiness.FAILED


def _good_since(found: Manifest) -> str:
    """Since when an object that is Ready applies what it applies. A Kustomization's condition changes at each interval."""
    status = mapping_at(found, "status")
    last = next(iter(mappings_in(status.get("history"))), {})
    since = last.get("firstReconciled") if found["kind"] == "Kustomization" else None
    return str(since or condition(status, "Ready").get("lastTransitionTime"))


def _is_before(found: Manifest, ready: Mapping[str, Any], time: str) -> bool:
    """Whether a failure is from before a time. While a Kustomization is tried again, only its history knows when it failed."""
    failed = ready.get("lastTransitionTime")
    if ready.get("status") != "False":
        failed = (
            value_at(found, ("status", "history", 0, "lastReconciled")) if found["kind"] == "Kustomization" else None
        )
    said, other = moment(str(failed)), moment(time)
    return said is not None and other is not None and said <= other


def revision_of_source(needs: Needs, live: Live) -> str:
    """The revision that the last source or chart has fetched; "" if it is not known."""
    source = live.get(needs.sources[-1], {}) if needs.sources else {}
    return str(value_at(source, ("status", "artifact", "revision")) or "")


def is_of(revision: str, found: Manifest) -> bool:
    """Whether a reconciler's status is of a source's revision."""
    status = mapping_at(found, "status")
    if not revision:
        return True
    if found["kind"] == "Kustomization":
        return status.get("lastAppliedRevision") == revision
    attempted = status.get("lastAttemptedRevision")
    if value_at(status, ("history", 0, "chartVersion")) not in (None, attempted):
        return False
    digest = digest_of(revision)
    # helm-controller puts the digest of a chart from a registry into a field of its own, and twelve digits of it into the version.
    return attempted == revision or status.get("lastAttemptedRevisionDigest") == digest
