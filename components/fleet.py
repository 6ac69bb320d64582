"""The whole of one environment."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable

import pulumi

from tenantry.kube.objects import KubeObject, ObjectId
from tenantry.plan.plan import Plan
from tenantry.rollout.turns import Turns

from .cluster import Cluster
from .gates import Gates
from .registering import Check, Last, Registrar, Registration
from .resource import Registered, register
from .steps import Steps
from .tenant import Tenant


class Fleet(pulumi.ComponentResource):
    """A plan on its management cluster: Fleet > Tenant > Placement and Fleet > Cluster, each with its own objects.

    Shared objects are registered before the objects that depend on them. The SDK knows the fleet alone, and nothing below it.
    """

    registration: Registration | None = None

    def __init__(
        self,
        name: str,
        plan: Plan,
        provider: pulumi.ProviderResource,
        opts: pulumi.ResourceOptions | None = None,
        gates: Gates | None = None,
        last: Last | None = None,
        check: Check | None = None,
        kept: Collection[ObjectId] = (),
    ) -> None:
        """Register all objects of the plan with the one provider, and after them the last one, if there is one.

        gates: None: the plan's rollouts are left aside. check: of some objects, when all have been registered.
        kept: objects that stay as they are, whatever the plan says of them.
        """
        opts = pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(providers=[provider]))
        super().__init__("tenantry:index:Fleet", name, {}, opts)
        gates = gates or Gates(plan.environment, Turns(), None)
        self.registrar = Registrar(self, provider, gates, protect=opts.protect, kept=kept)
        self.steps = Steps(plan.apps, gates.turns, self.registrar)
        tenants = _by_owner(plan.objects)
        platform = tenants.pop("", {})
        registered: Registered = {}
        register(platform.pop("", ()), self, registered)
        for cluster, objects in platform.items():
            Cluster(cluster, objects, registered, self)
        for tenant, by_cluster in tenants.items():
            Tenant(tenant, by_cluster, registered, self)
        self.registrar.start(last, check, registered)
        self.register_outputs({})


def _by_owner(objects: Iterable[KubeObject]) -> dict[str, dict[str, list[KubeObject]]]:
    """Objects by tenant and cluster ("" for an owner without one), each group in the order of the plan."""
    owned: dict[str, dict[str, list[KubeObject]]] = defaultdict(lambda: defaultdict(list))
    for planned in objects:
        owned[planned.owner.tenant][planned.owner.cluster].append(planned)
    return owned
