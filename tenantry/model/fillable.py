"""Values that may hold placeholders. Their type is checked once the placeholders are filled.

The file is checked as it is written. Every placed app and its sources are checked again with all values filled: the caller
passes the context `FILLED`, and then a text with braces is no longer accepted for them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from pydantic_core import CoreSchema, core_schema

from tenantry.messages.placeholders import PLACEHOLDER, is_unfilled

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler, ValidationInfo, ValidatorFunctionWrapHandler

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


def or_unfilled(schema: dict[str, Any]) -> dict[str, Any]:
    """The JSON Schema of a value that may hold placeholders; one that takes all text stays as it is."""
    if schema.get("type") != "string" and "enum" not in schema:
        return schema
    if not schema.keys() & {"enum", "maxLength", "pattern"}:
        return schema
    return {"anyOf": [schema, {"type": "string", "pattern": PLACEHOLDER}]}


def _checked(value: Any, check: ValidatorFunctionWrapHandler, info: ValidationInfo) -> Any:
    return value if is_unfilled(value) and info.context != FILLED else check(value)
