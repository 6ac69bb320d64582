"""How an object is on its own cluster, with a word why. It reads nothing itself.

The rules are those by which `kubectl rollout status` and Flux's health checks judge. Pods say more than their owners: see
`pod_trouble`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from tenantry.kube.objects import Manifest, is_of_flux
from tenantry.messages.data import mapping_at, mappings_in, value_at
from tenantry.messages.redact import without_credentials
from tenantry.messages.text import one_line
from tenantry.rollout.flux_status import Readiness, condition, message_of, ready_of, state_of


class State(NamedTuple):
    """why: "" for what is ready. since: RFC 3339; "" if it is not known."""

    health: Readiness
    why: str = ""
    since: str = ""


READY, MISSING = State(Readiness.READY), State(Readiness.MISSING, "not on the cluster")


def state_of_object(manifest: Manifest | None) -> State:
    """The state of an object as its cluster holds it; None: it is missing."""
    if manifest is None:
        return MISSING
    if since := mapping_at(manifest, "metadata").get("deletionTimestamp"):
        return State(Readiness.PROGRESSING, "it is being deleted", str(since))
    kind, version = str(manifest.get("kind")), str(manifest.get("apiVersion"))
    if is_of_flux(version):
        return _of_flux(manifest)
    if (judge := _JUDGES.get(kind)) and version.partition("/")[0] in ("v1", "apps", "batch"):
        return judge(manifest, mapping_at(manifest, "spec"), mapping_at(manifest, "status"))
    return _by_conditions(manifest)


def _of_flux(manifest: Manifest) -> State:
    ready, state = ready_of(manifest), state_of(manifest)
    since = str(ready.get("lastTransitionTime") or "")
    if state is Readiness.READY:
        return READY
    if state is Readiness.SUSPENDED:
        return State(Readiness.READY, "suspended", since)
    health = Readiness.FAILED if state is Readiness.FAILED else Readiness.PROGRESSING
    return State(health, one_line(message_of(ready)), since)


def _by_conditions(manifest: Manifest) -> State:
    """Custom resources and others by their conditions; one without conditions is ready when it exists."""
    status = mapping_at(manifest, "status")
    for name in ("Stalled", "Failed"):
        if (failure := condition(status, name)).get("status") == "True":
            return _by_condition(Readiness.FAILED, failure)
    for name in ("Ready", "Available", "Established"):
        ready = condition(status, name)
        if ready and ready.get("status") != "True":
            return _by_condition(Readiness.FAILED if ready.get("status") == "False" else Readiness.PROGRESSING, ready)
    return READY


def _by_condition(health: Readiness, condition: Mapping[str, Any], before: str = "") -> State:
    message = one_line(message_of(condition)) or str(condition.get("reason") or "")
    return State(health, f"{before}{message}", str(condition.get("lastTransitionTime") or ""))


def _workload(manifest: Manifest, spec: Mapping[str, Any], status: Mapping[str, Any]) -> State:
    """A Deployment, StatefulSet or DaemonSet. With `OnDelete` or a partition, people decide which pods are of the new version."""
    if _number(status.get("observedGeneration")) < _number(mapping_at(manifest, "metadata").get("generation")):
        return State(Readiness.PROGRESSING, "its controller has not looked at the change yet")
    if manifest["kind"] == "DaemonSet":
        wanted, names = _number(status.get("desiredNumberScheduled")), ("numberReady", "updatedNumberScheduled")
    else:
        wanted, names = _number(spec.get("replicas"), 1), ("readyReplicas", "updatedReplicas")
    ready, updated = (_number(status.get(name)) for name in names)
    count = f"{ready} of {wanted} pods ready"
    if (failure := condition(status, "ReplicaFailure")).get("status") == "True":
        return _by_condition(Readiness.FAILED, failure, f"{count}: ")
    rolling = condition(status, "Progressing")
    if rolling.get("status") == "False" and rolling.get("reason") == "ProgressDeadlineExceeded":
        return State(Readiness.FAILED, f"{count}: the rollout made no progress", str(rolling.get("lastTransitionTime")))
    available = condition(status, "Available")
    since = str(available.get("lastTransitionTime") or "") if available.get("status") == "False" else ""
    strategy = mapping_at(spec, "updateStrategy")
    manual = strategy.get("type") == "OnDelete" or value_at(strategy, ("rollingUpdate", "partition"), 0)
    if updated < wanted and not manual:
        return State(Readiness.PROGRESSING, f"{updated} of {wanted} pods are of the new version, {count}", since)
    return State(Readiness.PROGRESSING, count, since) if ready < wanted else READY


def _job(_: Manifest, spec: Mapping[str, Any], status: Mapping[str, Any]) -> State:
    if (failed := condition(status, "Failed")).get("status") == "True":
        return _by_condition(Readiness.FAILED, failed)
    if condition(status, "Complete").get("status") == "True":
        return READY
    if spec.get("suspend"):
        return State(Readiness.READY, "suspended")
    return State(Readiness.PROGRESSING, "it has not completed yet", str(status.get("startTime") or ""))


def _claim(_: Manifest, __: Mapping[str, Any], status: Mapping[str, Any]) -> State:
    phase = str(status.get("phase") or "Pending")
    if phase == "Bound":
        return READY
    return State(Readiness.FAILED if phase == "Lost" else Readiness.PROGRESSING, f"the volume claim is {phase}")


def _service(_: Manifest, spec: Mapping[str, Any], status: Mapping[str, Any]) -> State:
    if spec.get("type") == "LoadBalancer" and not mapping_at(status, "loadBalancer").get("ingress"):
        return State(Readiness.PROGRESSING, "the load balancer has no address yet")
    return READY


def _pod(manifest: Manifest, _: Mapping[str, Any], status: Mapping[str, Any]) -> State:
    if trouble := pod_trouble(manifest):
        return State(Readiness.FAILED if trouble.lasts else Readiness.PROGRESSING, trouble.why, trouble.since)
    if status.get("phase") == "Succeeded" or condition(status, "Ready").get("status") == "True":
        return READY
    return State(Readiness.PROGRESSING, str(status.get("phase") or "Pending"))


_JUDGES = {
    **dict.fromkeys(("Deployment", "StatefulSet", "DaemonSet"), _workload),
    "Job": _job,
    "PersistentVolumeClaim": _claim,
    "Service": _service,
    "Pod": _pod,
}


def _number(value: Any, default: int = 0) -> int:
    return value if isinstance(value, int) else default


# --- pods -------------------------------------------------------------------------------------------------------------


class Trouble(NamedTuple):
    """What keeps a pod from being ready.

    why: a sentence. detail: the whole message of the kubelet or the scheduler. container: "" for the pod.
    since: of the fault (RFC 3339); "" if the pod does not tell, as for a container that waits.
    lasts: whether waiting alone does not help.
    """

    reason: str
    why: str
    detail: str = ""
    container: str = ""
    since: str = ""
    lasts: bool = True


PULLS = frozenset({"ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "RegistryUnavailable"})
_STARTS = frozenset(
    {
        "CreateContainerConfigError",
        "CreateContainerError",
        "RunContainerError",
        "PreCreateHookError",
        "PostStartHookError",
    }
)


def pod_trouble(pod: Manifest) -> Trouble | None:
    """What keeps a pod from being ready; None: nothing that its status reports."""
    status, metadata = mapping_at(pod, "status"), mapping_at(pod, "metadata")
    if metadata.get("deletionTimestamp") or status.get("phase") == "Succeeded":
        return None
    scheduled = condition(status, "PodScheduled")
    if scheduled.get("status") == "False":
        reason, message = str(scheduled.get("reason") or "Unschedulable"), one_line(message_of(scheduled))
        since = str(scheduled.get("lastTransitionTime") or "")
        return Trouble(reason, f"no node can take the pod: {message or reason}", message, since=since)
    started = str(status.get("startTime") or metadata.get("creationTimestamp") or "")
    containers = mappings_in(status.get("containerStatuses"))
    for container in (*mappings_in(status.get("initContainerStatuses")), *containers):
        if trouble := _container_trouble(container, started):
            return trouble
    if status.get("phase") == "Failed":
        message, reason = _message(status), str(status.get("reason") or "Failed")
        return Trouble(reason, f"the pod failed: {': '.join(filter(None, (reason, message)))}", message, since=started)
    ready = condition(status, "Ready")
    if ready.get("status") != "False" or status.get("phase") != "Running":
        return None
    since, message = str(ready.get("lastTransitionTime") or ""), one_line(message_of(ready))
    unready = next((str(container.get("name")) for container in containers if not container.get("ready")), "")
    why = (
        f"container '{unready}' runs, but its readiness probe fails" if unready else f"the pod is not ready: {message}"
    )
    return Trouble("NotReady", why, message, unready, since, lasts=False)


def _message(status: Mapping[str, Any]) -> str:
    return one_line(without_credentials(str(status.get("message") or "")))


def _container_trouble(container: Mapping[str, Any], started: str) -> Trouble | None:
    name, waiting = str(container.get("name")), mapping_at(container, "state", "waiting")
    reason, message = str(waiting.get("reason") or ""), _message(waiting)
    if reason in PULLS:
        image = one_line(without_credentials(str(container.get("image") or "")))
        why = ": ".join(filter(None, (reason, _end_of(message))))
        return Trouble(reason, f"image '{image}' cannot be pulled ({why})", message, name)
    if reason in _STARTS:
        why = f"container '{name}' cannot start ({reason}){f': {message}' if message else ''}"
        return Trouble(reason, why, message, name)
    last = mapping_at(container, "lastState", "terminated") or mapping_at(container, "state", "terminated")
    runs_well = "running" in mapping_at(container, "state") and container.get("ready")
    if not last or runs_well or (not reason and last.get("exitCode") == 0):
        return None
    restarts = _number(container.get("restartCount"))
    times = f"{restarts} restart{'' if restarts == 1 else 's'}"
    again = f"keeps crashing ({times})" if reason == "CrashLoopBackOff" or restarts > 1 else "has crashed"
    since = str(last.get("finishedAt") or started)
    return Trouble(
        reason or "Error", f"container '{name}' {again}: {_ended(last)}", message or _message(last), name, since
    )


_SHORT = 60


def _end_of(message: str) -> str:
    """The last part of a chain of errors, such as `not found`; "" if it is long, or if there is no chain."""
    before, _, last = message.rstrip(": ").rpartition(": ")
    return last if before and len(last) <= _SHORT else ""


def _ended(last: Mapping[str, Any]) -> str:
    """Such as `exit code 137, OOMKilled`."""
    reason = str(last.get("reason") or "")
    code = f"exit code {last.get('exitCode')}"
    return f"{code}, {reason}" if reason not in ("", "Error", "Completed") else code
