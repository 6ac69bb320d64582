"""Models validate as pydantic would, if it built them from the same declarations."""

from __future__ import annotations

import copy
import pickle
import types
import typing
from collections.abc import Iterator
from functools import cache, reduce
from operator import or_
from pathlib import Path
from typing import Annotated, Any

import pydantic
import pytest
import yaml
from pydantic_core import ValidationError

from tenantry.model import App, Document, Git, Kubeconfig, Settings
from tenantry.model.declaring import BaseModel
from tenantry.model.declaring.fields import NONE, FieldInfo
from tenantry.model.declaring.markers import validators_of

TESTS = Path(__file__).parents[2]


@cache
def twin(model: type[BaseModel]) -> type[pydantic.BaseModel]:
    """A model of pydantic's own with the same fields, checks and methods."""
    own: dict[str, Any] = {}
    for base in reversed(model.__mro__[:-2]):  # without BaseModel and object
        own |= {name: value for name, value in vars(base).items() if not name.startswith("__")}
    own = {name: value for name, value in own.items() if name not in model.model_fields}
    for name, mode in validators_of(model).items():
        own[name] = pydantic.model_validator(mode=mode)(own[name])
    fields = {name: _value(field) for name, field in model.model_fields.items() if not _is_bare(field)}
    config = pydantic.ConfigDict(
        strict=True, frozen=True, hide_input_in_errors=True, extra=model.model_config.get("extra", "forbid")
    )
    annotations = {name: _twin_type(field.declared) for name, field in model.model_fields.items()}
    constants = dict.fromkeys((name for name in own if not callable(own[name])), typing.ClassVar[Any])
    keep = {name: kind for name, kind in constants.items() if name not in ("model_config",) and _is_constant(own[name])}
    space = {
        **own,
        **fields,
        "model_config": config,
        "__annotations__": {**annotations, **keep},
        "__module__": __name__,
    }
    made: type[pydantic.BaseModel] = type(pydantic.BaseModel)(model.__name__, (pydantic.BaseModel,), space)
    return made


def _is_constant(value: Any) -> bool:
    return not isinstance(value, property | classmethod | staticmethod | types.FunctionType) and not hasattr(
        value, "decorator_info"
    )


def _is_bare(field: FieldInfo) -> bool:
    return field.is_required() and field.alias is None


def _value(field: FieldInfo) -> Any:
    if field.default_factory:
        return pydantic.Field(default_factory=twin(field.default_factory))  # type: ignore[arg-type]
    return pydantic.Field(field.default if field.default is not NONE else ..., alias=field.alias)


def _twin_type(annotation: Any) -> Any:
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if isinstance(annotation, type) and not origin and issubclass(annotation, BaseModel):
        return twin(annotation)
    if origin is Annotated:
        return Annotated[(_twin_type(arguments[0]), *arguments[1:])]
    if origin in (list, dict):
        return origin[tuple(map(_twin_type, arguments))]
    if origin in (typing.Union, types.UnionType):
        return reduce(or_, map(_twin_type, arguments))
    return annotation


def documents() -> Iterator[tuple[str, Any]]:
    """The data of every fleet in the tests that is YAML at all, right or wrong."""
    for file in sorted((*TESTS.rglob("tenants.yaml"), *TESTS.parent.glob("examples/*/tenants.yaml"))):
        try:
            data = yaml.safe_load(file.read_bytes())
        except (yaml.YAMLError, ValueError, UnicodeDecodeError, RecursionError):
            continue
        yield str(file.relative_to(TESTS.parent)), data


def answer(model: Any, data: Any) -> tuple[Any, ...]:
    """What a model says to data: its errors, or all values."""
    try:
        valid = model.model_validate(data)
    except ValidationError as wrong:
        errors = wrong.errors(include_url=False, include_input=False)
        return tuple(sorted((each["loc"], each["type"], each["msg"], str(each.get("ctx"))) for each in errors))
    return (valid.model_dump(), valid.model_dump(exclude_none=True, by_alias=True), valid.model_fields_set)


def test_every_fleet_gets_the_same_answer_as_from_pydantic() -> None:
    answers = {name: (answer(Document, data), answer(twin(Document), data)) for name, data in documents()}
    assert {name: each for name, each in answers.items() if each[0] != each[1]} == {}
    wrong = sum(isinstance(ours[0], tuple) for ours, _ in answers.values())
    assert wrong > 30
    assert len(answers) - wrong > 30


def test_a_model_cannot_be_changed_but_copied() -> None:
    ref = Git.model_validate({"url": "https://a", "ref": {"branch": "main"}, "provider": "azure"})
    with pytest.raises(AttributeError, match="Git is frozen: 'url' cannot be set"):
        ref.url = "https://b"  # type: ignore[misc]
    other = ref.model_copy(update={"url": "https://b"})
    assert (ref.url, other.url, other.flux, other.model_fields_set) == (
        "https://a",
        "https://b",
        {"provider": "azure"},
        {"url", "ref", "provider"},
    )
    assert other != ref
    assert other.model_copy(update={"url": "https://a"}) == ref


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda each: pickle.loads(pickle.dumps(each))])
def test_a_copy_is_equal(again: Any) -> None:
    given = Kubeconfig.model_validate({"secret": {"name": "a", "namespace": "n", "key": "k"}})
    assert again(given) == given
    assert hash(again(given)) == hash(given)
    assert repr(again(given)) == repr(given)
    assert again(given) != {"secret": given.secret}


def test_a_default_is_made_anew_for_each_model() -> None:
    assert Settings().overrides == Settings().overrides
    assert Settings().overrides.environments is not Settings().overrides.environments


def test_a_field_that_is_declared_anew_keeps_its_position() -> None:
    assert list(App.model_fields)[:3] == ["clusters", "environments", "kustomize"]
    assert App.model_fields["clusters"].default is None
    assert not App.model_fields["state"].is_required()
