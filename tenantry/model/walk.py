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


def parts(type_: Any, written: Any, at: Path, is_wanted: Callable[[Any], bool]) -> Iterator[Part]:
    """The parts of some data whose type is wanted, each before those below it. Data of a wrong shape is passed over.

    Args: type_: of the data; at: its path; is_wanted: asked once about each type.
    """
    if not _leads_to(type_, is_wanted):
        return
    if is_wanted(type_):
        yield Part(at, type_, written)
    if _is_model(type_):
        for key, field in fields_of(type_).items() if isinstance(written, dict) else ():
            if key in written:
                yield from parts(declared_type(field), written[key], (*at, key), is_wanted)
        return
    origin, below = get_origin(type_), get_args(type_)
    if origin is dict and isinstance(written, dict):
        wants_keys = is_wanted(below[0])
        for key, value in written.items():
            if wants_keys:
                yield Part((*at, key), below[0], key, is_key=True)
            yield from parts(below[1], value, (*at, key), is_wanted)
    elif origin is list and isinstance(written, list):
        for index, value in enumerate(written):
            yield from parts(below[0], value, (*at, index), is_wanted)
    elif origin in (Annotated, Union, UnionType):
        for option in [resolved(type_)] if origin is Annotated else below:
            yield from parts(option, written, at, is_wanted)


@cache
def _leads_to(type_: Any, is_wanted: Callable[[Any], bool]) -> bool:
    """Whether a type, or one below it, is wanted."""
    if is_wanted(type_):
        return True
    if _is_model(type_):
        return any(_leads_to(declared_type(field), is_wanted) for field in type_.model_fields.values())
    below = [resolved(type_)] if get_origin(type_) is Annotated else get_args(type_)
    return any(_leads_to(part, is_wanted) for part in below)


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
    return tuple(name for name, field in model.model_fields.items() if _leads_to(declared_type(field), _is_model))


def _is_model(type_: Any) -> bool:
    return isinstance(type_, type) and issubclass(type_, Model)


def is_block(type_: Any) -> bool:
    """Whether a type is a block of Flux's own keys."""
    return isinstance(type_, type) and issubclass(type_, FluxBlock)


def model_at(model: type[Model], path: Path) -> type[Model] | None:
    """The model class whose keys stand at `path`."""
    annotation: Any = model
    for part in path:
        annotation = _step(annotation, part)
    return next(filter(_is_model, _members(annotation)), None)


def lacking_at(model: type[Model], path: Path) -> set[str]:
    """The keys of the model class at `path` that it lacks there."""
    annotation: Any = model
    marks: list[set[str]] = [set()]
    for part in path:
        annotation = _step(annotation, part)
        marks.append({key for mark in _marks(annotation) for key in mark.without})
    return marks[-1] | (marks[-3] if path[-2:-1] == ("overrides",) else set())


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
