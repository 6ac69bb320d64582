"""The places of a file where the name of something declared elsewhere stands."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple, get_args, get_origin

from tenantry.edit.subjects.names import DECLARED, NAMES, If, Kind, Named
from tenantry.edit.subjects.shapes import fields_of, parts_of
from tenantry.flux import references as of_flux
from tenantry.grants.model import Share
from tenantry.kube.names import ADDON_PREFIX, PLATFORM, addon_named
from tenantry.messages.data import mapping_at
from tenantry.messages.errors import Path
from tenantry.model import Document, FluxBlock, Model

_OF_THE_FLEET = {Kind.ENVIRONMENT, Kind.CLUSTER, Kind.GROUP, Kind.TENANT, Kind.FRAME, Kind.ADDON}
"""Kinds whose names are unique in the whole fleet. All others belong to a tenant or to the platform."""
_OF_SCHEMA: dict[of_flux.Kind, Kind] = {"Secret": Kind.CREDENTIALS, "ConfigMap": Kind.CONFIG}


class Target(NamedTuple):
    """Something with a name. owner: the tenant it belongs to, or `platform`; "" for what is the whole fleet's."""

    kind: Kind
    name: str
    owner: str = ""


class Reference(NamedTuple):
    """A place where a name stands. form: what it is there; written: the text there, such as `platform/dns`."""

    path: Path
    target: Target
    form: Literal["value", "entry", "key"]
    written: str
    removed: If

    def renamed(self, name: str) -> str:
        """The text for another name."""
        return f"{ADDON_PREFIX}{name}" if self.written.startswith(ADDON_PREFIX) else name


def references(data: dict[str, Any]) -> Iterator[Reference]:
    """All names in the data of a file, main or included. Parts with the wrong structure are skipped."""
    yield from _of_model(Document, data, ())


def references_to(data: dict[str, Any], target: Target) -> Iterator[Reference]:
    """The places where one name stands."""
    return (each for each in references(data) if each.target == target)


def declared_in(data: dict[str, Any]) -> Iterator[tuple[Path, Target]]:
    """All entries of the data that have a name which others can refer to."""
    for (model, field), kind in DECLARED.items():
        for at in _places_of(model, data):
            for name in mapping_at(data, *at, field):
                yield (*at, field, name), target_of(kind, name, at)


def _places_of(model: type[Model], data: dict[str, Any]) -> list[tuple[str, ...]]:
    match model.__name__:
        case "Document":
            return [()]
        case "Platform":
            return [("platform",)]
    return [("tenants", name) for name in mapping_at(data, "tenants")]


def target_of(kind: Kind, name: str, at: Path) -> Target:
    """What a name at a path means: in the platform's part, apps and sources are add-ons."""
    if kind is Kind.APP and (addon := addon_named(name)) is not None:
        return Target(Kind.ADDON, addon)
    platform = at[:1] != ("tenants",)
    if kind is Kind.ADDON or (platform and kind in (Kind.APP, Kind.SOURCE)):
        return Target(Kind.ADDON, addon_named(name) or name)
    if kind in _OF_THE_FLEET:
        return Target(kind, name)
    return Target(kind, name, PLATFORM if platform else str(at[1]))


def _of_model(model: type[Model], value: Any, at: Path) -> Iterator[Reference]:
    if not isinstance(value, dict):
        return
    for field in fields_of(model):
        if field.key in value:
            place = (*at, field.key)
            # What `defaults` shares is the same name in many tenants.
            shared_by_all = field.declared[0] is Share and at[:1] != ("tenants",)
            if (
                (named := NAMES.get(field.declared))
                and not shared_by_all
                and not _is_whole(field.type, value[field.key])
            ):
                yield from _names(value[field.key], named, place)
            yield from _below(field.type, value[field.key], place)
    if issubclass(model, FluxBlock):
        yield from _of_block(model, value, at)


def _is_whole(annotation: Any, value: Any) -> bool:
    """Whether a name is written as a mapping with keys of its own, which have a model."""
    return isinstance(value, dict) and not any(get_origin(part) is dict for part in parts_of(annotation))


def _below(annotation: Any, value: Any, at: Path) -> Iterator[Reference]:
    for part in parts_of(annotation):
        if get_origin(part) is dict and isinstance(value, dict):
            for key, each in value.items():
                yield from _below(get_args(part)[1], each, (*at, key))
        elif get_origin(part) is list and isinstance(value, list):
            for index, each in enumerate(value):
                yield from _below(get_args(part)[0], each, (*at, index))
        elif isinstance(part, type) and issubclass(part, Model):
            yield from _of_model(part, value, at)


def _names(value: Any, named: Named, at: Path) -> Iterator[Reference]:
    """The names in a value: itself, the entries of a list, or the keys of a mapping."""
    if isinstance(value, str):
        yield Reference(at, target_of(named.kind, value, at), "value", value, named.removed)
    elif isinstance(value, list):
        for index, name in enumerate(value):
            if isinstance(name, str):
                yield Reference((*at, index), target_of(named.kind, name, at), "entry", name, named.removed)
    elif isinstance(value, dict):
        for name in value:
            yield Reference((*at, name), target_of(named.kind, name, at), "key", name, named.removed)


def _of_block(model: type[FluxBlock], block: dict[str, Any], at: Path) -> Iterator[Reference]:
    """What Flux's own keys name: Secrets, ConfigMaps, and the sources that a Git source includes."""
    for kind in (model.flux_kind, *model.parts):
        for found in of_flux.references(kind, block):
            if found.path[0] not in model.owned:
                place = (*at, *found.path)
                yield Reference(
                    place, target_of(_OF_SCHEMA[found.kind], found.name, at), "value", found.name, If.REFUSE
                )
    for path, name in of_flux.included_sources(model.flux_kind, block):
        yield Reference((*at, *path), target_of(Kind.SOURCE, name, at), "value", name, If.REFUSE)
