"""The types and names under which Pulumi's state has the objects of a plan."""

from __future__ import annotations

from tenantry.kube.objects import ObjectId, Owner

FLEET, CLUSTER, TENANT, PLACEMENT = (f"tenantry:index:{name}" for name in ("Fleet", "Cluster", "Tenant", "Placement"))


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
