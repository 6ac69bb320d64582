"""What import reads, and what it makes of that. Every step takes one of these and gives another.

    reading    files, kustomize trees, live clusters  ->  objects
    inventory  objects                                ->  Inventory
    assemble   Inventory                              ->  Draft
    proof      Inventory, Draft                       ->  Proof
    report     all of them                            ->  text, JSON

`Path` in these classes is a place in tenants.yaml, not a file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, NamedTuple

from tenantry.facts.fields import FieldChange
from tenantry.importing.documents import Placed
from tenantry.kube.objects import KubeObject, Manifest, ObjectId, group_of, object_id
from tenantry.messages.errors import Refused
from tenantry.plan.objects.scope import ENVIRONMENT_LABEL

Path = tuple[str | int, ...]
"""A place in tenants.yaml, from its top."""


class Key(NamedTuple):
    """What the API server tells objects apart by: the versions of a group show the same ones."""

    group: str
    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}" if self.namespace else f"{self.kind} {self.name}"


@dataclass(frozen=True, slots=True)
class Read:
    """An object as it was found.

    environment: the environment whose management cluster holds it.
    origin:      a file with a line, or "live".
    manifest:    without what the API server adds, and with the values of Secrets removed.
    """

    json_keys: ClassVar = ("environment", "origin", "id")
    environment: str
    manifest: Mapping[str, Any]
    origin: str

    @property
    def id(self) -> ObjectId:
        return object_id(self.manifest)


@dataclass(frozen=True, slots=True)
class Unread:
    """A file, a directory or what a Kustomization applies that could not be read. place: where it is; fix: what to do."""

    environment: str
    place: str
    reason: str
    fix: str


@dataclass(frozen=True, slots=True)
class Followed:
    """A Kustomization that was followed into a source at hand.

    directory: what it applies. objects: how many objects that is.
    is_read:   whether they are read as objects of the environment; otherwise the Kustomization stays what applies them.
    """

    environment: str
    kustomization: Key
    directory: str
    objects: int
    is_read: bool


@dataclass(frozen=True, slots=True)
class Installed:
    """Flux's own objects in an environment, which its installation keeps.

    version: "" if it is not said.
    """

    environment: str
    version: str
    objects: int


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """A source that is not at hand, and the Kustomizations that apply it. They stay what applies its objects."""

    environment: str
    source: Key
    url: str
    kustomizations: tuple[Key, ...]


@dataclass(frozen=True, slots=True)
class Reading:
    """How objects were read, beside the objects themselves."""

    json_keys: ClassVar = ("unread", "followed", "flux")
    unread: tuple[Unread, ...] = ()
    followed: tuple[Followed, ...] = ()
    elsewhere: tuple[Elsewhere, ...] = ()
    flux: tuple[Installed, ...] = ()

    def __add__(self, other: Reading) -> Reading:
        return Reading(*(getattr(self, key) + getattr(other, key) for key in self.__slots__))


_AS_IT_IS = Reading()


@dataclass(frozen=True, slots=True)
class Inventory:
    """Everything that was read.

    management: the name of each environment's management cluster.
    """

    objects: tuple[Read, ...]
    management: Mapping[str, str]
    reading: Reading = _AS_IT_IS


@dataclass(frozen=True, slots=True)
class Became:
    """An object that the draft expresses, and the place that does.

    An object that is planned under another name is in `left_over`, too: the old object stays. cluster: where an app runs.
    line: of the file that is written, as soon as there is one.
    """

    read: Read
    path: Path
    cluster: str = ""
    line: int = 0


Fate = Literal["inexpressible", "stays", "replaced", "applied"]
"""What becomes of an object that the file does not express.

inexpressible: the file cannot say it, or somebody has to decide first. stays: what applies it today goes on, so nothing is missing.
replaced:      it applies objects that Tenantry takes over, and has nothing to do afterwards.
applied:       an app or an add-on of the file applies it, and goes on applying it.
"""


@dataclass(frozen=True, slots=True)
class LeftOver:
    """An object, or a part of one, that the draft does not express.

    field: the part as a path with dots; empty for the whole object. fate: what becomes of a whole object.
    """

    read: Read
    reason: str
    fix: str
    field: str = ""
    fate: Fate = "inexpressible"


class Held(NamedTuple):
    """A kubeconfig that does not lie in one place alone: with the key that Flux reads, where it lies, and where the file has it.

    is_there: it lies where the file has it; if not, it has to be copied before the file can be used.
    """

    environment: str
    kind: str
    name: str
    key: str
    namespaces: tuple[str, ...]
    to: str
    cluster: str
    is_there: bool


@dataclass(frozen=True, slots=True)
class Draft:
    """A fleet that expresses what was read, as plain data in the order in which it is written.

    became:    every object that the data expresses. One that is planned under another name is in `left_over`, too.
    decisions: comments at places that somebody has to decide about.
    held:      kubeconfigs that the draft expects in another namespace, or that lie in several.
    """

    data: Mapping[str, Any]
    became: tuple[Became, ...]
    left_over: tuple[LeftOver, ...]
    decisions: Mapping[Path, tuple[str, ...]] = field(default_factory=dict)
    held: tuple[Held, ...] = ()


@dataclass(frozen=True, slots=True)
class Proven:
    """An object that was read, and the planned object of the same identity.

    changed: fields that adoption adds or changes, and entries of lists that it removes. Secrets are masked.
    stays:   fields that the plan does not set. Adoption leaves them on the object, but tenants.yaml does not say them.
    """

    read: Read
    planned: KubeObject
    changed: tuple[FieldChange, ...]
    stays: tuple[FieldChange, ...]


@dataclass(frozen=True, slots=True)
class Added:
    """An object that is planned only: adoption creates it."""

    environment: str
    id: ObjectId


@dataclass(frozen=True, slots=True)
class Proof:
    """The plan of a draft, compared with what was read.

    missing: what is not planned under its name; each is in the draft's `left_over`, or import has a defect.
    renamed: those of them that are apps, each with the planned object that does the same under another name.
    defects: what is wrong with the draft, in sentences; import writes nothing if there are any.
    """

    json_keys: ClassVar = ("kept", "renamed", "added")
    kept: tuple[Proven, ...]
    added: tuple[Added, ...]
    missing: tuple[Read, ...]
    defects: tuple[str, ...]
    renamed: tuple[Proven, ...] = ()


def key_of(manifest: Manifest) -> Key:
    """The identity of an object."""
    id = object_id(manifest)
    return Key(group_of(id.api_version), id.kind, id.namespace or "", id.name)


def inventory(
    found: Mapping[str, Iterable[Placed]], management: Mapping[str, str], reading: Reading = _AS_IT_IS
) -> Inventory:
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
    return Inventory(tuple(reads.values()), dict(management), reading)


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
