"""pydantic_core's schema of a model, from its fields. Models refer to each other, so that each is built once in a process."""

from __future__ import annotations

import types
import typing
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

from pydantic_core import CoreSchema, core_schema

from tenantry.model.declaring.fields import NONE, FieldInfo
from tenantry.model.declaring.markers import validators_of

if TYPE_CHECKING:
    from tenantry.model.declaring.model import BaseModel

_PLAIN: dict[Any, Callable[[], CoreSchema]] = {
    str: core_schema.str_schema,
    int: core_schema.int_schema,
    bool: core_schema.bool_schema,
    Any: core_schema.any_schema,
}


def schema_of(model: type[BaseModel]) -> CoreSchema:
    """The schema of a model, with the definitions of all models that it uses."""
    found: dict[type[BaseModel], CoreSchema] = {}
    waiting = [model]
    while waiting:
        if (each := waiting.pop()) not in found:
            found[each], used = _definition(each)
            waiting += used
    return core_schema.definitions_schema(_reference(model), list(found.values()))


def config_of(model: type[BaseModel]) -> core_schema.CoreConfig:
    return core_schema.CoreConfig(
        title=model.__name__,
        extra_fields_behavior=model.model_config.get("extra", "forbid"),
        strict=True,
        hide_input_in_errors=True,
    )


@cache
def _definition(model: type[BaseModel]) -> tuple[CoreSchema, list[type[BaseModel]]]:
    """The schema of a model alone, and the models that it refers to."""
    types_ = _Types()
    fields = {name: _field(field, types_.of(field.declared)) for name, field in model.model_fields.items()}
    schema: CoreSchema = core_schema.model_fields_schema(fields, model_name=model.__name__)
    checks = validators_of(model)
    for name in (name for name, mode in checks.items() if mode == "before"):
        schema = core_schema.no_info_before_validator_function(getattr(model, name), schema)
    schema = core_schema.model_schema(model, schema, config=config_of(model))
    for name in (name for name, mode in checks.items() if mode == "after"):
        schema = core_schema.no_info_after_validator_function(getattr(model, name), schema)
    return cast(CoreSchema, {**schema, "ref": _name(model)}), types_.models


def _reference(model: type[BaseModel]) -> CoreSchema:
    return core_schema.definition_reference_schema(_name(model))


def _name(model: type[BaseModel]) -> str:
    return f"{model.__module__}.{model.__qualname__}:{id(model)}"  # the form that pydantic's generator expects


def _field(field: FieldInfo, schema: CoreSchema) -> core_schema.ModelField:
    factory = field.default_factory
    if type(field.default) in (dict, list) and not field.default:
        factory = type(field.default)  # pydantic would copy an empty mapping for each part, which takes longer
    if factory:
        schema = core_schema.with_default_schema(schema, default_factory=factory)
    elif field.default is not NONE:
        schema = core_schema.with_default_schema(schema, default=field.default)
    return core_schema.model_field(schema, validation_alias=field.alias, serialization_alias=field.alias)


class _Types:
    """The schemas of types; models: those that they refer to."""

    def __init__(self) -> None:
        self.models: list[type[BaseModel]] = []

    def of(self, annotation: Any) -> CoreSchema:
        origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
        if origin is Annotated:
            return self._marked(annotation, arguments)
        if origin is Literal:
            return core_schema.literal_schema(list(arguments))
        if origin is list:
            return core_schema.list_schema(self.of(arguments[0]))
        if origin is dict:
            return core_schema.dict_schema(self.of(arguments[0]), self.of(arguments[1]))
        if origin in (typing.Union, types.UnionType):
            return self._union(arguments)
        if annotation in _PLAIN:
            return _PLAIN[annotation]()
        self.models.append(annotation)
        return _reference(annotation)

    def _union(self, arguments: tuple[Any, ...]) -> CoreSchema:
        options = [self.of(each) for each in arguments if each is not types.NoneType]
        schema = options[0] if len(options) == 1 else core_schema.union_schema(list(options))
        return core_schema.nullable_schema(schema) if types.NoneType in arguments else schema

    def _marked(self, annotation: Any, arguments: tuple[Any, ...]) -> CoreSchema:
        """The schema of the type, wrapped by what stands beside it, from left to right."""
        schema, describing = self.of(arguments[0]), []
        for marker in arguments[1:]:
            if wrap := getattr(marker, "__get_pydantic_core_schema__", None):
                schema = wrap(annotation, lambda _, inner=schema: inner)
            if describe := getattr(marker, "__get_pydantic_json_schema__", None):
                describing.append(describe)
        # The name is that of pydantic's generator of JSON Schemas.
        metadata = {"pydantic_js_annotation_functions": describing}
        return cast(CoreSchema, {**schema, "metadata": metadata}) if describing else schema
