"""Whether a reconciler runs what is on the management cluster, and why not."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from tenantry.kube.objects import Manifest, ObjectId, Owner
from tenantry.messages.data import value_at
from tenantry.rollout.flux_status import Readiness
from tenantry.rollout.readiness import Live, Reconciler, Request, Standing, judge_reconcilers, token_of
from tests.table import table

GIT = ObjectId("source.toolkit.fluxcd.io/v1", "GitRepository", "rocky", "manifests")
REPOSITORY = ObjectId("source.toolkit.fluxcd.io/v1", "HelmRepository", "rocky", "charts")
CHART = ObjectId("source.toolkit.fluxcd.io/v1", "HelmChart", "rocky", "cache")
REGISTRY = ObjectId("source.toolkit.fluxcd.io/v1", "OCIRepository", "rocky", "whole")
SETTINGS = ObjectId("v1", "ConfigMap", "rocky", "settings")
WEB = Reconciler(
    ObjectId("kustomize.toolkit.fluxcd.io/v1", "Kustomization", "rocky", "web"),
    Owner("rocky", "edge"),
    "rocky/web",
    (GIT,),
)
CACHE = Reconciler(
    ObjectId("helm.toolkit.fluxcd.io/v2", "HelmRelease", "rocky", "cache"),
    Owner("rocky", "edge"),
    "rocky/cache",
    (REPOSITORY, CHART),
)
PULLED = Reconciler(CACHE.id, Owner("rocky", "edge"), "rocky/cache", (REGISTRY,))
COMMIT = "main@sha1:abc"
DIGEST = "sha256:0123456789abcdef"
NOT_YET = "Flux has not reconciled the change yet"


NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)


def judged(awaited: Reconciler, found: Live) -> Standing:
    return judge_reconcilers([awaited], found, NOW, timedelta(minutes=10))[awaited.id]


def ready(status: str = "True", message: str = "", generation: int = 2, kind: str = "Ready") -> dict[str, Any]:
    return {"type": kind, "status": status, "message": message, "observedGeneration": generation}


def live(id: ObjectId, *conditions: dict[str, Any], spec: Any = None, **status: Any) -> dict[ObjectId, Manifest]:
    """An object of generation 2, which is Ready if nothing else is said."""
    metadata = {"name": id.name, "namespace": id.namespace, "generation": 2, "uid": "u", "resourceVersion": "7"}
    said = {"observedGeneration": 2, "conditions": list(conditions or (ready(),)), **status}
    manifest = {"apiVersion": id.api_version, "kind": id.kind, "metadata": metadata, "spec": spec or {}, "status": said}
    return {id: manifest}


def artifact(revision: str) -> dict[str, str]:
    return {"revision": revision}


FETCHED = live(GIT, artifact=artifact(COMMIT))
CHARTED = {**live(REPOSITORY, artifact=artifact("sha256:1")), **live(CHART, artifact=artifact("1.2.3"))}
DEPLOYED: dict[str, Any] = {"history": [{"chartVersion": "1.2.3"}], "lastAttemptedRevision": "1.2.3"}


@table(
    ("awaited", "found"),
    [
        (WEB, {**FETCHED, **live(WEB.id, lastAppliedRevision=COMMIT)}),
        (CACHE, {**CHARTED, **live(CACHE.id, **DEPLOYED)}),
        # Flux does not reconcile a HelmRepository of this type, and it has no status.
        (CACHE, {**CHARTED, **live(REPOSITORY, ready("False"), spec={"type": "oci"}), **live(CACHE.id, **DEPLOYED)}),
        (
            PULLED,
            {
                **live(REGISTRY, artifact=artifact(f"1.2.3@{DIGEST}")),
                **live(
                    PULLED.id,
                    history=[{"chartVersion": "1.2.3+0123456789ab"}],
                    lastAttemptedRevision="1.2.3+0123456789ab",
                    lastAttemptedRevisionDigest=DIGEST,
                ),
            },
        ),
        (
            PULLED,
            {
                **live(REGISTRY, artifact=artifact(DIGEST)),
                **live(PULLED.id, lastAttemptedRevision="1.2.3+0123456789ab", lastAttemptedRevisionDigest=DIGEST),
            },
        ),
    ],
    ids=["kustomization", "release", "oci repository", "chart from a registry", "chart by its digest"],
)
def test_what_flux_has_applied_is_ready(awaited: Reconciler, found: Live) -> None:
    assert judged(awaited, found)[:2] == (Readiness.READY, "")


STALLED = ready("True", "gave up", kind="Stalled")
FAILED = ready("False", "path not found")
WAITING = [
    ("missing", WEB, FETCHED, "not on the management cluster"),
    ("no source", WEB, live(WEB.id, lastAppliedRevision=COMMIT), f"{GIT} is not on the management cluster"),
    ("old generation", WEB, {**FETCHED, **live(WEB.id, ready(generation=1), observedGeneration=1)}, NOT_YET),
    ("no status", WEB, {**FETCHED, **live(WEB.id, ready("Unknown", "", 1), observedGeneration=-1)}, NOT_YET),
    (
        "failed, of an old generation",
        WEB,
        {**FETCHED, **live(WEB.id, ready("False", "of before", 1), observedGeneration=1)},
        NOT_YET,
    ),
    ("failed, not observed", WEB, {**FETCHED, **live(WEB.id, FAILED, observedGeneration=1)}, "path not found"),
    ("unknown", WEB, {**FETCHED, **live(WEB.id, ready("Unknown", "building"))}, "building"),
    (
        "old revision",
        WEB,
        {**FETCHED, **live(WEB.id, lastAppliedRevision="main@sha1:old")},
        f"Flux has not applied {COMMIT} yet",
    ),
    (
        "source of an old generation",
        WEB,
        {
            **live(GIT, ready(generation=1), observedGeneration=1, artifact=artifact(COMMIT)),
            **live(WEB.id, lastAppliedRevision=COMMIT),
        },
        f"{GIT}: {NOT_YET}",
    ),
    (
        "source that fails",
        WEB,
        {
            **live(GIT, ready("False", "no such branch"), observedGeneration=1, artifact=artifact(COMMIT)),
            **live(WEB.id, lastAppliedRevision=COMMIT),
        },
        f"{GIT}: no such branch",
    ),
    (
        "old chart",
        CACHE,
        {**CHARTED, **live(CACHE.id, lastAttemptedRevision="1.2.2", history=[{"chartVersion": "1.2.2"}])},
        "Flux has not applied 1.2.3 yet",
    ),
    (
        "chart that is attempted",
        CACHE,
        {**CHARTED, **live(CACHE.id, lastAttemptedRevision="1.2.3", history=[{"chartVersion": "1.2.2"}])},
        "Flux has not applied 1.2.3 yet",
    ),
    (
        "the same version with another digest",
        PULLED,
        {
            **live(REGISTRY, artifact=artifact(f"1.2.3@{DIGEST}")),
            **live(PULLED.id, lastAttemptedRevision="1.2.3+ffff", lastAttemptedRevisionDigest="sha256:ffff"),
        },
        f"Flux has not applied 1.2.3@{DIGEST} yet",
    ),
    # What Flux gave up is the revision before; it will try again.
    (
        "stalled before the new chart",
        CACHE,
        {**CHARTED, **live(CACHE.id, ready("False", "retries"), STALLED, lastAttemptedRevision="1.2.2")},
        "retries",
    ),
]


@table(("awaited", "found", "reason"), [each[1:] for each in WAITING], ids=[each[0] for each in WAITING])
def test_what_may_still_come_is_waited_for(awaited: Reconciler, found: Live, reason: str) -> None:
    assert judged(awaited, found)[:2] == (Readiness.PROGRESSING, reason)


@table(
    ("awaited", "found", "reason"),
    [
        (CACHE, {**CHARTED, **live(CACHE.id, ready("False", "retries"), STALLED, **DEPLOYED)}, "retries"),
        (
            WEB,
            {**live(GIT, ready("False", "bad url"), STALLED), **live(WEB.id, lastAppliedRevision=COMMIT)},
            f"{GIT}: bad url",
        ),
    ],
    ids=["release", "source"],
)
def test_what_flux_gave_up_is_not_waited_for(awaited: Reconciler, found: Live, reason: str) -> None:
    assert judged(awaited, found)[:2] == (Readiness.FAILED, reason)


@table(
    ("found", "reason"),
    [
        ({**FETCHED, **live(WEB.id, spec={"suspend": True})}, "suspended by hand"),
        (
            {**live(GIT, spec={"suspend": True}, artifact=artifact(COMMIT)), **live(WEB.id)},
            f"{GIT} is suspended by hand",
        ),
    ],
    ids=["app", "source"],
)
def test_what_somebody_suspended_is_suspended(found: Live, reason: str) -> None:
    assert judged(WEB, found)[:2] == (Readiness.SUSPENDED, reason)


def test_a_chart_from_git_has_to_be_of_the_present_commit() -> None:
    release = Reconciler(CACHE.id, Owner("rocky", "edge"), "rocky/cache", (GIT, CHART))
    found = {**FETCHED, **CHARTED, **live(CACHE.id, **DEPLOYED)}
    assert judged(release, found).message == f"{CHART} is not from {COMMIT} yet"
    current = live(CHART, artifact=artifact("1.2.3"), observedSourceArtifactRevision=COMMIT)
    assert judged(release, {**found, **current}).readiness is Readiness.READY


def test_a_reason_cannot_come_alive_in_a_terminal_and_shows_no_password() -> None:
    message = "failed:\n\x1b[31mhttps://rocky:geheim@example.com"
    reason = judged(WEB, {**FETCHED, **live(WEB.id, ready("False", message))}).message
    assert "\x1b" not in reason
    assert "\n" not in reason
    assert "geheim" not in reason


def test_flux_is_asked_once_for_each_state_of_the_configs() -> None:
    web = Reconciler(WEB.id, Owner("rocky", "edge"), "rocky/web", (GIT,), (SETTINGS,))
    found = {**FETCHED, **live(WEB.id, lastAppliedRevision=COMMIT), **live(SETTINGS)}
    token = token_of(web, found)
    assert judged(web, found) == Standing(
        Readiness.PROGRESSING, "Flux has not read its configs again yet", web.id, request=Request(web.id, token)
    )

    asked = dict(found[WEB.id])
    asked["metadata"] = {**asked["metadata"], "annotations": {"reconcile.fluxcd.io/requestedAt": token}}
    assert judged(web, {**found, WEB.id: asked}).request is None

    handled = {**asked, "status": {**asked["status"], "lastHandledReconcileAt": token}}
    assert judged(web, {**found, WEB.id: handled}).readiness is Readiness.READY

    changed = {**found[SETTINGS], "metadata": {**found[SETTINGS]["metadata"], "resourceVersion": "8"}}
    again = judged(web, {**found, WEB.id: handled, SETTINGS: changed})
    assert again.request
    assert again.request.token != token
    assert value_at(changed, ("metadata", "resourceVersion")) not in again.request.token
