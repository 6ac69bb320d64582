"""Which model, and which key of it, stands at a path of tenants.yaml; and where a key belongs that stands elsewhere.

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
    return next(
        (option for option in _options(annotation) if isinstance(option, type) and issubclass(option, Model)), None
    )


def _step(annotation: Any, part: str | int) -> Any:
    for option in _options(annotation):
        origin = typing.get_origin(option)
        if origin in (dict, list):
            return typing.get_args(option)[-1]
        if isinstance(option, type) and issubclass(option, Model) and part in fields_of(option):
            return fields_of(option)[str(part)].annotation
    return None


@cache
def fields_of(model: type[Model]) -> Mapping[str, FieldInfo]:
    """The keys of a model as the author writes them."""
    return {field.alias or name: field for name, field in model.model_fields.items()}


def _options(annotation: Any) -> tuple[Any, ...]:
    """The alternatives of an annotation, without Annotated's extras and without None."""
    while typing.get_origin(annotation) is typing.Annotated:
        annotation = typing.get_args(annotation)[0]
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        return tuple(option for arg in typing.get_args(annotation) for option in _options(arg))
    return () if annotation in (None, type(None)) else (annotation,)


_MOST_LEVELS = 3
"""How far below a mapping a key is looked for; further down it would rarely be the one that is meant."""
_EVERYWHERE = frozenset(
    {
        "version",
        "state",
        "ref",
        "source",
        "name",
        "namespace",
        "key",
        "type",
        "url",
        "kind",
        "path",
        "labels",
        "environments",
        "all",
    }
)
"""Keys that mean something else in each place, so that one of them elsewhere tells nothing."""


def elsewhere(document: type[Model], path: Path) -> str:
    """What to write for a key that is known nearby, or at the top of the file: `platform: {addons: ...}`; "" if it is nowhere.

    Args: path: of the key where it is not known.
    """
    *above, key = path
    if not isinstance(key, str) or key in _EVERYWHERE:
        return ""
    for depth in range(len(above), -1, -1):
        model = model_at(document, tuple(above[:depth]))
        if model is None:
            continue
        if depth < len(above) and key in fields_of(model):
            return f"move it up, beside '{above[depth]}:'"
        for pattern in _below(model).get(key, ()):
            if depth == len(above) or pattern[0] != above[depth]:
                return f"write '{_nested((*pattern, key))}'"
    return ""


@cache
def _below(model: type[Model]) -> Mapping[str, tuple[tuple[str, ...], ...]]:
    """For each key that is known below a model, the shortest ways down to mappings that know it; `NAME` stands for a name, `[]` for
    a list.

    A file can have thousands of unknown keys, so the ways are looked for once.
    """
    found: dict[str, tuple[tuple[str, ...], ...]] = {}
    level: list[tuple[tuple[str, ...], type[Model]]] = [((), model)]
    for _ in range(_MOST_LEVELS):
        level = [(way + step, inner) for way, each in level for step, inner in _parts(each)]
        ways: dict[str, list[tuple[str, ...]]] = {}
        for way, inner in level:
            for key in fields_of(inner):
                ways.setdefault(key, []).append(way)
        found = {key: tuple(each) for key, each in ways.items()} | found
    return found


@cache
def _parts(model: type[Model]) -> tuple[tuple[tuple[str, ...], type[Model]], ...]:
    """The models right below a model, each with the keys that lead to it."""
    found = []
    for name, field in fields_of(model).items():
        if name in ("overrides", "grants"):
            continue
        for option in _options(field.annotation):
            origin = typing.get_origin(option)
            inner = _options(typing.get_args(option)[-1]) if origin in (dict, list) else (option,)
            step = (name, "NAME") if origin is dict else (name, "[]") if origin is list else (name,)
            found += [(step, each) for each in inner if isinstance(each, type) and issubclass(each, Model)]
    return tuple(found)


def _nested(keys: tuple[str, ...]) -> str:
    """("tenants", "NAME", "apps") -> tenants: {NAME: {apps: ...}}"""
    first, *rest = keys
    if not rest:
        return f"{first}: ..."
    if first == "[]":
        return _nested(tuple(rest))
    if rest[0] == "[]":
        return f"{first}: [{{{_nested(tuple(rest[1:]))}}}]"
    return f"{first}: {{{_nested(tuple(rest))}}}"


def annotation_at(model: type[Model], path: Path) -> tuple[Any, ...]:
    """The types that a value at a path may have; empty where the model does not say."""
    annotation: Any = model
    for part in path:
        annotation = _step(annotation, part)
    return _options(annotation)


def takes_null(model: type[Model], path: Path) -> bool:
    """Whether `null` may stand at a path of a model; also where the keys are not the model's, but Flux's or a chart's."""
    annotation: Any = model
    for part in path:
        annotation = _step(annotation, part)
    return annotation in (None, Any) or type(None) in _members(annotation)


def _members(annotation: Any) -> Iterator[Any]:
    """The alternatives of an annotation, with None."""
    while typing.get_origin(annotation) is typing.Annotated:
        annotation = typing.get_args(annotation)[0]
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        for arg in typing.get_args(annotation):
            yield from _members(arg)
    else:
        yield annotation
