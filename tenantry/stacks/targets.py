"""The `--target` options that confine a preview to one tenant."""

from __future__ import annotations

from collections.abc import Iterator

from tenantry.kube.objects import KubeObject, ObjectId
from tenantry.plan.plan import Plan

_FLEET, _CLUSTER, _TENANT, _PLACEMENT = (
    f"tenantry:index:{each}" for each in ("Fleet", "Cluster", "Tenant", "Placement")
)
GATE = "tenantry:rollout:Gate"
"""The type of the components between the waves of an app, which are called `TENANT/APP/WAVE`."""
_PROVIDER = "pulumi:providers:kubernetes::management"


def targets_of(plan: Plan, tenant: str, stack: str, project: str) -> list[str]:
    """The URNs of a tenant's resources in a stack, and of what they depend on.

    Pulumi refuses a target that depends on a resource which is neither a target nor in the state. The last ones are patterns, for
    objects that are only in the state: the names of Flux objects contain the tenant's, and others lie in its namespaces.
    """
    start = f"urn:pulumi:{stack}::{project}::"
    own = [each for each in plan.objects if each.owner.tenant == tenant]
    found = [_PROVIDER, f"{_FLEET}::{plan.environment}", f"{_FLEET}${_TENANT}::{tenant}"]
    found += [name for each in _with_dependencies(plan, own) for name in _names(each)]
    namespaces = {name for each in plan.placements if each.tenant == tenant for name in each.namespaces}
    patterns = [f"**::*/*-{tenant}-**", *(f"**::{name}/**" for name in sorted(namespaces))]
    if plan.rollouts:
        patterns.append(f"**{GATE}::{tenant}/**")
    return [*(f"{start}{each}" for each in dict.fromkeys(found)), *patterns]


def _with_dependencies(plan: Plan, wanted: list[KubeObject]) -> Iterator[KubeObject]:
    """The objects and all that they depend on, in the order of the plan."""
    known = {each.id: each for each in plan.objects}
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
    types = [_FLEET]
    if tenant:
        types.append(_TENANT)
        yield f"{'$'.join(types)}::{tenant}"
    if cluster:
        types.append(_PLACEMENT if tenant else _CLUSTER)
        yield f"{'$'.join(types)}::{f'{tenant}/{cluster}' if tenant else cluster}"
    yield f"{'$'.join(types)}${type_token(planned.id)}::{planned.logical_name}"


def type_token(identity: ObjectId) -> str:
    """`kubernetes:<group>/<version>:<Kind>`. Pulumi calls Kubernetes' unnamed group `core`."""
    api_version = identity.api_version if "/" in identity.api_version else f"core/{identity.api_version}"
    return f"kubernetes:{api_version}:{identity.kind}"
