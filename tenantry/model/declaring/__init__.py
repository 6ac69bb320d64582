"""Declares models as pydantic does, with the same names and meanings, on pydantic's own validators (pydantic_core).

Called by: the modules of `tenantry.model`.
Why: to import pydantic and let it build these models took two thirds of the start of every command. Here the schema of a model
is built when it first validates something. The tests compare both, and `tenantry schema` uses pydantic's generator.
Never: knows what a key means.
"""

from tenantry.model.declaring.fields import Field, FieldInfo
from tenantry.model.declaring.markers import (
    AfterValidator,
    BeforeValidator,
    PlainValidator,
    WithJsonSchema,
    model_validator,
)
from tenantry.model.declaring.model import BaseModel, ConfigDict

__all__ = [
    "AfterValidator",
    "BaseModel",
    "BeforeValidator",
    "ConfigDict",
    "Field",
    "FieldInfo",
    "PlainValidator",
    "WithJsonSchema",
    "model_validator",
]
