"""`tenantry status --output json`."""

from __future__ import annotations

from typing import Any

from tenantry.cli.diff.objects_data import id_as_data
from tenantry.cli.output import document
from tenantry.cluster.objects import ObjectStatus
from tenantry.cluster.report import StatusReport
from tenantry.cluster.status import AppStatus
from tenantry.cluster.webhooks import Webhook


def status_document(report: StatusReport) -> dict[str, Any]:
    """The whole report. `undeclared` is null if this user may not look for such objects."""
    undeclared = report.undeclared
    return document(
        "Status",
        environment=report.environment,
        readAt=report.read_at.strftime("%Y-%m-%dT%H:%M:%SZ"),
        apps=[_app(each) for each in report.apps],
        objects=[_object(each) for each in report.objects],
        planned=report.planned,
        undeclared=None if undeclared is None else [id_as_data(each) for each in undeclared],
        stuck=[dict(zip(("message", "fix"), each.split("\n  fix: ", 1), strict=True)) for each in report.stuck],
    )


def receivers_document(environment: str, found: tuple[Webhook, ...]) -> dict[str, Any]:
    return document("Status", environment=environment, receivers=[_webhook(each) for each in found])


def _app(status: AppStatus) -> dict[str, Any]:
    return {
        "tenant": status.app.tenant or None,
        "cluster": status.app.cluster,
        "app": status.app.name,
        "kind": status.app.id.kind,
        "namespace": status.app.id.namespace,
        "name": status.app.id.name,
        "status": status.readiness.value,
        "revision": status.revision,
        "attempted": status.attempted,
        "since": status.since,
        "wave": status.wave and {"number": status.wave.number, "name": status.wave.name},
        "suspendedByHand": status.by_hand,
        "message": status.message,
    }


def _object(status: ObjectStatus) -> dict[str, Any]:
    owner = status.planned.owner
    return {
        **id_as_data(status.id),
        "tenant": owner.tenant or None,
        "cluster": owner.cluster or None,
        "status": status.readiness.value,
        "since": status.since or None,
        "wave": status.wave and {"number": status.wave.number, "name": status.wave.name},
        "message": status.message,
    }


def _webhook(webhook: Webhook) -> dict[str, Any]:
    return {
        "tenant": webhook.tenant or None,
        "cluster": webhook.cluster,
        "namespace": webhook.id.namespace,
        "name": webhook.id.name,
        "status": webhook.readiness.value,
        "path": webhook.path,
        "message": webhook.message,
    }
