"""Parts that several documents have, and the documents of commands that fail. The texts below the fields are published."""

from __future__ import annotations

from operator import not_
from typing import Annotated, Any, Literal

import pydantic
from pydantic import AliasPath, BaseModel, BeforeValidator, ConfigDict
from pydantic.alias_generators import to_camel

from tenantry.messages.data import ABSENT


class Part(BaseModel):
    """A part of a document. Later versions of Tenantry can add keys.

    A part is made of its values, or of an object whose attributes have the same names: `list[Decision]` takes the decisions of
    `fleet.choice`. Where the names differ, `at` says which attribute it is.
    """

    model_config = ConfigDict(
        alias_generator=to_camel,
        validate_by_name=True,
        from_attributes=True,
        serialize_by_alias=True,
        ser_json_inf_nan="strings",
        hide_input_in_errors=True,  # a value can be a secret that a defect left in it
        defer_build=True,
    )


def at(*attributes: str) -> Any:
    """A key that is read from an attribute of another name, or from an attribute of an attribute."""
    return pydantic.Field(validation_alias=AliasPath(*attributes))


NULL_FOR_EMPTY = BeforeValidator(lambda text: text or None)
"""Marks the type of a key that says `null` instead of an empty text."""
TextOrNull = Annotated[str | None, NULL_FOR_EMPTY]
OMITTED_IF_EMPTY: Any = pydantic.Field(exclude_if=not_)
"""Marks the type of a key that is left out if its value is empty."""
OMITTED_IF_NULL: Any = pydantic.Field(exclude_if=lambda value: value is None)
"""Marks the type of a key that is left out if its value is None."""
ValueOrAbsent = Annotated[Any, pydantic.Field(default_factory=lambda: ABSENT, exclude_if=lambda value: value is ABSENT)]
"""Any value. The key is left out where there is none (`ABSENT`), which is not `null`."""


class Document(Part):
    """What every document begins with."""

    api_version: Literal["tenantry/v1"] = "tenantry/v1"
    """The version of the document. Within a version, keys are only added."""


class ObjectId(Part):
    """The identity of a Kubernetes object."""

    api_version: str = at("id", "api_version")
    kind: str = at("id", "kind")
    namespace: TextOrNull = at("id", "namespace")
    """`null` for objects without a namespace."""
    name: str = at("id", "name")
    hub: Annotated[str, pydantic.Field(validation_alias=AliasPath("id", "hub"), exclude_if=not_)] = ""
    """The management cluster that the object is on; omitted in an environment with one alone."""


class Field(Part):
    """A value of an object that differs."""

    path: list[str | int]
    """Keys, indexes of list entries, and names of entries that have one."""
    before: ValueOrAbsent
    """Omitted if there was no value."""
    after: ValueOrAbsent
    """Omitted if there is no value."""


class ChangedObject(ObjectId):
    """An object and the fields that differ."""

    fields: list[Field]


class Gate(Part):
    """The gate of an environment: changes of its apps wait until the environment before runs them."""

    environment: str
    """The environment before."""
    soak: TextOrNull
    """How long the environment before must have been ready, as written; `null`: ready is enough."""
