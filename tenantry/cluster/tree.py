"""An app from its source to the objects that Flux applied, as the management cluster knows them. It contacts no other cluster."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tenantry.cluster import requests
from tenantry.cluster.control import is_own
from tenantry.cluster.status import (
    MISSING,
    PAUSED,
    Readiness,
    condition,
    last_good,
    message_of,
    readiness,
    revision_of,
    since_of,
)
from tenantry.kube.objects import Manifest, ObjectId, object_id
from tenantry.messages.data import mapping_at, value_at
from tenantry.plan.engine_order import Chains
from tenantry.plan.plan import Plan
from tenantry.plan.planned_apps import PlannedApp

if TYPE_CHECKING:
    from tenantry.cluster.client import Client

STRANGER = "it exists, but its labels do not say that it belongs to this environment"


@dataclass(frozen=True, slots=True)
class Step:
    """A Flux object on the way: a source, a chart, a Kustomization or a HelmRelease. since: RFC 3339, "" if unknown."""

    id: ObjectId
    readiness: Readiness
    message: str = ""
    revision: str = ""
    since: str = ""


@dataclass(frozen=True, slots=True)
class AppTree:
    """steps: from the source to the reconciler. objects: on the app's cluster; None: Flux has no inventory of them yet."""

    app: PlannedApp
    steps: tuple[Step, ...]
    objects: tuple[ObjectId, ...] | None

    @property
    def ready(self) -> bool:
        return all(step.readiness is Readiness.READY for step in self.steps)


def trees(client: Client, plan: Plan, apps: Iterable[PlannedApp]) -> list[AppTree]:
    """The tree of each app. Each object is read once. Raises: Refused: reading is not allowed."""
    chains = Chains(plan)
    planned = {app.id: chains.of(app.id) for app in apps}
    wanted = {object_id(each): each for chain in planned.values() for each in chain}
    found = requests.in_parallel(lambda id: requests.one(client, id), wanted)
    live = dict(zip(wanted, found, strict=True))
    return [_tree(app, planned[app.id], live) for app in apps]


def _tree(app: PlannedApp, chain: tuple[Manifest, ...], live: dict[ObjectId, Manifest | None]) -> AppTree:
    steps = tuple(_step(each, live[object_id(each)]) for each in chain)
    reconciler = live[app.id]
    own = reconciler is not None and is_own(chain[-1], reconciler)
    return AppTree(app, steps, inventory(reconciler) if reconciler is not None and own else None)


def _step(planned: Manifest, live: Manifest | None) -> Step:
    id = object_id(planned)
    if live is None:
        return Step(id, Readiness.MISSING, MISSING)
    if not is_own(planned, live):
        return Step(id, Readiness.FAILED, STRANGER)
    if id.kind == "HelmRepository" and value_at(live, ("spec", "type")) == "oci":
        return Step(id, Readiness.READY)  # Flux does not reconcile these: it reads them when it fetches a chart
    status = mapping_at(live, "status")
    ready = condition(status, "Ready")
    state = readiness(live, ready)
    message = message_of(ready)
    if state is Readiness.SUSPENDED:
        message = PAUSED if mapping_at(planned, "spec").get("suspend") is True else "suspended by hand, not in the file"
    revision = str(value_at(status, ("artifact", "revision"), "") or revision_of(status))
    is_good = state in (Readiness.READY, Readiness.SUSPENDED)
    return Step(id, state, message, revision, since_of(live, ready) if is_good else last_good(live))


def inventory(manifest: Manifest) -> tuple[ObjectId, ...] | None:
    """What Flux says that it applied, in its order; None if it has no inventory."""
    entries = value_at(manifest, ("status", "inventory", "entries"))
    return tuple(_applied(entries)) if isinstance(entries, list) else None


def _applied(entries: Iterable[Any]) -> Iterator[ObjectId]:
    """Source: the inventory of fluxcd/cli-utils: `namespace_name_group_kind`, with `__` for a colon in the name."""
    for entry in entries:
        written = entry.get("id") if isinstance(entry, dict) else None
        namespace, _, rest = written.partition("_") if isinstance(written, str) else ("", "", "")
        name, _, kind = rest.rpartition("_")
        name, _, group = name.rpartition("_")
        if name and kind:
            version = str(entry.get("v") or "")
            api_version = f"{group}/{version}" if group else version
            yield ObjectId(api_version, kind, namespace, name.replace("__", ":"))
