"""The sections of the reference: one for every model that tenants.yaml can hold, at the place where it stands."""

from __future__ import annotations

import types
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin, get_type_hints

from docgen.document.whole import declared_by, field_texts
from tenantry.fleet.settings import TenantSettings
from tenantry.model import Document, FluxBlock, Model, Tenant
from tenantry.model.strict import resolved

_LATER = ("platform", "templates", "defaults", "overrides", "kustomize", "helm")
"""A model that stands in several places is shown where a reader looks for it: in an app of a tenant."""


@dataclass(frozen=True, slots=True)
class Section:
    """One model; `path` is where it stands, `elsewhere` where else, in full: `tenants.<name>.apps.<name>`."""

    model: type[Model]
    path: str
    elsewhere: tuple[str, ...]

    @property
    def fields(self) -> tuple[str, ...]:
        """The attributes that it describes."""
        return tuple(self.model.model_fields)


@cache
def sections() -> tuple[Section, ...]:
    """All sections, in the order in which a file is read."""
    places: dict[type[Model], list[str]] = {}
    _place(Document, "", places)
    found = [Section(each, paths[0], tuple(paths[1:])) for each, paths in places.items()]
    order = [key_of(Document, field) for field in Document.model_fields]
    return tuple(sorted(found, key=lambda each: order.index(_first(each.path)) if each.path else -1))


def _first(path: str) -> str:
    return path.partition(".")[0].removesuffix("[]")


def _place(model: type[Model], path: str, places: dict[type[Model], list[str]]) -> None:
    """Note where a model stands; what it holds is looked at the first time only."""
    known = model in places
    places.setdefault(model, []).append(path)
    if known:
        return
    for field in sorted(model.model_fields, key=lambda each: each in _LATER):
        for suffix, inner in _models_in(hints(model)[field]):
            _place(inner, f"{path}.{key_of(model, field)}{suffix}".removeprefix("."), places)


@cache
def _reachable() -> frozenset[type[Model]]:
    """The models that a file can hold: those merged of several places are not among them."""
    found: set[type[Model]] = set()
    waiting: list[type[Model]] = [Document]
    while waiting:
        model = waiting.pop()
        if model not in found:
            found.add(model)
            waiting += (inner for field in model.model_fields for _, inner in _models_in(hints(model)[field]))
    return frozenset(found)


@cache
def hints(model: type[Model]) -> dict[str, Any]:
    """The types of a model's fields, with what is noted on them."""
    return get_type_hints(model, include_extras=True)


def key_of(model: type[Model], field: str) -> str:
    """The key in the file that an attribute stands for."""
    return model.model_fields[field].alias or field


def text_of(model: type[Model], field: str) -> str:
    """What the key means; empty if it has no text."""
    return " ".join(field_texts().get((declared_by(model, field).__name__, field), "").split())


def default_of(model: type[Model], field: str) -> Any:
    """The value without the key; `...` if it is required, None if its text has to say it."""
    declared = (_complete(model) or model).model_fields[field]
    if declared.is_required():
        return ...
    settled = TenantSettings.__dataclass_fields__.get(field) if model is Tenant else None
    value = settled.default if settled else declared.default
    return value if isinstance(value, str | bool | int) else None


def merged_defaults(model: type[FluxBlock]) -> dict[str, Any]:
    """The defaults that the fleet sets for Flux's own keys of a block."""
    return (_complete(model) or model).completed({})


_B = TypeVar("_B", bound=Model)


def _complete(model: type[_B]) -> type[_B] | None:
    """The model of a block after all places that set it are merged."""
    derived = model.__subclasses__() if issubclass(model, FluxBlock) else ()
    return next((each for each in derived if each not in _reachable() and not each.partial), None)


def _models_in(annotation: Any) -> Iterator[tuple[str, type[Model]]]:
    """The models in the type of a value, each with what its path adds to the key: `.<name>`, `[]` or nothing."""
    if isinstance(annotation, type) and issubclass(annotation, Model):
        yield "", annotation
    origin, args = get_origin(annotation), get_args(annotation)
    if origin is dict:
        yield from ((f".<name>{suffix}", inner) for suffix, inner in _models_in(args[1]))
    elif origin is list:
        yield from ((f"[]{suffix}", inner) for suffix, inner in _models_in(args[0]))
    elif origin is Annotated:
        yield from _models_in(resolved(annotation))
    elif origin in (Union, types.UnionType):
        for arg in args:
            yield from _models_in(arg)
