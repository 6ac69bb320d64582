"""What all parts of tenants.yaml's model have in common: no value is converted silently, no unknown key is taken."""

from typing import Annotated, Any, ClassVar, Self

from pydantic import BaseModel, ConfigDict, model_validator
from pydantic.fields import FieldInfo
from pydantic_core import PydanticCustomError

from tenantry.model.scalars import refusal


class Model(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True, extra="forbid", hide_input_in_errors=True, defer_build=True)

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
        given = [key for key in self.one_of if getattr(self, key) is not None]
        if len(given) != 1:
            raise _none_or_several(self.one_of, given)
        return self


def _none_or_several(keys: tuple[str, ...], given: list[str]) -> PydanticCustomError:
    *others, last = (f"'{key}:'" for key in keys)
    either, none, all_ = ("either", "neither", "both") if len(keys) == 2 else ("exactly one of", "none", "")
    found = none if not given else all_ or " and ".join(f"'{key}:'" for key in given)
    fix = "add one of them" if not given else "keep one of them"
    text = f"needs {either} {', '.join(others)} or {last}; it has {found}"
    return refusal("choose-one", text, fix=fix, of_entry=True)
