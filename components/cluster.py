"""One cluster of the environment, without its tenants."""

from __future__ import annotations

from collections.abc import Iterable

from tenantry.kube.objects import KubeObject

from .component import Component, Parent
from .resource import Registered, register


class Cluster(Component):
    """Objects that the placements on a cluster share, and the cluster's add-ons."""

    def __init__(self, name: str, objects: Iterable[KubeObject], registered: Registered, parent: Parent) -> None:
        super().__init__("tenantry:index:Cluster", name, parent)
        register(objects, self, registered)
