"""What stays as it is because the run sees, in the midst of it, that something has failed or has not arrived.

With an object that stays, everything that it needs stays, too. What the plan no longer has is registered with all changes ignored:
what is not registered, Pulumi deletes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import pulumi

from tenantry.kube.objects import KubeObject, Manifest, ObjectId, Owner
from tenantry.rollout.moves import by_place, needed_by
from tenantry.stacks.targets import key_in_state

EVERYTHING = ("*",)
"""The engine takes the former inputs of an object then."""

Keep = Callable[[KubeObject, str, str, Sequence[pulumi.Resource]], pulumi.Resource]
"""Registers what the plan no longer has as it is: under its URN, because something needs it, after other resources."""


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

    def keep_all(self, gone: Mapping[ObjectId, KubeObject], keep: Keep) -> None:
        """Register what the plan no longer has of some tenants: each after what it depends on. gone: as the state has it."""
        kept: dict[ObjectId, pulumi.Resource] = {}

        def register(id: ObjectId) -> pulumi.Resource:
            if id not in kept:
                after = tuple(register(each) for each in gone[id].depends_on if each in gone)
                kept[id] = keep(gone[id], self.urns[key_in_state(id)], f"tenant '{gone[id].owner.tenant}'", after)
            return kept[id]

        for each in gone:
            register(each)

    def register(self, needs: Iterable[ObjectId], owner: Owner, why: str, keep: Keep) -> list[pulumi.Resource]:
        """Register what is in the state of some objects, each after those before it."""
        kept: list[pulumi.Resource] = []
        for id in needs:
            if urn := self.urns.get(key_in_state(id)):
                metadata = {"name": id.name, "namespace": id.namespace}
                manifest = {"apiVersion": id.api_version, "kind": id.kind, "metadata": metadata}
                kept.append(keep(KubeObject(manifest, owner, hub=id.hub), urn, why, tuple(kept)))
        return kept
