"""The models below a model, and whether a type holds texts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args, get_origin

from tenantry.edit.subjects.references import fields_of, parts_of
from tenantry.model import Model


def reachable(model: type[Model]) -> frozenset[type[Model]]:
    """The model and all models below it."""
    found: set[type[Model]] = set()
    waiting = [model]
    while waiting:
        if (each := waiting.pop()) not in found:
            found.add(each)
            waiting += [below for field in fields_of(each) for below in _models_in(field.type)]
    return frozenset(found)


def _models_in(annotation: Any) -> Iterator[type[Model]]:
    """The models of a type, inside of its mappings and lists too."""
    for part in parts_of(annotation):
        if isinstance(part, type) and issubclass(part, Model):
            yield part
        elif get_origin(part) in (dict, list):
            yield from _models_in(get_args(part)[-1])


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
