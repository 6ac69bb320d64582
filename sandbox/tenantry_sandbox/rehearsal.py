"""Makes an app of the sandbox fail as apps fail in production, to rehearse what to do then, and repairs it again.

No container runs in a sandbox, so nothing of the app itself is changed, and Flux sees no difference to what it has applied: the
status of its pods is written as a kubelet would, or a quota keeps the cluster from making new ones.
"""

from pathlib import Path
from typing import Any

from tenantry.cluster.client import Client
from tenantry.cluster.kubeconfig import select
from tenantry.cluster.running import WORKLOADS, inventory_of, read_running
from tenantry.kube.objects import ObjectId, object_id
from tenantry.plan.planned_apps import PlannedApp
from tenantry_sandbox.cluster import existing_cluster
from tenantry_sandbox.layout import SandboxError
from tenantry_sandbox.spec import Manifest

QUOTA = "sandbox-rehearsal"
WAITING = {
    "image": {"reason": "ImagePullBackOff", "message": "Back-off pulling image: ErrImagePull: not found"},
    "crash": {"reason": "CrashLoopBackOff", "message": "back-off 5m0s restarting failed container"},
}


def break_app(root: Path, app: PlannedApp, failure: str) -> None:
    """Have the pods of an app fail.

    Args:    failure: "image": the image cannot be pulled; "crash": the containers exit; "quota": there is no room for pods.
    Raises:  SandboxError: the app has no pods.
    """
    cluster = existing_cluster(root, app.cluster).api
    pods = _pods(root, app)
    if not pods:
        raise SandboxError(f"{app.full_name} has no pods on {app.cluster}", "name an app with a workload that runs")
    for pod in pods:
        if failure == "quota":
            cluster.apply(_quota(pod["metadata"]["namespace"]))
            cluster.delete(object_id(pod))
        else:
            cluster.patch_status(object_id(pod), _status(pod, failure))


def repair(root: Path, app: PlannedApp) -> None:
    """Undo what was broken. Other pods take the place of those that fail."""
    cluster = existing_cluster(root, app.cluster).api
    for namespace in {id.namespace for id in _inventory(root, app)}:
        cluster.delete(ObjectId("v1", "ResourceQuota", namespace, QUOTA))
    for pod in _pods(root, app):
        cluster.delete(object_id(pod))


def _pods(root: Path, app: PlannedApp) -> list[Manifest]:
    """The pods of an app's workloads."""
    with Client(select(existing_cluster(root, app.cluster).layout.kubeconfig(app.cluster), None)) as client:
        running = read_running(client, app.id, _inventory(root, app))
    workloads = [found for id, found in running.objects.items() if found and id[:2] in WORKLOADS]
    return [pod for found in workloads for pod in running.owned(found) if pod["kind"] == "Pod"]


def _inventory(root: Path, app: PlannedApp) -> tuple[ObjectId, ...]:
    """What Flux has applied of an app."""
    return inventory_of(existing_cluster(root).api.get(app.id) or {}) or ()


def _quota(namespace: str) -> Manifest:
    metadata = {"name": QUOTA, "namespace": namespace}
    return {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": metadata, "spec": {"hard": {"pods": "0"}}}


def _status(pod: Manifest, failure: str) -> Manifest:
    """The status of a pod whose containers wait, as a kubelet writes it."""
    states: dict[str, Any] = {"state": {"waiting": WAITING[failure]}, "restartCount": 0}
    if failure == "crash":
        terminated = {"exitCode": 1, "reason": "Error"}
        states |= {"lastState": {"terminated": terminated}, "restartCount": 5}
    containers = [
        {"name": container["name"], "image": container["image"], "imageID": "", "ready": False, **states}
        for container in pod["spec"]["containers"]
    ]
    conditions = [
        {"type": kind, "status": "False", "reason": "ContainersNotReady"} for kind in ("ContainersReady", "Ready")
    ]
    phase = "Running" if failure == "crash" else "Pending"
    return {"phase": phase, "conditions": conditions, "containerStatuses": containers}
