"""The fields of a model, from its annotations."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable
from typing import Annotated, Any, ClassVar, NamedTuple

from pydantic_core import CoreSchema

from tenantry.model.declaring.markers import Handler

NONE: Any = object()
"""Stands for a default that is not given."""


class Constraints(NamedTuple):
    """What `Field` notes in an annotation, or as the value of a field."""

    default: Any
    default_factory: Callable[[], Any] | None
    alias: str | None
    limits: tuple[tuple[str, Any], ...]

    def __get_pydantic_core_schema__(self, source: Any, handler: Handler) -> CoreSchema:
        return {**handler(source), **dict(self.limits)}


def Field(  # pydantic's name
    default: Any = NONE,
    *,
    default_factory: Callable[[], Any] | None = None,
    alias: str | None = None,
    **limits: Any,
) -> Any:
    """Describe a field. Args: alias: its key, if that is a word of Python; limits: min_length, max_length, pattern, ge, le."""
    return Constraints(default, default_factory, alias, tuple(limits.items()))


class FieldInfo(NamedTuple):
    """A field; annotation: its type, without what `Annotated` adds; declared: with it."""

    annotation: Any
    declared: Any
    default: Any
    default_factory: Callable[[], Any] | None
    alias: str | None

    def is_required(self) -> bool:
        return self.default is NONE and self.default_factory is None


def fields_of(model: type) -> dict[str, FieldInfo]:
    """The fields of a model, those of its parents first. A field that is declared anew keeps its position."""
    found: dict[str, FieldInfo] = {}
    for base in reversed(model.__mro__):
        for name, annotation in _annotations(base).items():
            if not name.startswith("_") and typing.get_origin(annotation) is not ClassVar:
                found[name] = _field(annotation, vars(base).get(name, NONE))
    return found


def _annotations(base: type) -> dict[str, Any]:
    """The annotations of one class. `from __future__ import annotations` would make them text, so models do without it."""
    return {} if base is object or base.__module__.startswith(__package__) else inspect.get_annotations(base)


def _field(declared: Any, value: Any) -> FieldInfo:
    annotation = typing.get_args(declared)[0] if typing.get_origin(declared) is Annotated else declared
    if isinstance(value, Constraints):
        return FieldInfo(annotation, declared, value.default, value.default_factory, value.alias)
    return FieldInfo(annotation, declared, value, None, None)
