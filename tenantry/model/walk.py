"""Walks along the types of the model: which model stands at a path of tenants.yaml, and which parts of some data have a type.

Nothing that asks here has a list of places of its own, so no new key can be missing in one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from types import UnionType
from typing import Annotated, Any, NamedTuple, Union, get_args, get_origin

from pydantic.fields import FieldInfo

from tenantry.messages.errors import Path
from tenantry.model.flux import FluxBlock
from tenantry.model.strict import Keys, Model, declared_type, resolved


class Part(NamedTuple):
    """A value, or a key, as written at a path. type: that of the model for it, with what is noted beside it."""

    path: Path
    type: Any
    written: Any
    is_key: bool = False


class _Way(NamedTuple):
    """The way through data of a type to its wanted parts, which is made once for each type.

    type: the type itself, if it is wanted; keys: that of the keys of a mapping. fields: by the keys of a model. entries, items:
    below a mapping, and below a list. options: those of a union, or the one without what is noted beside it.
    """

    type: Any = None
    keys: Any = None
    fields: Mapping[str, _Way] = {}
    entries: _Way | None = None
    items: _Way | None = None
    options: tuple[_Way, ...] = ()


def parts(type_: Any, written: Any, at: Path, is_wanted: Callable[[Any], bool]) -> Iterator[Part]:
    """The parts of some data whose type is wanted, each before those below it. Data of a wrong shape is passed over.

    Args: type_: of the data; at: its path; is_wanted: asked once about each type.
    """
    if way := _way(type_, is_wanted):
        yield from _parts(way, written, at)


def _parts(way: _Way, written: Any, at: Path) -> Iterator[Part]:
    if way.type is not None:
        yield Part(at, way.type, written)
    if isinstance(written, dict):
        for key, below in way.fields.items():
            if key in written:
                yield from _parts(below, written[key], (*at, key))
        if way.entries or way.keys is not None:
            for key, value in written.items():
                if way.keys is not None:
                    yield Part((*at, key), way.keys, key, is_key=True)
                if way.entries:
                    yield from _parts(way.entries, value, (*at, key))
    elif way.items and isinstance(written, list):
        for index, value in enumerate(written):
            yield from _parts(way.items, value, (*at, index))
    for option in way.options:
        yield from _parts(option, written, at)


@cache
def _way(type_: Any, is_wanted: Callable[[Any], bool]) -> _Way | None:
    """None: no part is wanted."""
    below, way = _below(type_), _Way(type_ if is_wanted(type_) else None)
    if _is_model(type_):
        ways = {key: _way(declared_type(field), is_wanted) for key, field in fields_of(type_).items()}
        way = way._replace(fields={key: of_key for key, of_key in ways.items() if of_key})
    elif get_origin(type_) is dict:
        way = way._replace(keys=below[0] if is_wanted(below[0]) else None, entries=_way(below[1], is_wanted))
    elif get_origin(type_) is list:
        way = way._replace(items=_way(below[0], is_wanted))
    else:
        way = way._replace(options=tuple(filter(None, (_way(option, is_wanted) for option in below))))
    return way if any(part is not None and part != () and part != {} for part in way) else None


def _below(type_: Any) -> tuple[Any, ...]:
    """What a type is made of, without what is noted beside it."""
    return (resolved(type_),) if get_origin(type_) is Annotated else get_args(type_)


def models_in(model: Model, at: Path = ()) -> Iterator[tuple[Path, Model]]:
    """A checked part of the file and all models below it, as far as somebody wrote them, each with its path."""
    yield at, model
    for key in _leading_to_models(type(model)):
        if key in model.model_fields_set:
            yield from _models_below(getattr(model, key), (*at, key))


def _models_below(value: Any, at: Path) -> Iterator[tuple[Path, Model]]:
    if isinstance(value, Model):
        yield from models_in(value, at)
    elif isinstance(value, dict | list):
        for key, entry in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _models_below(entry, (*at, key))


@cache
def _leading_to_models(model: type[Model]) -> tuple[str, ...]:
    return tuple(name for name, field in model.model_fields.items() if _way(declared_type(field), _is_model))


def _is_model(type_: Any) -> bool:
    return isinstance(type_, type) and issubclass(type_, Model)


def is_block(type_: Any) -> bool:
    """Whether a type is a block of Flux's own keys."""
    return isinstance(type_, type) and issubclass(type_, FluxBlock)


def types_at(type_: Any, path: Path) -> list[Any]:
    """The types that a value at a path below one of a type can have."""
    return [*_members(_along(type_, path)[-1])]


def model_at(model: type[Model], path: Path) -> type[Model] | None:
    """The model class whose keys stand at `path`."""
    return next(filter(_is_model, types_at(model, path)), None)


def lacking_at(model: type[Model], path: Path) -> set[str]:
    """The keys of the model class at `path` that it lacks there."""
    lacking = [{key for mark in _marks(annotation) for key in mark.without} for annotation in _along(model, path)]
    return lacking[-1] | (lacking[-3] if path[-2:-1] == ("overrides",) else set())


def _along(type_: Any, path: Path) -> list[Any]:
    """The types of all that a path below one of a type leads through, that type first."""
    annotations: list[Any] = [type_]
    for part in path:
        annotations.append(_step(annotations[-1], part))
    return annotations


def _marks(annotation: Any) -> Iterator[Keys]:
    if get_origin(annotation) is Annotated:
        yield from (mark for mark in get_args(annotation)[1:] if isinstance(mark, Keys))
    elif get_origin(annotation) in (Union, UnionType):
        for part in get_args(annotation):
            yield from _marks(part)


@cache
def fields_of(model: type[Model]) -> Mapping[str, FieldInfo]:
    """The keys of a model as the author writes them."""
    return {field.alias or name: field for name, field in model.model_fields.items()}


def _step(annotation: Any, part: str | int) -> Any:
    for option in _members(annotation):
        if get_origin(option) in (dict, list):
            return get_args(option)[-1]
        if _is_model(option) and part in fields_of(option):
            return fields_of(option)[str(part)].annotation
    return None


def _members(annotation: Any) -> Iterator[Any]:
    """The alternatives of an annotation, without what Annotated adds."""
    annotation = resolved(annotation)
    if get_origin(annotation) in (Union, UnionType):
        for arg in get_args(annotation):
            yield from _members(arg)
    else:
        yield annotation
