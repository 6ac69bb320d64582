"""The parts of plain data that have a type of the model, wherever they stand and whether or not they fit.

Called by: `blocks`, and what asks for the names and durations of a tenant's entry. So no list of their places can miss a new key.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from types import UnionType
from typing import Annotated, Any, NamedTuple, Union, get_args, get_origin

from tenantry.messages.errors import Path
from tenantry.model import Model
from tenantry.model.strict import declared_type, fields_of, resolved


class Part(NamedTuple):
    """A value, or a key, as written at a path. type: that of the model for it, with what is noted beside it."""

    path: Path
    type: Any
    written: Any


def parts(type_: Any, written: Any, at: Path, is_wanted: Callable[[Any], bool]) -> Iterator[Part]:
    """The parts of some data whose type is wanted, each before those below it. Data of a wrong shape is passed over.

    Args: type_: of the data; at: its path; is_wanted: asked once about each type.
    """
    if not _leads_to(type_, is_wanted):
        return
    if is_wanted(type_):
        yield Part(at, type_, written)
    if isinstance(type_, type) and issubclass(type_, Model):
        for key, field in fields_of(type_).items() if isinstance(written, dict) else ():
            if key in written:
                yield from parts(declared_type(field), written[key], (*at, key), is_wanted)
        return
    origin, below = get_origin(type_), get_args(type_)
    if origin is dict and isinstance(written, dict):
        for key, value in written.items():
            yield from parts(below[0], key, (*at, key), is_wanted)
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
    if isinstance(type_, type) and issubclass(type_, Model):
        return any(_leads_to(declared_type(field), is_wanted) for field in type_.model_fields.values())
    below = [resolved(type_)] if get_origin(type_) is Annotated else get_args(type_)
    return any(_leads_to(part, is_wanted) for part in below)
