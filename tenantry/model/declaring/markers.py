"""Validators: those that stand in annotations, and those of a whole model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple, TypeVar

from pydantic_core import CoreSchema, core_schema

Handler = Callable[[Any], CoreSchema]
"""Builds the schema of the type that a marker stands beside. These are pydantic's own hooks, so its models take the markers too."""

_F = TypeVar("_F", bound=Callable[..., Any])


class AfterValidator(NamedTuple):
    """func: takes the valid value, and what else is known if it has a second parameter; returns the value or raises."""

    func: Callable[..., Any]

    def __get_pydantic_core_schema__(self, source: Any, handler: Handler) -> CoreSchema:
        inner = handler(source)
        if self.func.__code__.co_argcount == 2:
            return core_schema.with_info_after_validator_function(self.func, inner)
        return core_schema.no_info_after_validator_function(self.func, inner)


class BeforeValidator(NamedTuple):
    """func: takes the value as it is written; returns what is checked instead, or raises."""

    func: Callable[[Any], Any]

    def __get_pydantic_core_schema__(self, source: Any, handler: Handler) -> CoreSchema:
        return core_schema.no_info_before_validator_function(self.func, handler(source))


class PlainValidator(NamedTuple):
    """func: takes the place of all checks of the type."""

    func: Callable[[Any], Any]

    def __get_pydantic_core_schema__(self, source: Any, handler: Handler) -> CoreSchema:  # pydantic's signature
        anything = core_schema.any_schema()
        return core_schema.no_info_plain_validator_function(self.func, json_schema_input_schema=anything)


class WithJsonSchema:
    """The JSON Schema of a type whose checks are Python."""

    def __init__(self, json_schema: dict[str, Any]) -> None:
        self.json_schema = json_schema

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: object) -> dict[str, Any]:
        return dict(self.json_schema)


Mode = Literal["before", "after"]


def model_validator(*, mode: Mode) -> Callable[[_F], _F]:
    """Mark a method as a check of the whole model: `before` a class method that takes what is written, `after` takes the model."""

    def mark(method: _F) -> _F:
        vars(getattr(method, "__func__", method))["_validates"] = mode
        return method

    return mark


def validators_of(model: type) -> dict[str, Mode]:
    """The names of a model's checks, those of its parents first."""
    found: dict[str, Mode] = {}
    for base in reversed(model.__mro__):
        for name, method in vars(base).items():
            if mode := getattr(getattr(method, "__func__", method), "_validates", None):
                found[name] = mode
    return found
