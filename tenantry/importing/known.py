"""What was read and what is planned around the objects that are compared: their sources, their appliers, their accounts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from tenantry.compare.fields import FieldChange
from tenantry.importing.checkouts import ARTIFACT, copied_by, parts_of
from tenantry.importing.model import Inventory, LeftOver, Read
from tenantry.importing.owners import CONTROLLERS
from tenantry.importing.world import Thing
from tenantry.kube.objects import Manifest, ObjectId, object_id
from tenantry.messages.data import mapping_at
from tenantry.plan.plan import Plan

_Place: TypeAlias = tuple[str, str, str, str]
"""Environment, kind, namespace and name of an object."""


class Known:
    """What was read and what is planned around the objects that are compared."""

    def __init__(self, inventory: Inventory, plans: Mapping[str, Plan], left_over: Iterable[LeftOver]) -> None:
        self._assumed = _by_place(inventory.reading.assumed)
        self._read = _by_place(inventory.objects)
        self._planned = {_place(name, each.id): each.manifest for name, plan in plans.items() for each in plan.objects}
        self._replaced = {
            _place(each.read.environment, object_id(each.read.manifest))
            for each in left_over
            if each.fate == "replaced" and not each.field
        }
        self._accounts = {
            (each.environment, name): account for each in inventory.reading.flux for name, account in each.controllers
        }

    def read_source(self, environment: str, object: Manifest, *path: str) -> Manifest | None:
        """The source that an object names at a path, if it was read or assumed."""
        at, _ = self._copied(environment, object, *path)
        return self._read.get(at) or self._assumed.get(at)

    def planned_source(self, environment: str, object: Manifest, *path: str) -> Manifest | None:
        """The source that an object names at a path, if it is planned."""
        return self._planned.get(_named(environment, object, *path))

    def is_assumed(self, environment: str, object: Manifest, *path: str) -> bool:
        """Whether the source that an object names was not read."""
        return self._copied(environment, object, *path)[0] in self._assumed

    def is_copied(self, environment: str, object: Manifest, field: FieldChange) -> bool:
        """Whether a field says where in its source a directory is that an ArtifactGenerator copies, as it is."""
        _, home = self._copied(environment, object, "spec", "sourceRef")
        moved = (*home, *parts_of(str(field.before)))
        return bool(home) and field.path == ("spec", "path") and parts_of(str(field.after)) == moved

    def _copied(self, environment: str, object: Manifest, *path: str) -> tuple[_Place, tuple[str, ...]]:
        """The source that an object names, or the one that an ArtifactGenerator copies for it, and the directory of the copy."""
        at = _named(environment, object, *path)
        if at[1] != ARTIFACT:
            return at, ()
        generators = (
            each
            for (where, kind, space, _), each in self._read.items()
            if (where, kind, space) == (environment, "ArtifactGenerator", at[2])
        )
        found = next(filter(None, (copied_by(each, at[3]) for each in generators)), None)
        return ((environment, *found[0][1:]), found[1]) if found else (at, ())

    def is_planned(self, source: Read) -> bool:
        """Whether a source is planned under its own name."""
        return _place(source.environment, object_id(source.manifest)) in self._planned

    def is_replaced(self, environment: str, kind: str, namespace: str, name: str) -> bool:
        """Whether a Kustomization has nothing to do any more."""
        return (environment, kind, namespace, name) in self._replaced

    def applied_by(self, environment: str, kind: str, namespace: str, name: str) -> tuple[str, str]:
        """The namespace and the name of the Kustomization that applies an object that was read; empty if none does."""
        found = self._read.get((environment, kind, namespace, name))
        return Thing(Read(environment, found, "")).applied_by if found else ("", "")

    def default_account(self, environment: str, kind: str) -> str | None:
        """As which account of its namespace Flux acts for an object without one; "": as the controller; None: that was not read."""
        return self._accounts.get((environment, CONTROLLERS.get(kind, "")))

    def read_object(self, environment: str, beside: Manifest, kind: str, name: str) -> Manifest | None:
        """An object that was read in the namespace of another one."""
        return self._read.get((environment, kind, str(beside["metadata"].get("namespace")), name))

    def has_namespace(self, environment: str, name: str) -> bool:
        """Whether a namespace was read."""
        return (environment, "Namespace", "", name) in self._read


def _place(environment: str, id: ObjectId) -> _Place:
    return environment, id.kind, id.namespace or "", id.name


def _by_place(reads: Iterable[Read]) -> dict[_Place, Manifest]:
    return {_place(each.environment, object_id(each.manifest)): each.manifest for each in reads}


def _named(environment: str, object: Manifest, *path: str) -> _Place:
    named = mapping_at(dict(object), *path)
    namespace = named.get("namespace") or object["metadata"].get("namespace")
    return environment, str(named.get("kind")), str(namespace), str(named.get("name"))
