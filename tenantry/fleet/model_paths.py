"""Which model, and which key of it, stands at a path of tenants.yaml.

Called by: `shape` and `hints`, for findings.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from pydantic.fields import FieldInfo

from tenantry.messages.errors import Path
from tenantry.model import Model


def model_at(model: type[Model], path: Path) -> type[Model] | None:
    """The model class whose keys stand at `path`."""
    annotation: Any = model
    for part in path:
        annotation = _step(annotation, part)
    return next(_models(annotation), None)


@cache
def fields_of(model: type[Model]) -> Mapping[str, FieldInfo]:
    """The keys of a model as the author writes them."""
    return {field.alias or name: field for name, field in model.model_fields.items()}


def _step(annotation: Any, part: str | int) -> Any:
    for option in _members(annotation):
        if typing.get_origin(option) in (dict, list):
            return typing.get_args(option)[-1]
        if isinstance(option, type) and issubclass(option, Model) and part in fields_of(option):
            return fields_of(option)[str(part)].annotation
    return None


def _models(annotation: Any) -> Iterator[type[Model]]:
    return (member for member in _members(annotation) if isinstance(member, type) and issubclass(member, Model))


def _members(annotation: Any) -> Iterator[Any]:
    """The alternatives of an annotation, without what Annotated adds."""
    while typing.get_origin(annotation) is typing.Annotated:
        annotation = typing.get_args(annotation)[0]
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        for arg in typing.get_args(annotation):
            yield from _members(arg)
    else:
        yield annotation
