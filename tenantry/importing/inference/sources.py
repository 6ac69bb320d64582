"""Sources: an object of Flux's to an entry of `sources:`."""

from __future__ import annotations

from typing import Any

from tenantry.importing.inference.blocks import Named, leave_owned, metadata_of, without_defaults
from tenantry.importing.inference.durations import short_times
from tenantry.importing.inference.literal import literal
from tenantry.importing.inference.world import Thing, World
from tenantry.messages.data import mapping_at
from tenantry.model.sources import SOURCE_KINDS

KEYS = {model.flux_kind: key for key, model in SOURCE_KINDS.items()}
"""The key of a source by its kind."""

_REFS: dict[str, dict[str, str]] = {"GitRepository": {"branch": "master"}, "OCIRepository": {"tag": "latest"}}
"""What Flux takes if an object does not say. Source: fluxcd.io, GitRepository and OCIRepository, "Reference"."""


def included(world: World, thing: Thing) -> list[Thing]:
    """The Git repositories that one includes."""
    written = thing.spec.get("include")
    names = [mapping_at(each, "repository").get("name") for each in written] if isinstance(written, list) else []
    found = (world.get("GitRepository", thing.namespace, str(each)) for each in names)
    return [each for each in found if each is not None and each is not thing]


def source_entry(world: World, thing: Thing, named: Named, prefix: str = "") -> dict[str, Any]:
    """The entry of a source, with the credentials that it names. prefix: of the names of sources in its place."""
    key = KEYS[thing.kind]
    model = SOURCE_KINDS[key]
    spec = dict(thing.spec)
    spec.pop("suspend", None) if not spec.get("suspend") else None
    secret = mapping_at(spec, "secretRef").get("name")
    spec.pop("secretRef", None)
    if spec.get("provider") == "generic":
        del spec["provider"]
    if not spec.get("ref") and thing.kind in _REFS:
        spec["ref"] = dict(_REFS[thing.kind])
    if isinstance(spec.get("include"), list):
        spec["include"] = [_included(each, prefix) for each in spec["include"]]
    spec = leave_owned(world, thing, model, spec)
    spec = short_times(named.in_spec(thing, spec))
    entry: dict[str, Any] = {key: without_defaults(literal(spec), model)}
    if secret:
        entry["credentials"] = named.declare(thing, "Secret", str(secret))
    if metadata := metadata_of(thing):
        entry["metadata"] = metadata
    return entry


def _included(entry: Any, prefix: str) -> Any:
    """An entry of `include` with the name that the file gives the repository."""
    name = str(mapping_at(entry, "repository").get("name"))
    short = name.removeprefix(prefix)
    kept = {key: each for key, each in entry.items() if not (key == "toPath" and each == short)}
    return {**kept, "repository": {"name": short}}
