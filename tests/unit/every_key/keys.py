"""The keys of the model, and those that a file has, as paths in which `*` stands for a name or an index."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Annotated, Any, NamedTuple, get_args, get_origin

from tenantry.model import Model
from tenantry.model.document import Document

Pattern = tuple[str, ...]


class Key(NamedTuple):
    """A key by the model that declares it."""

    model: str
    name: str

    def __str__(self) -> str:
        return f"{self.model}.{self.name}"


def of_model(
    model: type[Model] = Document, at: Pattern = (), above: tuple[type, ...] = ()
) -> Iterator[tuple[Key, Pattern]]:
    """Each key of the model, with each path where it can stand."""
    for name, field in model.model_fields.items():
        path = (*at, name.removesuffix("_"))
        yield Key(_declaring(model, name), name), path
        for inner, place in _models(field.annotation, path):
            if inner not in above:
                yield from of_model(inner, place, (*above, inner))


def _declaring(model: type[Model], name: str) -> str:
    return next(each.__name__ for each in model.__mro__ if name in inspect.get_annotations(each))


def _models(annotation: Any, path: Pattern) -> Iterator[tuple[type[Model], Pattern]]:
    """The models in a type, each with the path where it stands."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if isinstance(annotation, type) and issubclass(annotation, Model):
        yield annotation, path
    elif origin is Annotated:
        yield from _models(arguments[0], path)
    elif origin is dict:
        yield from _models(arguments[1], (*path, "*"))
    elif origin is list:
        yield from _models(arguments[0], (*path, "*"))
    else:
        for each in arguments:
            yield from _models(each, path)


def of_data(data: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """The path of each scalar, and of each list of scalars, in a file."""
    if isinstance(data, dict) and data:
        for key, value in data.items():
            yield from of_data(value, (*path, key))
    elif isinstance(data, list) and any(isinstance(item, dict | list) for item in data):
        for index, item in enumerate(data):
            yield from of_data(item, (*path, index))
    else:
        yield path, data


def fits(path: tuple[str | int, ...], pattern: Pattern) -> bool:
    """Whether a path of a file is that of a key, or is below it."""
    return len(path) >= len(pattern) and all(one in ("*", str(part)) for part, one in zip(path, pattern, strict=False))
