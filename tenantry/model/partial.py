"""Entries of which only a part is written: templates, which tenants and clusters complete, and what overrides change.

What is written is checked. That the whole is complete is checked where it is merged.
"""

from __future__ import annotations

import types
from dataclasses import dataclass
from functools import cache, reduce
from operator import or_
from typing import TYPE_CHECKING, Annotated, Any, Union, get_args, get_origin

from pydantic import create_model
from pydantic.fields import FieldInfo
from pydantic_core import CoreSchema, InitErrorDetails, PydanticCustomError, ValidationError, core_schema

from tenantry.messages.data import without
from tenantry.model.strict import Model, OneOf, declared_type

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler, ValidatorFunctionWrapHandler
    from pydantic_core import ErrorDetails


IN_PART = "InPart"
"""How the name of a model without required keys ends."""


@dataclass(frozen=True, slots=True)
class Partial:
    """Marks the type of an entry that may lack any key."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return handler.generate_schema(partial(source))


@cache
def partial(model: type[Model]) -> type[Model]:
    """The model without required keys, also below it. A `null` in a mapping removes an entry of the rest."""
    fields: dict[str, Any] = {}
    for name, field in model.model_fields.items():
        declared = declared_type(field)
        lenient = _lenient(declared)
        if field.is_required() or lenient is not declared:
            default = None if field.is_required() else field.get_default(call_default_factory=True)
            fields[name] = (lenient | None, FieldInfo(default=default, alias=field.alias))
    made = create_model(model.__name__ + IN_PART, __base__=model, __module__=model.__module__, **fields)
    made.partial = True
    return made


def _lenient(declared: Any) -> Any:
    """The type of a value in a part of an entry. A `ref` or a kubeconfig, of which there is one of several kinds, stays whole."""
    if isinstance(declared, type) and issubclass(declared, Model) and not issubclass(declared, OneOf):
        return Annotated[declared, Partial()]
    origin, args = get_origin(declared), get_args(declared)
    if origin is dict:
        return dict[args[0], args[1] | None]  # type: ignore[valid-type]
    if origin in (Union, types.UnionType):
        lenient = tuple(_lenient(arg) for arg in args)
        return declared if lenient == args else reduce(or_, lenient)
    return declared


@dataclass(frozen=True, slots=True)
class InParts:
    """Marks the type of a mapping whose entries others complete. An entry that is not whole is checked, and left out."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        def checked(value: Any, check: ValidatorFunctionWrapHandler) -> Any:
            try:
                return check(value)
            except ValidationError as error:
                found = error.errors(include_url=False)
                if wrong := [error_below for error_below in found if not _is_completed(error_below)]:
                    raise ValidationError.from_exception_data(
                        error.title, [_again(detail) for detail in wrong]
                    ) from None
                return check(without(value, (detail["loc"][:2] for detail in found)))

        return core_schema.no_info_wrap_validator_function(checked, handler(source))


def _is_completed(error: ErrorDetails) -> bool:
    """Whether what is wrong ends when the entry is merged: a key is missing, or `null` removes an app, a source, ..."""
    is_removed = error["type"] == "model_type" and error["input"] is None and len(error["loc"]) > 1
    return is_removed or error["type"] in ("missing", "choose-one")


def _again(error: ErrorDetails) -> InitErrorDetails:
    """An error of pydantic's in the form in which it can be raised."""
    kind, context = error["type"], error.get("ctx", {})
    ours = "text" in context
    again = PydanticCustomError(kind, "{text}", context) if ours else kind
    return InitErrorDetails(type=again, loc=error["loc"], input=error["input"], ctx={} if ours else context)
