"""The model's fields as shapes that a walk over plain data can follow: mappings, lists and models."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from types import UnionType
from typing import Annotated, Any, NamedTuple, Union, get_args, get_origin

from tenantry.model import Model


class Field(NamedTuple):
    """A key of a model: its name in the file, the model and the attribute that declare it, and its type."""

    key: str
    declared: tuple[type[Model], str]
    type: Any


@cache
def fields_of(model: type[Model]) -> tuple[Field, ...]:
    """The keys of a model, with the class that declares each one."""
    return tuple(
        Field(info.alias or name, (_declaring(model, name), name), info.annotation)
        for name, info in model.model_fields.items()
    )


def _declaring(model: type[Model], name: str) -> type[Model]:
    """The topmost class with the field, so that one entry of a table is enough for all of its subclasses."""
    return next(each for each in reversed(model.__mro__) if name in getattr(each, "__annotations__", ()))


@cache
def parts_of(annotation: Any) -> tuple[Any, ...]:
    """The types that a type chooses between, without `None` and what only restricts values."""
    if get_origin(annotation) is Annotated:
        return parts_of(get_args(annotation)[0])
    if get_origin(annotation) in (Union, UnionType):
        return tuple(part for each in get_args(annotation) for part in parts_of(each))
    return () if annotation is type(None) else (annotation,)


def models_in(annotation: Any) -> Iterator[type[Model]]:
    """The models of a type, inside of its mappings and lists too."""
    for part in parts_of(annotation):
        if isinstance(part, type) and issubclass(part, Model):
            yield part
        elif get_origin(part) in (dict, list):
            yield from models_in(get_args(part)[-1])


def holds_text(annotation: Any) -> bool:
    """Whether a value, an entry or a key of this type is a text of the author's own choice."""
    for part in parts_of(annotation):
        if part is str:
            return True
        if get_origin(part) is list and holds_text(get_args(part)[0]):
            return True
        if get_origin(part) is dict and (holds_text(get_args(part)[0]) or holds_text(get_args(part)[1])):
            return True
    return False


def reachable(model: type[Model]) -> frozenset[type[Model]]:
    """The model and all models below it."""
    found: set[type[Model]] = set()
    waiting = [model]
    while waiting:
        if (each := waiting.pop()) not in found:
            found.add(each)
            waiting += [below for field in fields_of(each) for below in models_in(field.type)]
    return frozenset(found)
