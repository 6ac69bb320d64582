"""What a value may be, in words: of a field of the model, or of a key in Flux's schemas."""

from __future__ import annotations

import ast
import inspect
import re
import types
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from types import ModuleType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from docgen.document.whole import models
from tenantry.model import Model, durations, scalars
from tenantry.model.strict import Deferred, resolved

_PLAIN = {str: "string", bool: "`true` or `false`", int: "whole number", float: "number", Any: "anything"}
_JSON = {"string": "string", "boolean": "`true` or `false`", "integer": "whole number", "number": "number"}
_AS_IN = {
    r"^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$": "*duration*",
    r"^([0-9]+(\.[0-9]+)?(ms|s|m))+$": "*duration* without hours",
}
"""Patterns of Flux's that the fleet has a word for."""


def words(annotation: Any, links: dict[type[Model], str]) -> str:
    """The type of a field. links: where the sections of models are."""
    if name := _alias(annotation):
        return f"*{name}*"
    origin, args = get_origin(annotation), get_args(annotation)
    if origin is Annotated and isinstance(args[-1], Deferred):
        return words(Annotated[args[0], *args[1:-1]] if args[2:] else args[0], links)
    if origin is Annotated:
        return words(resolved(annotation), links)
    if origin in (Union, types.UnionType):
        return " or ".join(words(arg, links) for arg in args if arg is not type(None))
    if origin is Literal:
        return alternatives(args)
    if origin is dict:
        return f"mapping of {words(args[0], links)} to {words(args[1], links)}"
    if origin is list:
        return f"list of {words(args[0], links)}"
    if isinstance(annotation, type) and issubclass(annotation, Model):
        return links[annotation]
    return _PLAIN[annotation]


def alternatives(values: Any) -> str:
    """`a`, `b` or `c`."""
    shown = [f"`{str(value).lower() if isinstance(value, bool) else value}`" for value in values]
    return " or ".join([", ".join(shown[:-1]), shown[-1]] if shown[1:] else shown)


def words_of_schema(schema: dict[str, Any]) -> str:
    """The type of a key in JSON Schema; of a mapping with known keys, only that it is one."""
    if "enum" in schema:
        return alternatives(schema["enum"])
    kind = schema.get("type")
    if kind == "array":
        return f"list of {words_of_schema(schema['items'])}"
    if kind == "object":
        values = schema.get("additionalProperties")
        return f"mapping to {words_of_schema(values)}" if isinstance(values, dict) else "mapping"
    return _AS_IN.get(schema.get("pattern", ""), _JSON.get(kind or "", "anything")) + _bounds(schema)


def _bounds(schema: dict[str, Any]) -> str:
    """Bounds that matter to an author; those of 64-bit numbers do not."""
    ends = (("at least", schema.get("minimum")), ("at most", schema.get("maximum")))
    said = [f"{word} {bound}" for word, bound in ends if bound is not None and abs(bound) < 2**53]
    return f", {' and '.join(said)}" if said else ""


def _alias(annotation: Any) -> str | None:
    """The word for a type of single values that has a name."""
    return next((name for name, each, _ in named_types() if each == annotation), None)


@cache
def named_types() -> tuple[tuple[str, Any, str], ...]:
    """Every named type of single values: its word, the type, and the text below it, which may be empty."""
    modules = [
        durations,
        scalars,
        *sorted({found for model in models().values() if (found := inspect.getmodule(model))}, key=str),
    ]
    return tuple(
        (re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower(), value, text)
        for module in modules
        for name, text in _aliases(module)
        if get_origin(value := vars(module)[name]) is Annotated
        and not value.__parameters__  # not one of any type
        and not hasattr(resolved(value), "model_fields")  # a model has a section
    )


def _aliases(module: ModuleType) -> Iterator[tuple[str, str]]:
    """Names that a module gives to types, with the texts below them."""
    body = ast.parse(inspect.getsource(module)).body
    for statement, below in pairwise([*body, ast.Pass()]):
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)]) if not name.startswith("_"):
                has_text = isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant)
                yield name, " ".join(str(below.value.value).split()) if has_text else ""  # type: ignore[attr-defined]
