"""The webhooks that Flux made for the receivers of a plan. It reads no Secret, and the path does not show the token."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tenantry.cluster import requests
from tenantry.cluster.status import MISSING, Readiness, condition, message_of, one_line, readiness
from tenantry.kube.objects import KubeObject, Manifest, ObjectId, readable_id
from tenantry.messages.data import mapping_at
from tenantry.plan.notifications import RECEIVER_API
from tenantry.plan.objects.scope import ENVIRONMENT_LABEL
from tenantry.plan.plan import Plan

if TYPE_CHECKING:
    from tenantry.cluster.client import Client

_KIND = "Receiver"


@dataclass(frozen=True, slots=True)
class Webhook:
    """path: where Flux takes calls, "" before it made one; message: Flux's own."""

    tenant: str
    cluster: str
    id: ObjectId
    readiness: Readiness
    path: str
    message: str


def webhooks_of(client: Client, plan: Plan) -> tuple[Webhook, ...]:
    """One webhook per planned receiver, in the order of the plan. Raises: Refused: reading is not allowed."""
    planned = [each for each in plan.objects if each.id.kind == _KIND]
    live = {readable_id(each): each for each in _live(client, plan)} if planned else {}
    return tuple(_webhook(each, live.get(each.id)) for each in planned)


def _live(client: Client, plan: Plan) -> Iterator[Manifest]:
    return requests.every(client, RECEIVER_API, _KIND, selector=f"{ENVIRONMENT_LABEL}={plan.environment}")


def _webhook(planned: KubeObject, manifest: Manifest | None) -> Webhook:
    whose = (planned.owner.tenant, planned.owner.cluster, planned.id)
    if manifest is None:
        return Webhook(*whose, Readiness.MISSING, "", MISSING)
    status = mapping_at(manifest, "status")
    ready = condition(status, "Ready")
    path, message = one_line(str(status.get("webhookPath") or "")), one_line(message_of(ready))
    return Webhook(*whose, readiness(manifest, ready), path, message)
