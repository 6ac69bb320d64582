"""One tenant on one cluster."""

from __future__ import annotations

from collections.abc import Iterable

import pulumi

from tenantry.kube.objects import KubeObject

from .resource import Registered, register


class Placement(pulumi.ComponentResource):
    """The objects of a tenant on the management cluster for one of its clusters: the baseline, sources, charts and apps."""

    def __init__(
        self,
        name: str,
        objects: Iterable[KubeObject],
        registered: Registered,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("tenantry:index:Placement", name, {}, opts)
        register(objects, self, registered)
        self.register_outputs({})
