"""The live objects of apps that a command is about. Only objects that are the environment's own, by place and labels, count."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tenantry.cluster import requests
from tenantry.cluster.inventory import apps_of
from tenantry.kube.objects import Manifest, ObjectId, labels_of, object_id, readable_id
from tenantry.messages.errors import Refused
from tenantry.plan.objects.scope import APP_LABEL, CLUSTER_LABEL, ENVIRONMENT_LABEL, MANAGED_BY, TENANT_LABEL
from tenantry.plan.plan import Plan
from tenantry.plan.planned_apps import PlannedApp

if TYPE_CHECKING:
    from tenantry.cluster.client import Client

_IDENTITY = (*MANAGED_BY, ENVIRONMENT_LABEL, TENANT_LABEL, CLUSTER_LABEL, APP_LABEL)
"""The labels that say whose an object is."""


@dataclass(frozen=True, slots=True)
class Target:
    """A planned app, and its live object. paused: whether the file itself suspends it."""

    app: PlannedApp
    planned: Manifest
    live: Manifest
    paused: bool


def targets(client: Client, plan: Plan, apps: Iterable[PlannedApp]) -> tuple[list[Target], list[Refused]]:
    """The targets among some apps of a plan, and a reason for each app that is none.

    Raises: Refused: Flux is not installed on the cluster, or reading is not allowed.
    """
    apps = list(apps)
    planned = {each.id: each.manifest for each in plan.objects}
    live = {readable_id(each): each for each in apps_of(client, plan.environment, _selector(apps))}
    found, refused = [], []
    for app in apps:
        manifest = live.get(app.id)
        if manifest is None or not is_own(planned[app.id], manifest):
            refused.append(_no_target(client, plan, app.id))
        else:
            paused = planned[app.id].get("spec", {}).get("suspend") is True
            found.append(Target(app, planned[app.id], manifest, paused))
    return found, refused


def own_object(client: Client, planned: Manifest) -> Manifest | None:
    """The live object of a planned one; None if it does not exist or is somebody else's. Raises: as `requests.one`."""
    live = requests.one(client, object_id(planned))
    return live if live is not None and is_own(planned, live) else None


def is_own(planned: Manifest, live: Manifest) -> bool:
    """Whether the labels of a live object say that it is the planned one."""
    wanted: Mapping[str, object] = labels_of(planned)
    return all(labels_of(live).get(key) == wanted.get(key) for key in _IDENTITY)


def _selector(apps: list[PlannedApp]) -> str:
    """Narrows the list to the tenant and the app, if there is only one of them."""
    tenants, names = {each.tenant for each in apps}, {each.name for each in apps}
    parts = []
    if len(tenants) == 1:
        (tenant,) = tenants
        parts.append(f"{TENANT_LABEL}={tenant}" if tenant else f"!{TENANT_LABEL}")
    if len(names) == 1:
        parts.append(f"{APP_LABEL}={next(iter(names))}")
    return ",".join(parts)


def _no_target(client: Client, plan: Plan, id: ObjectId) -> Refused:
    if requests.one(client, id) is None:
        return Refused(f"{id} is not on the management cluster", "run `tenantry up`")
    environment = plan.environment
    return Refused(
        f"{id} exists, but its labels do not say that it belongs to environment '{environment}'",
        f"run `tenantry preflight --environment {environment}` to see whose it is",
    )
