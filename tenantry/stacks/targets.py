"""The `--target` options that confine a preview to one tenant."""

from __future__ import annotations

from collections.abc import Iterator

from tenantry.kube.objects import KubeObject, ObjectId, Owner
from tenantry.plan.plan import Plan

FLEET, CLUSTER, TENANT, PLACEMENT = (f"tenantry:index:{each}" for each in ("Fleet", "Cluster", "Tenant", "Placement"))
_PROVIDER = "pulumi:providers:kubernetes::management"


def targets_of(plan: Plan, tenant: str, stack: str, project: str) -> list[str]:
    """The URNs of a tenant's resources in a stack, and of what they depend on.

    Pulumi refuses a target that depends on a resource which is neither a target nor in the state. The last ones are patterns, for
    objects that are only in the state: the names of Flux objects contain the tenant's, and others lie in its namespaces.
    """
    start = f"urn:pulumi:{stack}::{project}::"
    own = [planned for planned in plan.objects if planned.owner.tenant == tenant]
    needed = list(_with_dependencies(plan, own))
    found = [_PROVIDER, f"{FLEET}::{plan.environment}", f"{FLEET}${TENANT}::{tenant}"]
    found += [name for each in needed for name in _names(each)]
    namespaces = {name for placement in plan.placements if placement.tenant == tenant for name in placement.namespaces}
    patterns = [f"**::*/*-{tenant}-**", *(f"**::{name}/**" for name in sorted(namespaces))]
    return [*(f"{start}{urn}" for urn in dict.fromkeys(found)), *patterns]


def _with_dependencies(plan: Plan, wanted: list[KubeObject]) -> Iterator[KubeObject]:
    """The objects and all that they depend on, in the order of the plan."""
    known = {planned.id: planned for planned in plan.objects}
    reached: set[ObjectId] = set()
    rest = [each.id for each in wanted]
    while rest:
        if (id := rest.pop()) not in reached and id in known:
            reached.add(id)
            rest += known[id].depends_on
    return (each for each in plan.objects if each.id in reached)


def _names(planned: KubeObject) -> Iterator[str]:
    """The components above an object, then the object itself, as URNs name them: types from the top, and a name."""
    tenant, cluster = planned.owner.tenant, planned.owner.cluster
    types = [FLEET]
    if tenant:
        types.append(TENANT)
        yield f"{'$'.join(types)}::{tenant}"
    if cluster:
        types.append(PLACEMENT if tenant else CLUSTER)
        yield f"{'$'.join(types)}::{f'{tenant}/{cluster}' if tenant else cluster}"
    yield f"{'$'.join(types)}${type_token(planned.id)}::{planned.logical_name}"


def key_in_state(identity: ObjectId) -> str:
    """The type and the name under which a state has an object, as `key_of` gives them."""
    return f"{type_token(identity)}::{identity.logical_name}"


def key_of(urn: str) -> str:
    """The type and name in a URN, without the components above the resource: `kubernetes:core/v1:Namespace::rocky`."""
    *_, types, name = ("", *urn.split("::", 3))
    return f"{types.rpartition('$')[2]}::{name}"


def owner_of(parent: str) -> Owner:
    """Whose component the parent of a resource is. parent: its URN; what is no component of a fleet counts as the fleet."""
    *_, types, name = ("", *parent.split("::", 3))
    tenant, _, cluster = name.partition("/")
    owners = {TENANT: Owner(name), CLUSTER: Owner("", name), PLACEMENT: Owner(tenant, cluster)}
    return owners.get(types.rpartition("$")[2], Owner())


def type_token(identity: ObjectId) -> str:
    """`kubernetes:<group>/<version>:<Kind>`. Pulumi calls Kubernetes' unnamed group `core`."""
    api_version = identity.api_version if "/" in identity.api_version else f"core/{identity.api_version}"
    return f"kubernetes:{api_version}:{identity.kind}"
