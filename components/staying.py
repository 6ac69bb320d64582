"""What stays as it is because the run sees, in the midst of it, that something has failed or has not arrived.

With an object that stays, everything that it needs stays, too. What the plan no longer has is registered with all changes ignored:
what is not registered, Pulumi deletes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import pulumi

from tenantry.kube.objects import KubeObject, Manifest, ObjectId, Owner
from tenantry.rollout.moves import by_place, needed_by
from tenantry.stacks.targets import key_in_state

EVERYTHING = ("*",)
"""The engine takes the former inputs of an object then."""

Keep = Callable[[KubeObject, str, str], pulumi.Resource]
"""Registers what the plan no longer has as it is: under its URN, because something needs it."""


def in_order(objects: Iterable[KubeObject]) -> Iterator[KubeObject]:
    """Objects, each after those that it depends on, and otherwise in the given order."""
    by_id = {each.id: each for each in objects}
    begun = set[ObjectId]()

    def visit(ids: Iterable[ObjectId]) -> Iterator[KubeObject]:
        for id in ids:
            if id in by_id and id not in begun:
                begun.add(id)
                yield from visit(by_id[id].depends_on)
                yield by_id[id]

    return visit(by_id)


@dataclass(slots=True)
class Staying:
    """urns: of the state before the run, by what `key_of` gives; at least if the run changes something.

    live: of planned objects that the cluster does not hold as planned, what it holds. others: what it holds that is not planned any
    more, by place.
    """

    urns: Mapping[str, str] = field(default_factory=dict)
    live: Mapping[ObjectId, Manifest] = field(default_factory=dict)
    others: Mapping[ObjectId, Manifest] = field(default_factory=dict)

    @classmethod
    def of(cls, urns: Mapping[str, str], live: Mapping[ObjectId, Manifest], unplanned: Iterable[Manifest]) -> Staying:
        return cls(urns, live, by_place(unplanned))

    def exists(self, id: ObjectId) -> bool:
        """Whether an object was in the state before the run."""
        return key_in_state(id) in self.urns

    def keep(self, planned: KubeObject, keep: Keep) -> list[pulumi.Resource]:
        """Register what a planned object refers to now, and the plan no longer has."""
        live = self.live.get(planned.id)
        return self.register(needed_by(live, self.others), planned.owner, str(planned.id), keep) if live else []

    def keep_all(self, gone: Iterable[KubeObject], keep: Keep) -> None:
        """Register what the plan no longer has of some tenants. gone: as the state has it."""
        for each in in_order(gone):
            keep(each, self.urns[key_in_state(each.id)], f"tenant '{each.owner.tenant}'")

    def register(self, needs: Iterable[ObjectId], owner: Owner, why: str, keep: Keep) -> list[pulumi.Resource]:
        """Register what is in the state of some objects, each after those before it."""
        kept: dict[ObjectId, pulumi.Resource] = {}
        for id in needs:
            if urn := self.urns.get(key_in_state(id)):
                metadata = {"name": id.name, "namespace": id.namespace}
                manifest = {"apiVersion": id.api_version, "kind": id.kind, "metadata": metadata}
                kept[id] = keep(KubeObject(manifest, owner, tuple(kept)), urn, why)
        return [*kept.values()]
