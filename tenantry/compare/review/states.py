"""Whether apps, tenants and clusters are reconciled, paused, marked for removal or given up, and sentences about it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from tenantry.compare.review.naming import label
from tenantry.kube.objects import KubeObject, Manifest
from tenantry.messages.data import mapping_at
from tenantry.messages.text import grouped
from tenantry.plan.objects.lifecycle import STATE_LABEL
from tenantry.plan.plan import Plan

_FLUX = ("Kustomization", "HelmRelease")


class State(NamedTuple):
    """leaving: the state that announces a removal, or ""."""

    suspended: bool = False
    leaving: str = ""


ACTIVE = State()


def state_of(manifest: Manifest) -> State:
    """The state of a Kustomization, a HelmRelease or a Namespace."""
    return State(bool(mapping_at(manifest, "spec").get("suspend")), label(manifest, STATE_LABEL))


def cluster_states(plan: Plan) -> dict[str, State]:
    """The states of whole clusters: what all of their Flux objects have in common."""
    own = grouped((each for each in plan.objects if each.id.kind in _FLUX), lambda each: each.owner.cluster)
    return {cluster: _of_cluster(objects, is_management=cluster == plan.management) for cluster, objects in own.items()}


def _of_cluster(objects: Iterable[KubeObject], *, is_management: bool) -> State:
    states = [(each, state_of(each.manifest)) for each in objects]
    if any(state.leaving == "decommissioned" for _, state in states):
        return State(suspended=True, leaving="decommissioned")
    # Baselines of remote clusters are suspended only with their cluster. On the management cluster they are no Flux objects.
    if is_management and len({each.owner.tenant for each, _ in states}) < 2:
        return ACTIVE
    return State(suspended=all(state.suspended for _, state in states))


def tenant_states(plan: Plan, clusters: Mapping[str, State]) -> dict[str, State]:
    """The states of whole tenants, on clusters that are active themselves."""
    apps = {each.id for each in plan.apps}
    mains = {(each.tenant, each.cluster): each.namespace for each in plan.placements}
    found: dict[str, tuple[list[State], list[State]]] = {}
    for each in plan.objects:
        owner, kind = each.owner, each.id.kind
        if not owner.tenant or clusters.get(owner.cluster, ACTIVE) != ACTIVE:
            continue
        base, own = found.setdefault(owner.tenant, ([], []))
        if each.id in apps:
            own.append(state_of(each.manifest))
        elif kind == "HelmRelease" or (
            kind == "Namespace" and each.id.name == mains.get((owner.tenant, owner.cluster))
        ):
            base.append(state_of(each.manifest))
    return {tenant: _of_tenant(*states) for tenant, states in found.items()}


def _of_tenant(base: list[State], apps: list[State]) -> State:
    leaving = "offboarding" if base and all(each.leaving for each in base) else ""
    return State(len(apps) > 1 and all(each.suspended for each in apps), leaving)


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
