"""An app from its source to the objects that Flux applied, and how these are on the app's cluster."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from tenantry.cluster import requests
from tenantry.cluster.health import Health, State
from tenantry.cluster.inventory import is_own
from tenantry.cluster.reach import way_of
from tenantry.cluster.running import Asked, Running, read_all
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
from tenantry.messages.errors import Refused
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


class Applied(NamedTuple):
    """An object that Flux applied. health: None: nobody asked."""

    id: ObjectId
    health: Health | None
    why: str


@dataclass(frozen=True, slots=True)
class AppTree:
    """steps: from the source to the reconciler. objects: on the app's cluster; None: Flux has no inventory of them yet.

    states: how the objects are; empty: nobody asked. unread: what could not be read of them, and why.
    """

    app: PlannedApp
    steps: tuple[Step, ...]
    objects: tuple[ObjectId, ...] | None
    states: Mapping[ObjectId, State] = field(default_factory=dict)
    unread: tuple[str, ...] = ()

    @property
    def applied(self) -> list[Applied] | None:
        """The objects with their states; None: Flux has no inventory of them yet."""
        if self.objects is None:
            return None
        asked = [(id, self.states.get(id)) for id in self.objects]
        return [Applied(id, state and state.health, state.why if state else "") for id, state in asked]

    @property
    def ready(self) -> bool:
        good = all(step.readiness is Readiness.READY for step in self.steps)
        return good and all(state.health is Health.READY for state in self.states.values())


def with_health(client: Client, found: Iterable[AppTree], plan: Plan) -> list[AppTree]:
    """The same trees with the states of their objects, which are asked of the apps' clusters as Flux does: see `reach`."""
    trees, planned = list(found), {each.id: each.manifest for each in plan.objects}
    applied = [each for each in trees if each.objects]
    read = read_all(client, (Asked(way_of(planned[each.app.id]), each.app.id, each.objects) for each in applied))
    answers = {each.app.id: answer for each, answer in zip(applied, read, strict=True)}
    return [_judged(each, answers[each.app.id]) if each.app.id in answers else each for each in trees]


def _judged(tree: AppTree, read: Running | Refused) -> AppTree:
    objects = tree.objects or ()
    if isinstance(read, Refused):
        unknown = State(Health.UNKNOWN, read.message)
        unread = (f"cluster '{tree.app.cluster}' could not be read: {read.message}",)
        return replace(tree, states=dict.fromkeys(objects, unknown), unread=unread)
    return replace(tree, states={id: read.state_of(id) for id in objects}, unread=read.unread)


def trees(client: Client, plan: Plan, apps: Iterable[PlannedApp]) -> list[AppTree]:
    """The tree of each app, without states of objects. Each object is read once. Raises: Refused: reading is not allowed."""
    chains = Chains(plan)
    planned = {app.id: chains.of(app.id) for app in apps}
    wanted = {object_id(each): each for chain in planned.values() for each in chain}
    found = requests.in_parallel(lambda id: requests.one(client, id), wanted)
    live = dict(zip(wanted, found, strict=True))
    return [tree_of(app, planned[app.id], live) for app in apps]


def tree_of(app: PlannedApp, chain: tuple[Manifest, ...], live: Mapping[ObjectId, Manifest | None]) -> AppTree:
    """The tree of an app. chain: as planned, from the source to the reconciler. live: at least these, as they were read."""
    steps = tuple(_step(each, live.get(object_id(each))) for each in chain)
    reconciler = live.get(app.id)
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
