"""One tenant, on all its clusters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tenantry.kube.objects import KubeObject

from .component import Component, Parent
from .placement import Placement
from .resource import Registered, register


class Tenant(Component):
    """A tenant's placements, after the objects that several of them share."""

    def __init__(
        self, name: str, by_cluster: Mapping[str, Iterable[KubeObject]], registered: Registered, parent: Parent
    ) -> None:
        """Register the tenant's objects. Those under "" belong to no single cluster."""
        super().__init__("tenantry:index:Tenant", name, parent)
        placements = dict(by_cluster)
        register(placements.pop("", ()), self, registered)
        for cluster, objects in placements.items():
            # Names must be unique among all placements of the stack.
            Placement(f"{name}/{cluster}", objects, registered, self)
