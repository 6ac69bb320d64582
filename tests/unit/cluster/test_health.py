"""How objects are on their cluster, by what controllers and kubelets have been seen to write."""

from __future__ import annotations

from typing import Any

from tenantry.cluster.health import pod_trouble, state_of_object
from tenantry.kube.objects import Manifest
from tenantry.rollout.flux_status import Readiness
from tests.table import table

READY, PROGRESSING, FAILED = Readiness.READY, Readiness.PROGRESSING, Readiness.FAILED
QUOTA = 'pods "web-1" is forbidden: exceeded quota: tenantry, requested: pods=1, used: pods=2, limited: pods=1'


def of(
    kind: str,
    spec: dict[str, Any] | None = None,
    /,
    *conditions: dict[str, str],
    version: str = "apps/v1",
    **status: Any,
) -> Manifest:
    told = {"observedGeneration": 2, "conditions": list(conditions), **status}
    return {
        "apiVersion": version,
        "kind": kind,
        "metadata": {"name": "web", "generation": 2},
        "spec": spec or {},
        "status": told,
    }


def says(kind: str, status: str, reason: str = "", message: str = "") -> dict[str, str]:
    return {"type": kind, "status": status, "reason": reason, "message": message}


THREE = {"replicas": 3}


@table(
    ("found", "health", "why"),
    [
        (None, Readiness.MISSING, "not on the cluster"),
        (of("Deployment", readyReplicas=1, updatedReplicas=1), READY, ""),
        (of("Deployment", THREE, readyReplicas=2, updatedReplicas=3), PROGRESSING, "2 of 3 pods ready"),
        (
            of("Deployment", THREE, updatedReplicas=1, readyReplicas=3),
            PROGRESSING,
            "1 of 3 pods are of the new version, 3 of 3 pods ready",
        ),
        (of("Deployment", THREE, observedGeneration=1), PROGRESSING, "its controller has not looked at the change yet"),
        (of("Deployment", {"replicas": 0}), READY, ""),
        (
            of("Deployment", THREE, says("ReplicaFailure", "True", "FailedCreate", QUOTA), readyReplicas=2),
            FAILED,
            f"2 of 3 pods ready: {QUOTA}",
        ),
        (
            of("Deployment", THREE, says("Progressing", "False", "ProgressDeadlineExceeded"), updatedReplicas=3),
            FAILED,
            "0 of 3 pods ready: the rollout made no progress",
        ),
        (of("StatefulSet", THREE, readyReplicas=3, updatedReplicas=3), READY, ""),
        (of("StatefulSet", THREE, readyReplicas=1, updatedReplicas=3), PROGRESSING, "1 of 3 pods ready"),
        (of("StatefulSet", {"updateStrategy": {"type": "OnDelete"}}, readyReplicas=1), READY, ""),
        (
            of("StatefulSet", readyReplicas=1),
            PROGRESSING,
            "0 of 1 pods are of the new version, 1 of 1 pods ready",
        ),
        (
            of("DaemonSet", desiredNumberScheduled=2, updatedNumberScheduled=2, numberReady=1),
            PROGRESSING,
            "1 of 2 pods ready",
        ),
        (of("DaemonSet", desiredNumberScheduled=2, numberReady=2, updatedNumberScheduled=2), READY, ""),
        (of("Job", None, says("Complete", "True"), version="batch/v1"), READY, ""),
        (
            of("Job", None, says("Failed", "True", "BackoffLimitExceeded"), version="batch/v1"),
            FAILED,
            "BackoffLimitExceeded",
        ),
        (of("Job", {"suspend": True}, version="batch/v1"), READY, "suspended"),
        (of("PersistentVolumeClaim", version="v1", phase="Pending"), PROGRESSING, "the volume claim is Pending"),
        (of("PersistentVolumeClaim", version="v1", phase="Lost"), FAILED, "the volume claim is Lost"),
        (of("Service", {"type": "LoadBalancer"}, version="v1"), PROGRESSING, "the load balancer has no address yet"),
        (of("ConfigMap", version="v1"), READY, ""),
        (
            of("Certificate", None, says("Ready", "False", "X", "no issuer"), version="cert-manager.io/v1"),
            FAILED,
            "no issuer",
        ),
        (of("Deployment", None, version="example.com/v1"), READY, ""),
        (
            of(
                "GitRepository",
                None,
                says("Ready", "False", "GitOperationFailed", "no"),
                version="source.toolkit.fluxcd.io/v1",
            ),
            FAILED,
            "no",
        ),
    ],
)
def test_an_object_is_as_its_controller_says(found: Manifest | None, health: Readiness, why: str) -> None:
    assert state_of_object(found)[:2] == (health, why)


def pod(
    *containers: dict[str, Any], phase: str = "Pending", conditions: tuple[dict[str, str], ...] = (), **status: Any
) -> Manifest:
    told = {"phase": phase, "conditions": list(conditions), "containerStatuses": list(containers), **status}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web-1"}, "status": told}


def waits(reason: str, message: str = "", **more: Any) -> dict[str, Any]:
    return {
        "name": "app",
        "image": "example.com/app:1",
        "state": {"waiting": {"reason": reason, "message": message}},
        **more,
    }


PULL = 'Back-off pulling image "example.com/app:1": ErrImagePull: rpc error: code = NotFound desc = failed to pull: not found'
KILLED = {"exitCode": 137, "reason": "OOMKilled", "finishedAt": "2026-01-01T00:00:00Z"}
NODES = "0/2 nodes are available: 2 Insufficient memory."


@table(
    ("found", "reason", "why"),
    [
        (
            pod(waits("ImagePullBackOff", PULL)),
            "ImagePullBackOff",
            "image 'example.com/app:1' cannot be pulled (ImagePullBackOff: not found)",
        ),
        (pod(waits("ErrImagePull")), "ErrImagePull", "image 'example.com/app:1' cannot be pulled (ErrImagePull)"),
        (
            pod(
                waits("CrashLoopBackOff", "back-off 5m0s", restartCount=7, lastState={"terminated": KILLED}),
                phase="Running",
            ),
            "CrashLoopBackOff",
            "container 'app' keeps crashing (7 restarts): exit code 137, OOMKilled",
        ),
        (
            pod(
                {"name": "app", "restartCount": 0, "state": {"terminated": {"exitCode": 1, "reason": "Error"}}},
                phase="Running",
            ),
            "Error",
            "container 'app' has crashed: exit code 1",
        ),
        (
            pod(waits("CreateContainerConfigError", 'secret "db" not found')),
            "CreateContainerConfigError",
            "container 'app' cannot start (CreateContainerConfigError): secret \"db\" not found",
        ),
        (
            pod(conditions=(says("PodScheduled", "False", "Unschedulable", NODES),)),
            "Unschedulable",
            f"no node can take the pod: {NODES}",
        ),
        (
            pod(
                {"name": "app", "ready": False, "state": {"running": {}}},
                phase="Running",
                conditions=(says("Ready", "False"),),
            ),
            "NotReady",
            "container 'app' runs, but its readiness probe fails",
        ),
        (
            pod(phase="Failed", reason="Evicted", message="disk is full"),
            "Evicted",
            "the pod failed: Evicted: disk is full",
        ),
    ],
)
def test_a_pod_tells_what_keeps_it(found: Manifest, reason: str, why: str) -> None:
    trouble = pod_trouble(found)
    assert trouble is not None
    assert (trouble.reason, trouble.why) == (reason, why)


@table(
    "found",
    [
        pod(phase="Succeeded"),
        pod(
            {
                "name": "app",
                "ready": True,
                "restartCount": 3,
                "state": {"running": {}},
                "lastState": {"terminated": KILLED},
            },
            phase="Running",
        ),
        pod(waits("ContainerCreating")),
    ],
)
def test_a_pod_that_is_well_or_has_just_begun_tells_nothing(found: Manifest) -> None:
    assert pod_trouble(found) is None


def test_a_message_of_a_pod_repeats_no_password() -> None:
    found = pod(waits("ErrImagePull", "Get https://me:hunter2hunter2@example.com/v2: unauthorized"))
    trouble = pod_trouble(found)
    assert trouble is not None
    assert "hunter2" not in f"{trouble.why} {trouble.detail}"
