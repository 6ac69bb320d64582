"""The records that stacks leave on their management cluster for the gates of other environments, and what goes into them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tenantry.cluster import requests
from tenantry.cluster.evidence import judged
from tenantry.cluster.standing import Live
from tenantry.guard.claims import RECORD_LABEL
from tenantry.kube.objects import object_id
from tenantry.messages.data import mapping_at
from tenantry.plan.engine_order import Chains
from tenantry.plan.plan import Plan
from tenantry.rollout.turns import Turns

if TYPE_CHECKING:
    from tenantry.cluster.client import Client


def records_on(client: Client, platform: str, environment: str) -> list[dict[str, Any]]:
    """The data of the records of an environment, one for each stack. platform: the namespace of the claims.

    Raises: Refused: reading is not allowed.
    """
    found = requests.every(client, "v1", "ConfigMap", namespace=platform, selector=f"{RECORD_LABEL}={environment}")
    return [mapping_at(each, "data") for each in found]


def awaited_apps(plan: Plan, turns: Turns) -> frozenset[str]:
    """The apps, by name, that a run waits for wherever Flux reconciles them."""
    awaited = turns.awaited_ids
    free = {each.id for each in plan.objects if mapping_at(each.manifest, "spec").get("suspend")}
    unseen = {each.full_name for each in plan.apps if each.id not in awaited and each.id not in free}
    return frozenset(each.full_name for each in plan.apps if each.id in awaited) - unseen


def unready_apps(plan: Plan, turns: Turns, live: Live) -> frozenset[str]:
    """Those of the awaited apps that do not run everywhere what the plan says, or are not ready."""
    awaited = turns.awaited_ids
    chains, found = Chains(plan), set[str]()
    for app in plan.apps:
        planned = chains.of(app.id) if app.id in awaited else ()
        if planned and judged(app, planned, [live.get(object_id(each)) for each in planned]).problem:
            found.add(app.full_name)
    return frozenset(found)
