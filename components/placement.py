"""One tenant on one cluster."""

from __future__ import annotations

from collections.abc import Iterable

from tenantry.kube.objects import KubeObject

from .component import Component, Parent
from .resource import Registered, register


class Placement(Component):
    """The objects of a tenant on the management cluster for one of its clusters: the baseline, sources, charts and apps."""

    def __init__(self, name: str, objects: Iterable[KubeObject], registered: Registered, parent: Parent) -> None:
        super().__init__("tenantry:index:Placement", name, parent)
        register(objects, self, registered)
