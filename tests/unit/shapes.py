"""The models below a model."""

from __future__ import annotations

from collections.abc import Iterator
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from tenantry.model import Model
from tenantry.model.strict import resolved


def parts_of(annotation: Any) -> tuple[Any, ...]:
    """The types that a type chooses between, without `None` and what only restricts values."""
    if get_origin(annotation) is Annotated:
        return parts_of(resolved(annotation))
    if get_origin(annotation) in (Union, UnionType):
        return tuple(part for choice in get_args(annotation) for part in parts_of(choice))
    return () if annotation is type(None) else (annotation,)


def fields_of(model: type[Model]) -> dict[tuple[type[Model], str], Any]:
    """The types of the fields of a model, by the topmost class that declares each and its name there."""
    return {
        (
            next(base for base in reversed(model.__mro__) if name in getattr(base, "__annotations__", ())),
            name,
        ): info.annotation
        for name, info in model.model_fields.items()
    }


def reachable(model: type[Model]) -> frozenset[type[Model]]:
    """The model and all models below it."""
    found: set[type[Model]] = set()
    waiting = [model]
    while waiting:
        if (each := waiting.pop()) not in found:
            found.add(each)
            waiting += [below for annotation in fields_of(each).values() for below in _models_in(annotation)]
    return frozenset(found)


def _models_in(annotation: Any) -> Iterator[type[Model]]:
    """The models of a type, inside of its mappings and lists too."""
    for part in parts_of(annotation):
        if isinstance(part, type) and issubclass(part, Model):
            yield part
        elif get_origin(part) in (dict, list):
            yield from _models_in(get_args(part)[-1])
