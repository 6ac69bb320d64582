"""What Pulumi's state says of the stack that runs, as it was before the run. It is read once, and never logged."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pulumi

from tenantry.guard.claims import unmarked
from tenantry.kube.objects import Manifest, ObjectId, Owner, readable_id
from tenantry.messages.data import mapping_at
from tenantry.messages.errors import RefusedChange, refuse
from tenantry.messages.text import lines_of
from tenantry.plan.plan import Plan
from tenantry.stacks.states import FLEET, exported_resources, key_in_state, key_of, owner_of

_SELF_MANAGED = "organization"
"""The name that Pulumi gives the organization of a state that is not in Pulumi Cloud."""
_OBJECT = "kubernetes:"
_ENVELOPE = "4dabf18193072939515e22adb298388d"
"""The key by which Pulumi marks a value in a state that is a secret, an asset or the like. Source: sdk/go/common/resource/sig."""


def stack_name() -> str:
    """The name of the running stack, with its organization in Pulumi Cloud."""
    stack, organization = pulumi.get_stack(), pulumi.get_organization()
    return stack if organization == _SELF_MANAGED else f"{organization}/{pulumi.get_project()}/{stack}"


@dataclass(frozen=True)
class StateObject:
    """An object as the state has it. dependencies: those that are objects, too. timeouts: seconds, by operation.

    inputs: never print them. is_secret: whether they hold a secret, which is encrypted.
    """

    id: ObjectId
    owner: Owner
    inputs: Manifest = field(repr=False)
    dependencies: tuple[ObjectId, ...]
    protect: bool
    retained: bool
    ignored: tuple[str, ...]
    timeouts: Mapping[str, int]
    is_secret: bool


class State:
    """The state of the stack that runs, read when somebody asks first. Every method raises Refused: it cannot be read."""

    @cached_property
    def resources(self) -> Sequence[Mapping[str, Any]]:
        """All resources, without those that an earlier run has yet to delete."""
        return [resource for resource in exported_resources(Path.cwd(), stack_name()) if not resource.get("delete")]

    @cached_property
    def _by_key(self) -> Mapping[str, Mapping[str, Any]]:
        return {key_of(str(resource.get("urn"))): resource for resource in self.resources}

    @cached_property
    def _ids(self) -> Mapping[str, ObjectId]:
        """The objects, by URN."""
        objects = (
            (resource, readable_id(mapping_at(resource, "inputs")))
            for resource in self.resources
            if _is_object(resource)
        )
        return {str(resource.get("urn")): id for resource, id in objects if id}

    def __contains__(self, id: ObjectId) -> bool:
        return key_in_state(id) in self._by_key

    @property
    def urns(self) -> Collection[str]:
        return [str(resource.get("urn")) for resource in self.resources]

    def objects(self) -> Iterable[ObjectId]:
        """All objects of the stack. Without one that names neither a kind nor itself, as a resource of another program's can."""
        return self._ids.values()

    def uses(self, id: ObjectId) -> Collection[ObjectId]:
        """The objects that an object depends on."""
        remembered = self.object(id)
        return remembered.dependencies if remembered else ()

    def object(self, id: ObjectId) -> StateObject | None:
        """An object; None: the state does not have it."""
        resource = self._by_key.get(key_in_state(id))
        if resource is None or not _is_object(resource):
            return None
        inputs = mapping_at(resource, "inputs")
        seconds = mapping_at(resource, "customTimeouts")
        return StateObject(
            id,
            owner_of(str(resource.get("parent", ""))),
            inputs,
            tuple(self._ids[urn] for urn in resource.get("dependencies") or () if urn in self._ids),
            protect=bool(resource.get("protect")),
            retained=bool(resource.get("retainOnDelete")),
            ignored=tuple(resource.get("ignoreChanges") or ()),
            timeouts={key: round(float(value)) for key, value in seconds.items() if value},
            is_secret=_holds_secret(inputs),
        )


def _is_object(resource: Mapping[str, Any]) -> bool:
    return str(resource.get("type", "")).startswith(_OBJECT)


def _holds_secret(value: Any) -> bool:
    if isinstance(value, dict):
        return _ENVELOPE in value or any(map(_holds_secret, value.values()))
    return isinstance(value, list) and any(map(_holds_secret, value))


def check_retained(state: State, planned: Plan, left: Collection[str]) -> None:
    """Refuse a run that would delete what can hold data, without having been asked to.

    Args:   planned: the whole environment. left: the names of what the run leaves on the management cluster.
    Raises: Refused: the state does not say that Pulumi leaves an object behind, or it cannot be read.
    """
    if left:
        refuse(unmarked(state.resources, {object.id for object in planned.objects}))


_SHOWN = 10
"""How many URNs a command to type has. The next run names the others."""


class StillProtected(RefusedChange):
    """Pulumi would refuse to delete something in the midst of a run. urns: of what its state protects."""

    def __init__(self, urns: Sequence[str]) -> None:
        self.urns = tuple(urns)
        stack = shlex.quote(pulumi.get_stack())
        super().__init__(
            f"Flux has never applied anything of what this run removes, and Pulumi's state still protects it\n{lines_of(urns)}",
            "`tenantry up` takes the protection away; without it: pulumi state unprotect --yes --stack"
            f" {stack} {shlex.join(urns[:_SHOWN])}",
        )


def check_unprotected(state: State, planned: Collection[ObjectId], unapplied: Iterable[ObjectId]) -> None:
    """Refuse a run that removes objects which Pulumi itself protects: it would end in the midst of its deletions.

    The mark of a removal can be on a namespace, and not yet on what is held in it.

    Args:   planned: the objects of the whole environment. unapplied: what Flux has never applied anything for: nobody marks that.
    Raises: StillProtected: it is all unapplied; RefusedChange: it is not; Refused: the state cannot be read.
    """
    kept, keys = ({key_in_state(id) for id in ids} for ids in (planned, unapplied))
    urns = [str(resource.get("urn")) for resource in state.resources if resource.get("protect")]
    # Other components of the program may protect what they have.
    protected = [urn for urn in urns if f"{FLEET}$" in urn and key_of(urn) not in kept]
    if marked := [urn for urn in protected if key_of(urn) not in keys]:
        raise RefusedChange(
            f"this run would remove what Pulumi's state still protects, because no run has marked it\n{lines_of(marked)}",
            "put it back and run `tenantry up` until nothing of it is held, which marks it; then remove it",
        )
    if protected:
        raise StillProtected(protected)
