"""Who keeps the order of two objects."""

from __future__ import annotations

from typing import Literal, TypeAlias

from tenantry.kube.objects import KubeObject, ObjectId

Keeper: TypeAlias = Literal["flux", "pulumi", "nobody"]
"""Who waits for a dependency. Nobody waits for one of the other kind that is paused or leaves."""


def keeper(kind: str, first: ObjectId, planned: KubeObject | None) -> Keeper:
    """Who lets an object of a kind wait for the first one; planned: the first one, if this plan has it."""
    if first.kind == kind:
        return "flux"
    return "pulumi" if planned and planned.ready_within else "nobody"
