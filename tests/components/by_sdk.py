"""Registers a plan with the classes of Pulumi's SDK: what `components` sends to the engine is held against what these send."""

from __future__ import annotations

from collections.abc import Iterable

import pulumi

from tenantry.kube.objects import KubeObject, ObjectId
from tenantry.plan.plan import Plan
from tenantry.stacks.targets import type_token

_SECRETS = pulumi.ResourceOptions(replace_on_changes=["type"], delete_before_replace=True)


class Object(pulumi.CustomResource):
    def __init__(self, planned: KubeObject, opts: pulumi.ResourceOptions) -> None:
        super().__init__(type_token(planned.id), planned.logical_name, planned.manifest, opts)


class Component(pulumi.ComponentResource):
    def __init__(self, kind: str, name: str, opts: pulumi.ResourceOptions) -> None:
        super().__init__(f"tenantry:index:{kind}", name, {}, opts)
        self.register_outputs({})


def fleet(name: str, plan: Plan, provider: pulumi.ProviderResource, opts: pulumi.ResourceOptions | None = None) -> None:
    """What `components.fleet.Fleet` registers."""
    opts = pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(providers=[provider]))
    components = {"": Component("Fleet", name, opts)}
    registered: dict[ObjectId, Object] = {}
    for planned in _shared_first(plan.objects):
        parent = _component(components, planned)
        registered[planned.id] = Object(planned, _options(planned, parent, registered))


def _shared_first(objects: Iterable[KubeObject]) -> list[KubeObject]:
    return sorted(objects, key=lambda each: (bool(each.owner.tenant), each.owner.tenant, each.owner.cluster != ""))


def _component(components: dict[str, Component], planned: KubeObject) -> Component:
    """The component of the object's owner, made with those above it when its first object comes."""
    tenant, cluster = planned.owner.tenant, planned.owner.cluster
    if not tenant and not cluster:
        return components[""]
    if not tenant:
        return _below(components, f"/{cluster}", "", "Cluster", cluster)
    above = _below(components, tenant, "", "Tenant", tenant)
    if not cluster:
        return above
    return _below(components, f"{tenant}/{cluster}", tenant, "Placement", f"{tenant}/{cluster}")


def _below(components: dict[str, Component], key: str, parent: str, kind: str, name: str) -> Component:
    if key not in components:
        components[key] = Component(kind, name, pulumi.ResourceOptions(parent=components[parent]))
    return components[key]


def _options(planned: KubeObject, parent: Component, registered: dict[ObjectId, Object]) -> pulumi.ResourceOptions:
    patience = f"{planned.ready_within}s" if planned.ready_within else None
    options = pulumi.ResourceOptions(
        parent=parent,
        depends_on=[registered[each] for each in planned.depends_on],
        protect=planned.protect or None,
        retain_on_delete=planned.retained or None,
        custom_timeouts=pulumi.CustomTimeouts(create=patience, update=patience) if patience else None,
    )
    return pulumi.ResourceOptions.merge(options, _SECRETS) if planned.secret else options
