"""One cluster of the environment, without its tenants."""

from __future__ import annotations

from collections.abc import Iterable

import pulumi

from tenantry.kube.objects import KubeObject

from .resource import Registered, register


class Cluster(pulumi.ComponentResource):
    """Objects that the placements on a cluster share, and the cluster's add-ons."""

    def __init__(
        self,
        name: str,
        objects: Iterable[KubeObject],
        registered: Registered,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("tenantry:index:Cluster", name, {}, opts)
        register(objects, self, registered)
        self.register_outputs({})
