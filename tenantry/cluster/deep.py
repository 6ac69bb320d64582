"""Whether the namespaces of placements are on the remote clusters, and whose they are: `tenantry status --deep`.

A remote is asked with the kubeconfig that Flux uses. No message quotes any part of it. It never writes.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import TYPE_CHECKING

from tenantry.cluster import requests
from tenantry.cluster.inventory import namespaces_of
from tenantry.cluster.objects import ObjectStatus
from tenantry.cluster.reach import Connect, answered, config_of, connected, why_unreached
from tenantry.cluster.standing import names_of
from tenantry.cluster.status import Readiness
from tenantry.fleet.fleet import Fleet
from tenantry.kube.objects import KubeObject, Manifest, labels_of
from tenantry.messages.errors import Refused
from tenantry.messages.text import grouped
from tenantry.model import ConfigMap, SecretKey
from tenantry.plan.objects.scope import TENANT_LABEL
from tenantry.plan.placements import PlannedPlacement
from tenantry.plan.plan import Plan

if TYPE_CHECKING:
    from tenantry.cluster.client import Client


def deep_statuses(hub: Client, fleet: Fleet, plan: Plan, connect: Connect = connected) -> list[ObjectStatus]:
    """The baselines of placements whose namespaces are missing on their remote cluster, are somebody else's, or cannot be read.

    Remotes are asked concurrently.
    """
    names = names_of(plan)
    apps = {app.id for app in plan.apps}
    baselines = {planned.owner: planned for planned in plan.objects if planned.id in names and planned.id not in apps}
    asked = {
        cluster: [
            (placement, baselines[owner]) for placement in found if (owner := (placement.tenant, cluster)) in baselines
        ]
        for cluster, found in grouped(plan.placements, lambda placement: placement.cluster).items()
        if fleet.clusters[cluster].kubeconfig and fleet.clusters[cluster].state == "active"
    }

    def of_cluster(cluster: str) -> list[ObjectStatus]:
        kubeconfig = fleet.clusters[cluster].kubeconfig
        assert kubeconfig
        try:
            there = _namespaces(hub, kubeconfig.resolved, connect)
            told = [(baseline, _problem(placement, baseline, there)) for placement, baseline in asked[cluster]]
        except Refused as refused:
            told = [
                (baseline, f"cluster '{cluster}' cannot be asked: {refused.message}") for _, baseline in asked[cluster]
            ]
        return [ObjectStatus(baseline, Readiness.FAILED, text, names[baseline.id]) for baseline, text in told if text]

    return [*chain.from_iterable(requests.in_parallel(of_cluster, asked))]


def _problem(placement: PlannedPlacement, baseline: KubeObject, there: Mapping[str, Manifest]) -> str:
    """What is wrong with the namespaces of a placement; "" if they are there and the tenant's."""
    wrong = [(name, _wrong(placement.tenant, there.get(name))) for name in placement.namespaces]
    told = "; ".join(f"namespace '{name}' on {placement.cluster} {what}" for name, what in wrong if what)
    if all(what != _GONE for _, what in wrong):
        return told
    id = baseline.id
    return (
        f"{told}: run `flux reconcile helmrelease {id.name} --namespace {id.namespace} --force`, which makes it again"
    )


_GONE = "does not exist"


def _wrong(tenant: str, found: Manifest | None) -> str:
    if found is None:
        return _GONE
    if found["metadata"].get("deletionTimestamp"):
        return "is being deleted"
    whose = labels_of(found).get(TENANT_LABEL)
    if whose == tenant:
        return ""
    return f"belongs to tenant '{whose}', not to '{tenant}'" if whose else f"is not marked as tenant '{tenant}'s"


def _namespaces(hub: Client, reference: SecretKey | ConfigMap, connect: Connect) -> dict[str, Manifest]:
    """The namespaces of a remote, by name. Raises: Refused: they cannot be read; the message says why."""
    if isinstance(reference, ConfigMap):
        raise Refused("Flux alone gets its token, by workload identity", "look with your own credentials")
    try:
        with answered(), connect(config_of(hub, reference)) as client:
            return {namespace["metadata"]["name"]: namespace for namespace in namespaces_of(client)}
    except ValueError as error:
        raise Refused(why_unreached(error), "check that it runs") from None
