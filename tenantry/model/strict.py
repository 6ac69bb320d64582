"""What all parts of the model have in common: no silent conversion, no unknown key, and values that may hold placeholders."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from keyword import iskeyword
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self, TypeVar, get_args, get_origin

from pydantic import BaseModel, ConfigDict, TypeAdapter, model_validator
from pydantic.fields import FieldInfo
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from tenantry.messages.placeholders import PLACEHOLDER, is_unfilled
from tenantry.model.scalars import refusal

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler, ValidationInfo, ValidatorFunctionWrapHandler


class Model(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True, extra="forbid", hide_input_in_errors=True, defer_build=True)

    partial: ClassVar[bool] = False
    """Whether only a part of the entry is written, which is merged with the rest."""
    owned: ClassVar[dict[str, str]] = {}
    """Keys that Flux knows but the fleet sets itself, each with the reason given to who tries to set it."""


def declared_type(field: FieldInfo) -> Any:
    """The type of a field with what is noted beside it, which pydantic keeps apart."""
    return Annotated[(field.annotation, *field.metadata)] if field.metadata else field.annotation


class OneOf(Model):
    """A part of which exactly one of some keys is given."""

    one_of: ClassVar[tuple[str, ...]]
    lifted_by: ClassVar[str | None] = None
    """A key that lifts the choice: beside it any of the others may stand, or none."""

    @model_validator(mode="after")
    def _one_is_given(self) -> Self:
        if self.lifted_by and getattr(self, self.lifted_by) is not None:
            return self
        # An attribute cannot be called `class`.
        given = [key for key in self.one_of if getattr(self, f"{key}_" if iskeyword(key) else key) is not None]
        if len(given) > 1 or not (given or self.partial):
            raise _none_or_several(self.one_of, given)
        return self


def _none_or_several(keys: tuple[str, ...], given: list[str]) -> PydanticCustomError:
    *others, last = (f"'{key}:'" for key in keys)
    either, none, all_ = ("either", "neither", "both") if len(keys) == 2 else ("exactly one of", "none", "")
    found = none if not given else all_ or " and ".join(f"'{key}:'" for key in given)
    fix = "add one of them" if not given else "keep one of them"
    text = f"needs {either} {', '.join(others)} or {last}; it has {found}"
    return refusal("choose-one", text, fix=fix, of_entry=True)


_T = TypeVar("_T")
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
        many, one = (second, first) if _is_list(second) else (first, second)
        is_model = isinstance(one, type) and issubclass(one, BaseModel)

        def check(value: Any, _: ValidatorFunctionWrapHandler) -> Any:
            alone = isinstance(value, dict) if is_model else not isinstance(value, list)
            return _adapter(one if alone else many).validate_python(value)

        return core_schema.no_info_wrap_validator_function(check, handler(source))


def _is_list(annotation: Any) -> bool:
    inner = get_args(annotation)[0] if get_origin(annotation) is Annotated else annotation
    return get_origin(inner) is list


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
