"""Everything that was read, by environment, without doubles."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from tenantry.importing.model import Inventory, Read
from tenantry.importing.readers.documents import Placed
from tenantry.kube.objects import Manifest, group_of, object_id
from tenantry.messages.errors import Refused
from tenantry.plan.objects.scope import ENVIRONMENT_LABEL


class Key(NamedTuple):
    """What the API server tells objects apart by: the versions of a group show the same ones."""

    group: str
    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}" if self.namespace else f"{self.kind} {self.name}"


def key_of(manifest: Manifest) -> Key:
    """The identity of an object."""
    id = object_id(manifest)
    return Key(group_of(id.api_version), id.kind, id.namespace or "", id.name)


def inventory(found: Mapping[str, Iterable[Placed]], management: Mapping[str, str]) -> Inventory:
    """The objects of each environment. Environments on one cluster share them: each gets those that are its own.

    Raises: Refused: two sources of an environment hold different objects of one identity.
    """
    reads: dict[tuple[str, Key], Read] = {}
    for environment, objects in found.items():
        for manifest, origin in objects:
            owner = _owner(manifest, environment, management)
            key = key_of(manifest)
            # Environments on one cluster may be read from one source, which shows each object to each of them.
            beside = [each for each in management if management[each] == management[environment]]
            first = next((reads[each, key] for each in beside if (each, key) in reads), None)
            if first is None:
                reads[owner, key] = Read(owner, manifest, origin)
            elif first.manifest != manifest:
                message = f"{origin}: {key} is declared differently at {first.origin}"
                raise Refused(message, "keep one of them, or import a directory that holds one of them")
    return Inventory(tuple(reads.values()), dict(management))


def _owner(manifest: Manifest, environment: str, management: Mapping[str, str]) -> str:
    """The environment of an object, among those on one cluster: by Tenantry's label, else by its namespace's name."""
    beside = [each for each in management if management[each] == management[environment]]
    if len(beside) < 2:
        return environment
    metadata = manifest["metadata"]
    labels = metadata.get("labels") or {}
    if labels.get(ENVIRONMENT_LABEL) in beside:
        return str(labels[ENVIRONMENT_LABEL])
    namespace = str(metadata.get("namespace") or metadata["name"])
    named = [each for each in beside if namespace.startswith(f"{each}-") or namespace.endswith(f"-{each}")]
    return named[0] if len(named) == 1 else environment
