"""Whether apps, tenants and clusters are reconciled, paused, marked for removal or given up, and sentences about it."""

from __future__ import annotations

from typing import NamedTuple

from tenantry.compare.review.naming import label
from tenantry.compare.review.parts import Side
from tenantry.fleet.settings import tenant_states
from tenantry.kube.objects import Manifest
from tenantry.messages.data import mapping_at
from tenantry.plan.objects.lifecycle import STATE_LABEL


class State(NamedTuple):
    """leaving: the state that announces a removal, or ""."""

    suspended: bool = False
    leaving: str = ""


ACTIVE = State()


def state_of(manifest: Manifest) -> State:
    """The state of a Kustomization, a HelmRelease or a Namespace."""
    return State(bool(mapping_at(manifest, "spec").get("suspend")), label(manifest, STATE_LABEL))


def state_of_cluster(side: Side, cluster: str) -> State:
    """What the file says of a whole cluster."""
    state = side.fleet.clusters[cluster].state if side.fleet and cluster in side.fleet.clusters else "active"
    return State(state != "active", "decommissioned" if state == "decommissioned" else "")


def state_of_tenant(side: Side, tenant: str, cluster: str) -> State:
    """What the file says of a whole tenant on a cluster."""
    if not side.fleet or tenant not in side.fleet.document.tenants:
        return ACTIVE
    states = tenant_states(side.fleet, tenant, cluster)
    return State("paused" in states, "offboarding" if "offboarding" in states else "")


def state_sentences(before: State, after: State) -> tuple[str, ...]:
    """What another state means; empty for the same one."""
    if "decommissioned" in (before.leaving, after.leaving) and before.leaving != after.leaving:
        if after.leaving == "decommissioned":
            text = "it is given up (state: decommissioned): Flux stops reconciling it, and its workloads stay when it is removed"
        else:
            text = "it is no longer given up: Flux reconciles it again"
        return (text,)
    told: list[str] = []
    if after.leaving and not before.leaving:
        told.append("it is marked for removal (state: offboarding): a later run may remove it")
    if before.leaving and not after.leaving:
        told.append("it is no longer marked for removal")
    if after.suspended and not before.suspended:
        told.append("it is paused: Flux stops reconciling it, and what it installed keeps running")
    if before.suspended and not after.suspended:
        told.append("it is resumed: Flux reconciles it again")
    return tuple(told)
