"""What all parts of the model have in common: no silent conversion, no unknown key, values that may hold placeholders.

Of some entries only a part is written: templates, which tenants and clusters complete, and what overrides change. What is written
is checked here. That the whole is complete is checked where it is merged.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, reduce
from operator import or_
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self, TypeVar, Union, cast, get_args, get_origin

from pydantic import BaseModel, ConfigDict, TypeAdapter, create_model, model_validator
from pydantic.fields import FieldInfo
from pydantic_core import CoreSchema, InitErrorDetails, PydanticCustomError, ValidationError, core_schema

from tenantry.messages.data import without
from tenantry.messages.placeholders import PLACEHOLDER, is_unfilled
from tenantry.model.scalars import refusal

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler, ValidationInfo, ValidatorFunctionWrapHandler
    from pydantic_core import ErrorDetails


class Model(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True, extra="forbid", hide_input_in_errors=True)

    partial: ClassVar[bool] = False
    """Whether only a part of the entry is written, which is merged with the rest."""
    owned: ClassVar[dict[str, str]] = {}
    """Keys that Flux knows but the fleet sets itself, each with the reason given to who tries to set it."""
    derived_from: ClassVar[type[BaseModel] | None] = None
    """The model with the same keys and more, of one that `derived` makes."""


def declared_type(field: FieldInfo) -> Any:
    """The type of a field with what is noted beside it, which pydantic keeps apart."""
    return Annotated[(field.annotation, *field.metadata)] if field.metadata else field.annotation


class OneOf(Model):
    """A part of which exactly one of some keys is given."""

    one_of: ClassVar[tuple[str, ...]]

    @model_validator(mode="after")
    def _one_is_given(self) -> Self:
        given = [key for key in self.one_of if getattr(self, key) is not None]
        if len(given) > 1 or not (given or self.partial):
            raise none_or_several(self.one_of, given)
        return self


def none_or_several(keys: tuple[str, ...], given: list[str]) -> PydanticCustomError:
    """The error where none or several of some keys are given, of which one is needed."""
    *others, last = (f"'{key}:'" for key in keys)
    either, none, all_ = ("either", "neither", "both") if len(keys) == 2 else ("exactly one of", "none", "")
    has = none if not given else all_ or " and ".join(f"'{key}:'" for key in given)
    fix = "add one of them" if not given else "keep one of them"
    text = f"needs {either} {', '.join(others)} or {last}; it has {has}"
    return refusal("choose-one", text, fix=fix, of_entry=True, keys=keys)


_T = TypeVar("_T")
_M = TypeVar("_M", bound=Model)
FILLED = {"filled": True}
"""The context of validation in which no placeholder is left."""


@dataclass(frozen=True, slots=True)
class Deferred:
    """Marks the type of a value that may hold placeholders."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.with_info_wrap_validator_function(_checked, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return or_unfilled(handler(schema["schema"]))


Fillable = Annotated[_T, Deferred()]
"""A type of text in which placeholders may stand."""


@dataclass(frozen=True, slots=True)
class ByShape:
    """Marks `X | list[Y]`, or `list[Y] | A_MODEL`: the shape of a value decides which of the two it is checked as.

    A union of pydantic would try both, and report what is wrong with each under paths that the file does not have.
    """

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        first, second = get_args(source)
        inner = get_args(second)[0] if get_origin(second) is Annotated else second
        many, single = (second, first) if get_origin(inner) is list else (first, second)
        is_model = isinstance(resolved(single), type) and issubclass(resolved(single), BaseModel)
        single = resolved(single) if is_model else single

        def check(value: Any, _: ValidatorFunctionWrapHandler) -> Any:
            alone = isinstance(value, dict) if is_model else not isinstance(value, list)
            return _adapter(single if alone else many).validate_python(value)

        return core_schema.no_info_wrap_validator_function(check, handler(source))


@cache
def _adapter(annotation: Any) -> TypeAdapter[Any]:
    """A check of a type outside of its model; a model has its own configuration."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return TypeAdapter(annotation)
    return TypeAdapter(annotation, config=ConfigDict(strict=True, hide_input_in_errors=True))


def or_unfilled(schema: dict[str, Any]) -> dict[str, Any]:
    """The JSON Schema of a value that may hold placeholders; one that takes all text stays as it is."""
    if schema.get("type") != "string" and "enum" not in schema:
        return schema
    if not schema.keys() & {"enum", "maxLength", "pattern"}:
        return schema
    return {"anyOf": [schema, {"type": "string", "pattern": PLACEHOLDER}]}


def _checked(value: Any, check: ValidatorFunctionWrapHandler, info: ValidationInfo) -> Any:
    return value if is_unfilled(value) and info.context != FILLED else check(value)


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
    if origin is Annotated and any(isinstance(mark, Keys) for mark in args):
        marks = (replace(mark, required=()) if isinstance(mark, Keys) else mark for mark in args[1:])
        return Annotated[(_lenient(args[0]), *marks)]
    if origin is dict:
        return dict[args[0], args[1] | None]  # type: ignore[valid-type]
    if origin in (Union, types.UnionType):
        lenient = tuple(_lenient(arg) for arg in args)
        return declared if lenient == args else reduce(or_, lenient)
    return declared


@dataclass(frozen=True, slots=True)
class As:
    """Marks the type of an entry that has the keys of another model, which is made of its own."""

    of: Callable[[Any], type[Model]]

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return handler.generate_schema(self.of(source))


def derived(model: type[_M], name: str, base: Any, types: Mapping[str, Any], about: str | None = None) -> type[_M]:
    """A model with some keys of another, and those of its base. Args: types: of the keys, which may differ; about: its text."""
    fields: dict[str, Any] = {key: (type_, model.model_fields[key].default) for key, type_ in types.items()}
    made = cast("type[_M]", create_model(name, __base__=base, __module__=model.__module__, __doc__=about, **fields))
    made.derived_from = model
    return made


def resolved(annotation: Any) -> Any:
    """A type without what is noted beside it. Of an entry that has the keys of another model, it is that model."""
    while get_origin(annotation) is Annotated:
        annotation, *marks = get_args(annotation)
        annotation = next((mark.of(annotation) for mark in marks if isinstance(mark, As)), annotation)
    return annotation


@dataclass(frozen=True, slots=True)
class Keys:
    """Marks the type of an entry: which of its model's keys it lacks where it stands, also in its overrides, or requires there."""

    without: tuple[str, ...] = ()
    required: tuple[str, ...] = ()

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        def checked(value: Any, check: ValidatorFunctionWrapHandler) -> Any:
            errors = [*self._errors(value)]
            try:
                fitting = check(value)
            except ValidationError as error:
                # As within a model, what is wrong with the whole is asked when its keys are right.
                details = error.errors(include_url=False)
                errors += [_again(detail) for detail in details if detail["loc"] or not errors]
            if errors:
                raise ValidationError.from_exception_data(source.__name__, errors)
            return fitting

        return core_schema.no_info_wrap_validator_function(checked, handler(source))

    def _errors(self, value: Any) -> Iterator[InitErrorDetails]:
        if not isinstance(value, dict):
            return
        overrides = value.get("overrides")
        entries = enumerate(overrides if isinstance(overrides, list) else ())
        for loc, entry in (((), value), *((("overrides", index), entry) for index, entry in entries)):
            for key in self.without if isinstance(entry, dict) else ():
                if key in entry:
                    yield InitErrorDetails(type="extra_forbidden", loc=(*loc, key), input=entry[key])
        for key in self.required:
            if value.get(key) is None:
                yield InitErrorDetails(type="missing", loc=(key,), input=value)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        refused: dict[str, Any] = {key: {"not": {}} for key in self.without}
        here = {"required": list(self.required)} if self.required else {}
        return {"allOf": [handler(schema), here | ({"properties": refused} if refused else {})]}


@dataclass(frozen=True, slots=True)
class InParts:
    """Marks the type of a mapping whose entries others complete. An entry that is not whole is checked, and left out."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        def checked(value: Any, check: ValidatorFunctionWrapHandler) -> Any:
            try:
                return check(value)
            except ValidationError as error:
                errors = error.errors(include_url=False)
                if wrong := [error_below for error_below in errors if not _is_completed(error_below)]:
                    raise ValidationError.from_exception_data(
                        error.title, [_again(detail) for detail in wrong]
                    ) from None
                return check(without(value, (detail["loc"][:2] for detail in errors)))

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
