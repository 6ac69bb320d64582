"""The objects of one environment, by kind and namespace, and what is noted about them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tenantry.flux.conformance import check_part
from tenantry.flux.schemas import kinds
from tenantry.importing.inference.applied import expressible
from tenantry.importing.inventory import Key, key_of
from tenantry.importing.model import Inventory, LeftOver, Path, Read
from tenantry.kube.objects import is_of_flux, labels_of
from tenantry.messages.data import mapping_at
from tenantry.messages.text import format_path


@dataclass(slots=True)
class Notes:
    """What is said of the objects that were read.

    places: the parts of the file that each was taken for. apps: the tenant, the app and the cluster of each app.
    """

    left_over: list[LeftOver] = field(default_factory=list)
    places: dict[int, list[Path]] = field(default_factory=lambda: defaultdict(list))
    apps: dict[int, tuple[str, str, str]] = field(default_factory=dict)
    decisions: dict[Path, list[str]] = field(default_factory=lambda: defaultdict(list))

    def leave(self, read: Read, reason: str, fix: str, part: str = "") -> None:
        """Leave over an object, or a part of it."""
        note = LeftOver(read, reason, fix, part)
        if note not in self.left_over:
            self.left_over.append(note)

    def take(self, read: Read, *path: str | int) -> None:
        """An object is expressed by a part of the file."""
        if path not in self.places[id(read)]:
            self.places[id(read)].append(path)

    def decide(self, path: Path, text: str) -> None:
        """A comment in the file, at a place that needs a decision."""
        if text not in self.decisions[path]:
            self.decisions[path].append(text)


class Thing:
    """An object that was read, with short ways to its parts. Values are what others wrote, so every part may be malformed."""

    def __init__(self, read: Read) -> None:
        self.read = read
        self.key: Key = key_of(read.manifest)
        self.labels = labels_of(read.manifest)
        self.annotations = mapping_at(dict(read.manifest["metadata"]), "annotations")
        self.spec: dict[str, Any] = mapping_at(dict(read.manifest), "spec")

    @property
    def kind(self) -> str:
        return self.key.kind

    @property
    def namespace(self) -> str:
        return self.key.namespace

    @property
    def name(self) -> str:
        return self.key.name

    def at(self, *path: str) -> Any:
        """The value at a path of the object; None if there is none."""
        value: Any = self.read.manifest
        for part in path:
            value = value.get(part) if isinstance(value, dict) else None
        return value


def _is_taken(thing: Thing, notes: Notes) -> bool:
    """Whether Flux takes an object; keys that only older versions of Flux know are left over.

    Later steps rely on the types of values.
    """
    if thing.kind not in kinds() or not is_of_flux(str(thing.read.manifest["apiVersion"])):
        return True
    for finding in check_part(thing.kind, thing.spec, ("spec",)):
        if finding.code != "unknown-key":
            text = f"Flux refuses it: {format_path(finding.path)}: {finding.message}"
            notes.leave(thing.read, text, "correct it where it is, then import again")
            return False
        if len(finding.path) == 2:
            key = str(finding.path[1])
            notes.leave(thing.read, f"Flux does not know '{key}' any more", "nothing: Flux ignores it", f"spec.{key}")
            thing.spec = {name: each for name, each in thing.spec.items() if name != key}
    return True


class World:
    """The objects on the management cluster of one environment.

    platform: the namespace of add-ons there. keeps_values: whether values that may be secrets are written, too.
    """

    def __init__(self, inventory: Inventory, environment: str, notes: Notes) -> None:
        self.environment = environment
        self.management = inventory.management[environment]
        self.notes = notes
        self.platform = ""
        self.keeps_values = False
        read = (Thing(each) for each in inventory.objects if each.environment == environment)
        self.things = [each for each in expressible(read, notes) if _is_taken(each, notes)]
        self._by_kind: dict[str, list[Thing]] = defaultdict(list)
        self._in_namespace: dict[tuple[str, str], list[Thing]] = defaultdict(list)
        self._spaces: dict[str, list[Thing]] = defaultdict(list)
        self._by_key: dict[tuple[str, str, str], Thing] = {}
        for each in self.things:
            self._by_kind[each.kind].append(each)
            self._spaces[each.namespace].append(each)
            self._in_namespace[each.kind, each.namespace].append(each)
            self._by_key[each.kind, each.namespace, each.name] = each

    def of(self, *kinds: str, namespace: str | None = None) -> Iterator[Thing]:
        """All objects of some kinds, in a namespace or anywhere."""
        for kind in kinds:
            yield from self._by_kind[kind] if namespace is None else self._in_namespace[kind, namespace]

    def within(self, namespace: str) -> list[Thing]:
        """A namespace and everything in it, and all cluster-scoped objects."""
        return [*self._spaces.get(namespace, ()), *self._spaces.get("", ())]

    def get(self, kind: str, namespace: str, name: str) -> Thing | None:
        return self._by_key.get((kind, namespace, name))
