"""Whether the apps of a plan are ready, according to Flux on the management cluster. It never writes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from tenantry.kube.objects import Manifest, ObjectId, readable_id
from tenantry.messages.data import mapping_at, value_at
from tenantry.messages.text import printable
from tenantry.plan.plan import Plan
from tenantry.plan.planned_apps import PlannedApp


class Readiness(StrEnum):
    READY = "ready"
    PROGRESSING = "progressing"
    FAILED = "failed"
    SUSPENDED = "suspended"
    MISSING = "missing"


MISSING = "not on the management cluster: run `pulumi up`"
"""The message for an object that is planned and not there."""


@dataclass(frozen=True, slots=True)
class AppStatus:
    """message: Flux's own message about it; revision: the last applied revision, "" before the first."""

    app: PlannedApp
    readiness: Readiness
    message: str
    revision: str


def statuses(plan: Plan, live: Iterable[Manifest]) -> tuple[AppStatus, ...]:
    """One status per planned app, in the order of the plan; `live` may hold other objects too."""
    found: Mapping[ObjectId | None, Manifest] = {readable_id(manifest): manifest for manifest in live}
    return tuple(_status(app, found.get(app.id)) for app in plan.apps)


def _status(app: PlannedApp, manifest: Manifest | None) -> AppStatus:
    if manifest is None:
        return AppStatus(app, Readiness.MISSING, MISSING, "")
    status = mapping_at(manifest, "status")
    ready = condition(status, "Ready")
    return AppStatus(app, readiness(manifest, ready), str(ready.get("message", "")), _revision(status))


def ready_message(manifest: Manifest) -> str:
    """Flux's message for an object that is not ready, on one line; "" if it is ready or has no status yet."""
    ready = condition(mapping_at(manifest, "status"), "Ready")
    return one_line(str(ready.get("message", ""))) if ready.get("status") == "False" else ""


def one_line(message: str) -> str:
    """A message of Flux's for a terminal. It can quote what a tenant wrote, control characters included."""
    return printable(" ".join(message.split()))


def readiness(manifest: Manifest, ready: Mapping[str, Any]) -> Readiness:
    """What an object's spec and status say; ready: its condition of that name."""
    status = mapping_at(manifest, "status")
    if mapping_at(manifest, "spec").get("suspend"):
        return Readiness.SUSPENDED
    observed = status.get("observedGeneration")
    if observed != manifest["metadata"].get("generation") or not ready:
        return Readiness.PROGRESSING
    if ready.get("status") == "True":
        return Readiness.READY
    stalled = condition(status, "Stalled").get("status") == "True"
    waiting = ready.get("reason") in ("Progressing", "DependencyNotReady", "ProgressingWithRetry")
    return Readiness.PROGRESSING if (waiting or ready.get("status") == "Unknown") and not stalled else Readiness.FAILED


def condition(status: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """A condition of an object's status by its type; empty if it does not exist."""
    found = status.get("conditions")
    conditions = [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []
    return next((each for each in conditions if each.get("type") == name), {})


def _revision(status: Mapping[str, Any]) -> str:
    """The commit of a Kustomization, the chart version of a HelmRelease."""
    chart = value_at(status, ("history", 0, "chartVersion"), "")
    return str(chart or status.get("lastAppliedRevision") or "")
