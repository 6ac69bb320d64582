"""The base class of models: strict, frozen, without unknown keys unless `extra` allows them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NoReturn, Self, TypedDict, cast, dataclass_transform

from pydantic_core import SchemaSerializer, SchemaValidator

from tenantry.model.declaring.fields import Constraints, Field, FieldInfo, fields_of
from tenantry.model.declaring.schema import config_of, schema_of


class ConfigDict(TypedDict, total=False):
    """extra: whether unknown keys are refused or kept; json_schema_extra: is added to the JSON Schema."""

    extra: Literal["allow", "forbid"]
    json_schema_extra: dict[str, Any]


class ModelType(type):
    """The type of models, as classes."""

    if TYPE_CHECKING:  # otherwise a model would not be an argument for functions with a cache

        def __hash__(cls) -> int: ...

    @property
    def model_fields(cls) -> dict[str, FieldInfo]:
        """Found when they are first asked for."""
        return _fields(cls)


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(Field, Constraints))
class BaseModel(metaclass=ModelType):
    """What `pydantic.BaseModel` offers, as far as it is used here."""

    __slots__ = ("__dict__", "__pydantic_extra__", "__pydantic_fields_set__", "__pydantic_private__")
    if TYPE_CHECKING:
        __pydantic_extra__: ClassVar[dict[str, Any] | None]
        __pydantic_fields_set__: ClassVar[set[str]]

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    def __init__(self, **values: Any) -> None:
        _validator(type(self)).validate_python(values, self_instance=self)

    def __init_subclass__(cls) -> None:
        inherited = cast(type[BaseModel], super(cls, cls)).model_config
        cls.model_config = cast(ConfigDict, {**inherited, **vars(cls).get("model_config", {})})

    @classmethod
    def model_validate(cls, data: Any, *, context: Any = None) -> Self:
        """Raises: ValidationError."""
        checked: Self = _validator(cls).validate_python(data, context=context)
        return checked

    def model_dump(
        self, *, exclude_none: bool = False, by_alias: bool = False, exclude: set[str] | None = None
    ) -> dict[str, Any]:
        dumped: dict[str, Any] = _serializer(type(self)).to_python(
            self, exclude_none=exclude_none, by_alias=by_alias, exclude=exclude
        )
        return dumped

    def model_copy(self, *, update: Mapping[str, Any]) -> Self:
        """A copy with other values, which are not checked."""
        made = type(self).__new__(type(self))
        made.__setstate__(
            ({**self.__dict__, **update}, self.__pydantic_extra__, self.__pydantic_fields_set__ | update.keys())
        )
        return made

    @property
    def model_extra(self) -> dict[str, Any] | None:
        """What was written beside the fields."""
        return self.__pydantic_extra__

    @property
    def model_fields_set(self) -> set[str]:
        """The fields that were written."""
        return self.__pydantic_fields_set__

    def __hash__(self) -> int:
        return hash((type(self), *self.__dict__.values()))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, BaseModel):
            return NotImplemented
        return (type(self), self.__dict__, self.model_extra) == (type(other), other.__dict__, other.model_extra)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.__dict__.items())})"

    def __setattr__(self, name: str, _: object) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} is frozen: '{name}' cannot be set")

    def __getstate__(self) -> tuple[dict[str, Any], dict[str, Any] | None, set[str]]:
        return self.__dict__, self.__pydantic_extra__, self.__pydantic_fields_set__

    def __setstate__(self, state: tuple[dict[str, Any], dict[str, Any] | None, set[str]]) -> None:
        values, extra, written = state
        object.__setattr__(self, "__dict__", values)
        object.__setattr__(self, "__pydantic_extra__", extra)
        object.__setattr__(self, "__pydantic_fields_set__", written)
        object.__setattr__(self, "__pydantic_private__", None)


@cache
def _fields(model: type) -> dict[str, FieldInfo]:
    return fields_of(model)


@cache
def _validator(model: type[BaseModel]) -> SchemaValidator:
    return SchemaValidator(schema_of(model), config_of(model))


@cache
def _serializer(model: type[BaseModel]) -> SchemaSerializer:
    return SchemaSerializer(schema_of(model), config_of(model))
