"""When an object is ready, progressing or failed, by what Flux's controllers have been seen to write."""

from __future__ import annotations

from typing import Any

from tenantry.kube.objects import Manifest
from tenantry.rollout.flux_status import Readiness, flux_text, message_about, moment, state_of, unready_since, written
from tests.table import table

READY, PROGRESSING, FAILED = Readiness.READY, Readiness.PROGRESSING, Readiness.FAILED
PATH = "kustomization path not found: stat /tmp/x/nowhere: no such file or directory"


def at(time: str) -> str:
    return f"2026-01-01T{time}Z"


def ready(status: str, reason: str = "", message: str = "", generation: int = 2, kind: str = "Ready") -> dict[str, Any]:
    said = {"reason": reason, "message": message, "lastTransitionTime": at("12:05:00")}
    return {"type": kind, "status": status, "observedGeneration": generation, **said}


def manifest(kind: str, *conditions: dict[str, Any], observed: int = 2, **status: Any) -> Manifest:
    """An object whose spec was written at noon, as generation 2."""
    wrote = {"manager": "pulumi", "time": at("12:00:00"), "fieldsV1": {"f:spec": {}}}
    metadata = {"generation": 2, "creationTimestamp": at("09:00:00"), "managedFields": [wrote]}
    return {
        "kind": kind,
        "metadata": metadata,
        "spec": {},
        "status": {"observedGeneration": observed, "conditions": list(conditions), **status},
    }


def history(status: str, time: str, revision: str = "main@sha1:a", took: str = "30.000123s") -> dict[str, Any]:
    return {
        "lastReconciledStatus": status,
        "lastReconciled": at(time),
        "lastReconciledDuration": took,
        "metadata": {"revision": revision},
    }


GOOD = history("ReconciliationSucceeded", "11:00:00")
BAD = history("HealthCheckFailed", "12:04:00")
RUNNING = ready("Unknown", "Progressing", "Reconciliation in progress")
UPGRADING = ready("Unknown", "Progressing", "Running 'upgrade' action with timeout of 5m0s")
RELEASED = ready("False", "UpgradeFailed", "Helm upgrade failed: exceeded quota", kind="Released")
TRIED = {"lastAttemptedRevision": "2.0.0", "lastAttemptedConfigDigest": "sha256:1"}


@table(
    ("found", "expected"),
    [
        (manifest("Kustomization"), PROGRESSING),
        (manifest("Kustomization", ready("True")), READY),
        # The patch helper has put the new generation on the result of the old one.
        (manifest("Kustomization", ready("True"), observed=1), PROGRESSING),
        (manifest("Kustomization", ready("True", generation=1), observed=1), PROGRESSING),
        (manifest("Kustomization", ready("False", "ArtifactFailed", PATH), observed=1), FAILED),
        (manifest("Kustomization", ready("False", "ReconciliationFailed", "invalid"), observed=-1), FAILED),
        (manifest("Kustomization", ready("False", "BuildFailed", "old", 1), observed=1), PROGRESSING),
        (manifest("Kustomization", ready("False", "DependencyNotReady"), observed=1), PROGRESSING),
        (manifest("Kustomization", ready("False", "HealthCheckCanceled"), observed=1), PROGRESSING),
        (
            manifest("Kustomization", ready("False", "ArtifactFailed", "Source artifact not found, retrying in 1s")),
            PROGRESSING,
        ),
        (
            manifest(
                "Kustomization",
                ready("False", "ArtifactFailed", 'gitrepositories.source.toolkit.fluxcd.io "x" not found'),
            ),
            PROGRESSING,
        ),
        (manifest("HelmRelease", ready("False", "SourceNotReady", "HelmChart is not ready"), observed=1), PROGRESSING),
        (manifest("HelmRelease", ready("False", "InstallFailed", "no")), FAILED),
        (manifest("HelmChart", ready("False", "NoSourceArtifact"), observed=1), PROGRESSING),
        (manifest("HelmChart", ready("False", "InvalidChartReference", "no chart version"), observed=1), FAILED),
        (manifest("HelmRelease", UPGRADING, ready("True", "RetriesExceeded", kind="Stalled")), FAILED),
        (manifest("HelmRelease", UPGRADING, ready("True", "RetriesExceeded", "", 1, kind="Stalled")), PROGRESSING),
    ],
)
def test_an_object_counts_with_its_present_generation(found: Manifest, expected: Readiness) -> None:
    assert state_of(found) is expected


def without_times(found: Manifest) -> Manifest:
    return {**found, "metadata": {**found["metadata"], "managedFields": []}}


RETRIED = manifest("Kustomization", RUNNING, history=[BAD, GOOD], lastAttemptedRevision="main@sha1:a", observed=1)


@table(
    ("found", "expected"),
    [
        (RETRIED, FAILED),
        (without_times(RETRIED), PROGRESSING),
        ({**without_times(RETRIED), "metadata": {"generation": 1}}, FAILED),
        # A new revision may be better than the one that failed, and so may a new spec.
        (manifest("Kustomization", RUNNING, history=[BAD], lastAttemptedRevision="main@sha1:b"), PROGRESSING),
        (
            manifest(
                "Kustomization",
                RUNNING,
                history=[history("HealthCheckFailed", "12:00:20")],
                lastAttemptedRevision="main@sha1:a",
            ),
            PROGRESSING,
        ),
        (
            manifest(
                "Kustomization",
                RUNNING,
                history=[history("PruneFailed", "12:04:00", took="1.5.0s")],
                lastAttemptedRevision="main@sha1:a",
            ),
            PROGRESSING,
        ),
        (manifest("Kustomization", RUNNING, history=[GOOD, BAD], lastAttemptedRevision="main@sha1:a"), PROGRESSING),
        (manifest("HelmRelease", UPGRADING, RELEASED, **TRIED), FAILED),
        (
            manifest(
                "HelmRelease",
                UPGRADING,
                RELEASED,
                history=[{"chartVersion": "2.0.0", "configDigest": "sha256:1"}],
                **TRIED,
            ),
            FAILED,
        ),
        (manifest("HelmRelease", UPGRADING, RELEASED, history=[{"chartVersion": "1.9.0"}], **TRIED), PROGRESSING),
        (
            manifest(
                "HelmRelease",
                UPGRADING,
                RELEASED,
                history=[{"chartVersion": "2.0.0", "configDigest": "sha256:0"}],
                **TRIED,
            ),
            PROGRESSING,
        ),
        (manifest("HelmRelease", UPGRADING, {**RELEASED, "observedGeneration": 1}, **TRIED), PROGRESSING),
    ],
)
def test_what_failed_stays_failed_while_flux_tries_the_same_again(found: Manifest, expected: Readiness) -> None:
    assert state_of(found) is expected


@table(
    ("found", "expected"),
    [
        (manifest("Kustomization", ready("False", "BuildFailed", "no such file")), "no such file"),
        (
            RETRIED,
            "the last attempt failed (HealthCheckFailed); Flux tries again: Reconciliation in progress",
        ),
        (manifest("HelmRelease", UPGRADING, RELEASED, **TRIED), "Helm upgrade failed: exceeded quota"),
        (manifest("HelmRelease", UPGRADING), "Running 'upgrade' action with timeout of 5m0s"),
    ],
)
def test_the_reason_of_a_failure_stays_during_retries(found: Manifest, expected: str) -> None:
    assert message_about(found) == expected


@table(
    ("found", "expected"),
    [
        (manifest("Kustomization", ready("False"), history=[BAD, GOOD]), at("11:00:00")),
        (manifest("Kustomization", ready("False"), history=[BAD]), at("09:00:00")),
        (manifest("Kustomization", ready("Unknown"), history=[GOOD, BAD]), at("12:05:00")),
        (manifest("Kustomization", ready("Unknown"), history=[BAD, GOOD]), at("11:00:00")),
        (
            manifest("HelmRelease", UPGRADING, {**RELEASED, "lastTransitionTime": at("12:01:00")}),
            at("12:01:00"),
        ),
        (
            manifest("HelmRelease", ready("False", "SourceNotReady"), {**RELEASED, "status": "True"}),
            at("12:05:00"),
        ),
        (manifest("GitRepository", ready("False")), at("12:05:00")),
        (
            manifest(
                "GitRepository",
                ready("Unknown"),
                {**ready("True"), "type": "FetchFailed", "lastTransitionTime": at("12:02:00")},
            ),
            at("12:02:00"),
        ),
        (manifest("HelmRelease"), at("09:00:00")),
    ],
)
def test_since_when_an_object_is_not_ready_does_not_move_with_its_retries(found: Manifest, expected: str) -> None:
    assert written(unready_since(found)) == expected


FIRST = {**BAD, "firstReconciled": at("11:30:00"), "totalReconciliations": 9}
AGAIN = manifest("Kustomization", ready("False"), history=[FIRST, GOOD])


@table(
    ("found", "changed", "expected"),
    [
        # Flux found it failing for the first time then.
        (AGAIN, None, at("11:30:00")),
        # Flux looked at it last an hour before that: it can have been ready for nearly an interval longer.
        (manifest("Kustomization", ready("False"), history=[BAD, GOOD]), None, at("11:00:00")),
        # It has not been ready with this content since the content changed.
        (manifest("Kustomization", ready("False"), history=[BAD, GOOD]), at("12:00:00"), at("12:00:00")),
        (AGAIN, at("12:00:00"), at("11:30:00")),
        (AGAIN, at("10:00:00"), at("11:30:00")),
    ],
)
def test_an_age_is_true_or_an_upper_bound(found: Manifest, changed: str | None, expected: str) -> None:
    assert written(unready_since(found, moment(changed))) == expected


@table(
    ("message", "expected"),
    [
        (
            "kustomization path not found: stat /tmp/kustomization-863470015/shop: no such file or directory",
            "path './shop' does not exist in the source",
        ),
        (
            "kustomize build failed: /tmp/kustomization-1/web/x.yaml is wrong",
            "kustomize build failed: ./web/x.yaml is wrong",
        ),
        ("repository not found: ", "repository not found"),
        ("repository not found:", "repository not found"),
        ("HTTP 404", "HTTP 404"),
    ],
)
def test_a_message_names_no_temporary_directory_and_ends_without_a_colon(message: str, expected: str) -> None:
    assert flux_text(message) == expected


def test_a_retry_after_a_health_check_tells_how_long_flux_had_waited() -> None:
    retried = {**RETRIED, "spec": {"timeout": "5m"}}
    assert message_about(retried) == "what it applied was not ready within 5m; Flux tries again"
