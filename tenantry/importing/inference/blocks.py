"""What all objects of Flux have in common on their way into the file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tenantry.flux.references import references, renamed
from tenantry.importing.inference.literal import literal
from tenantry.importing.inference.world import Thing, World
from tenantry.messages.data import value_at
from tenantry.model.flux import FluxBlock

_NOT_THE_AUTHORS = (
    *("tenantry/", "pulumi.com/", "app.kubernetes.io/managed-by", "kubectl.kubernetes.io/", "kubernetes.io/"),
    *("meta.helm.sh/", "helm.sh/", "reconcile.fluxcd.io/", "sharding.fluxcd.io/", "field.cattle.io/"),
)


def is_authors(key: str) -> bool:
    """Whether a label or an annotation was written by a person, and not by Tenantry, Flux, Helm or Kubernetes."""
    return not key.startswith(_NOT_THE_AUTHORS) and "toolkit.fluxcd.io/" not in key


def metadata_of(thing: Thing) -> dict[str, Any]:
    """`metadata:` of an app or source."""
    made: dict[str, Any] = {}
    for key, there in (("labels", thing.labels), ("annotations", thing.annotations)):
        if own := {each: str(value) for each, value in there.items() if is_authors(each)}:
            made[key] = literal(own)
    return made


def without_defaults(block: Mapping[str, Any], model: type[FluxBlock]) -> dict[str, Any]:
    """A block without the values that Tenantry sets anyway."""
    fields = model.model_fields
    return {key: value for key, value in block.items() if key not in fields or fields[key].default != value}


def leave_owned(world: World, thing: Thing, model: type[FluxBlock], spec: Mapping[str, Any]) -> dict[str, Any]:
    """The spec without the keys that the fleet decides; each is left over with the model's reason."""
    kept: dict[str, Any] = dict(spec)
    for path, reason in model.owned.items():
        parts = path.split(".")
        value = value_at(kept, tuple(parts))
        if value is None or value is False or value == {}:
            kept = _without(kept, parts)
            continue
        text = f"Tenantry does not take '{path}': {reason}"
        world.notes.leave(thing.read, text, "nothing, if the result is right", f"spec.{path}")
        kept = _without(kept, parts)
    return kept


def _without(data: dict[str, Any], parts: list[str]) -> dict[str, Any]:
    first, *rest = parts
    if first not in data:
        return data
    if rest and isinstance(data[first], dict):
        below = _without(data[first], rest)
        return {**data, first: below} if below else {key: each for key, each in data.items() if key != first}
    return data if rest else {key: each for key, each in data.items() if key != first}


class Named:
    """The Secrets and ConfigMaps that the objects of one owner name in one place."""

    def __init__(self, world: World, prefix: str) -> None:
        """prefix: of the names that Tenantry gives them there."""
        self._world = world
        self._prefix = prefix
        self.credentials: dict[str, Thing | None] = {}
        self.configs: dict[str, Thing | None] = {}

    def in_spec(self, thing: Thing, spec: dict[str, Any]) -> dict[str, Any]:
        """The spec with the names that the file gives them."""
        for each in references(thing.kind, spec):
            self.declare(thing, each.kind, each.name)
        return renamed(thing.kind, spec, lambda _, name: self.short(name))

    def short(self, name: str) -> str:
        return name.removeprefix(self._prefix)

    def declare(self, thing: Thing, kind: str, name: str) -> str:
        """Declare a Secret or ConfigMap that an object names; gives the name that the file gives it."""
        short = self.short(name)
        group = self.credentials if kind == "Secret" else self.configs
        if short not in group:
            group[short] = self._world.get(kind, thing.namespace, name)
        if self._prefix and not name.startswith(self._prefix):
            self._world.notes.leave(
                thing.read,
                f"{kind} {thing.namespace}/{name} will be read as {self._prefix}{name}",
                f"copy {kind} {name} in namespace {thing.namespace} to {self._prefix}{name}",
            )
        return short
