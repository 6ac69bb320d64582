"""Shared objects that the first shard would remove while Flux needs them to clean up what other shards still have.

A removed object of another shard is uninstalled when that shard's own stack runs. If its service account or kubeconfig is gone
by then, Flux removes nothing from the cluster and does not say so.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from tenantry.guard.claims import Claim
from tenantry.guard.places import Places, whose
from tenantry.kube.objects import Manifest, ObjectId, readable_id
from tenantry.messages.data import mapping_at
from tenantry.messages.problems import Problem, error
from tenantry.messages.text import counted, listed
from tenantry.plan.plan import Plan
from tenantry.plan.shards import Shard, shard_of

NEEDED = "needed-by-shards"
_FLUX = ("Kustomization", "HelmRelease")


def needed(plan: Plan, manifests: Iterable[Manifest], shard: Shard) -> dict[ObjectId, list[tuple[int, ObjectId]]]:
    """What the plan no longer has, and objects of other shards that refer to it and are not planned either.

    Each comes with the number of its shard. manifests: what the cluster holds, with all Namespaces.
    """
    there = list(manifests)
    places, planned = Places(there), {each.id for each in plan.objects}
    found: dict[ObjectId, list[tuple[int, ObjectId]]] = {}
    for manifest in there:
        id, said = readable_id(manifest), whose(manifest)
        if not id or id.kind not in _FLUX or id in planned or said.environment != plan.environment:
            continue
        # Nothing that is shared lies in a tenant's namespace, where the tenant could make an object that refers to it.
        if not shard.holds(said.tenant) and places.tenants(manifest) is None and places.puts(manifest, said):
            for reference in _references(id, manifest):
                if reference not in planned:
                    found.setdefault(reference, []).append((shard_of(said.tenant, shard.count), id))
    return found


def still_needed(
    needed: dict[ObjectId, list[tuple[int, ObjectId]]],
    shared: Collection[ObjectId],
    shard: Shard,
    claims: Iterable[Claim],
    verb: str = "up",
) -> Iterator[Problem]:
    """One problem for all shared objects that are still needed. shared: those on the cluster; claims: of the environment.

    verb: what the run does, "up" or "destroy".
    """
    claims = list(claims)
    stacks = {each.shard.index: each.stack.rpartition("/")[2] for each in claims}
    users = sorted({user for id, all_of in needed.items() if id in shared for user in all_of})
    if users:
        indexes = sorted({index for index, _ in users})
        commands = [f"pulumi {verb} --stack {stacks.get(index, f'SHARD-{index}')}" for index in indexes]
        environment = next((each.environment for each in claims), "ENVIRONMENT")
        yield error(
            NEEDED,
            f"this run would remove {listed(sorted(map(str, {*needed} & {*shared})))}, which Flux needs to clean up"
            f" {counted(len(users), 'object')} of other shards: {listed(f'{id} ({index}/{shard.count})' for index, id in users)}",
            f"`tenantry {verb} --environment {environment}` runs {_other(indexes)} first; without it: {'; '.join(commands)}",
        )


def _other(indexes: list[int]) -> str:
    return "that shard" if len(indexes) == 1 else "those shards"


def _references(id: ObjectId, manifest: Manifest) -> Iterator[ObjectId]:
    """What Flux uses for an object besides the object itself, in its namespace."""
    spec = mapping_at(manifest, "spec")
    yield ObjectId("v1", "Namespace", "", id.namespace)
    named = (
        ("v1", "ServiceAccount", spec.get("serviceAccountName")),
        ("v1", "ConfigMap", mapping_at(spec, "kubeConfig", "configMapRef").get("name")),
    )
    for api_version, kind, name in named:
        if isinstance(name, str):
            yield ObjectId(api_version, kind, id.namespace, name)
