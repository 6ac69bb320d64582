"""`KEY=VALUE` on the command line, read with the model's help: where a key ends, and whether a value is text."""

from __future__ import annotations

import re
from typing import Any, get_args, get_origin

from pydantic_core import ValidationError

from tenantry.edit.subjects.shapes import parts_of
from tenantry.messages.errors import USAGE, InvalidFleet, Path, Refused
from tenantry.messages.text import closest
from tenantry.model import FluxBlock, Model
from tenantry.source.parse import parse

_QUOTED = re.compile(r'\["([^"]*)"\]')


def assignment(model: type[Model], text: str) -> tuple[Path, Any]:
    """`quota.requests.cpu=8` as a path in a model and a value. Raises: Refused."""
    written, equals, value = text.partition("=")
    if not equals or not written:
        raise malformed(text, "quota.pods=40' or 'helm.values.replicas=3")
    path, form = path_in(model, written)
    return path, _typed(form, value)


def malformed(text: str, example: str) -> Refused:
    """What is said of an argument that should be a key and a value."""
    return Refused(f"'{text}' is not KEY=VALUE", f"write it as '{example}'", code=USAGE)


def path_in(model: type[Model], text: str) -> tuple[Path, Any]:
    """A dotted path with the type of its value; None: any type. Raises: Refused: the model has no such key."""
    path: list[str] = []
    form: Any = model
    rest = text
    while rest:
        key, rest, form = _next(form, rest, text)
        path.append(key)
    return tuple(path), form


def _next(form: Any, rest: str, text: str) -> tuple[str, str, Any]:
    """The first key of what is left, the rest, and the type below it."""
    for part in (form,) if form is None else parts_of(form):
        if isinstance(part, type) and issubclass(part, Model):
            key, rest = _split(rest)
            return key, rest, _below(part, key, text)
        if get_origin(part) is dict:
            value = get_args(part)[1]
            key, rest = _split(rest) if _holds_more(value) else (_unquoted(rest), "")
            return key, rest, None if value is Any else value
    key, rest = _split(rest)
    return key, rest, None


def _holds_more(form: Any) -> bool:
    """Whether a value can be a mapping, so that a dot in its path can begin another key."""
    return any(
        part is Any or get_origin(part) is dict or (isinstance(part, type) and issubclass(part, Model))
        for part in parts_of(form)
    )


def _below(model: type[Model], key: str, text: str) -> Any:
    fields = {info.alias or name: info for name, info in model.model_fields.items()}
    if key in fields:
        return fields[key].annotation
    if issubclass(model, FluxBlock) or model.model_config.get("extra") == "allow":
        return None
    near = closest(key, fields)
    raise Refused(
        f"'{key}' in '{text}' is not a key here; keys are {', '.join(fields)}",
        f"did you mean '{near}'?" if near else "choose one of them",
    )


def _split(rest: str) -> tuple[str, str]:
    if found := _QUOTED.match(rest):
        return found[1], rest[found.end() :].removeprefix(".")
    key, _, rest = rest.partition(".")
    if "[" in key and (found := _QUOTED.search(key + "." + rest)):
        whole = key + "." + rest
        return whole[: found.start()], whole[found.start() :]
    return key, rest


def _unquoted(key: str) -> str:
    found = _QUOTED.fullmatch(key)
    return found[1] if found else key


def _typed(form: Any, text: str) -> Any:
    """The value as YAML reads it, or the text itself where only that fits."""
    try:
        value = parse(f"value: {text}".encode(), "VALUE").data["value"]
    except InvalidFleet:
        value = text
    if form is None or isinstance(value, str) or _fits(form, value) or not _fits(form, text):
        return value
    return text


def _fits(form: Any, value: Any) -> bool:
    holder: Any = type("Holder", (Model,), {"__annotations__": {"value": form}, "__module__": __name__})
    try:
        holder.model_validate({"value": value})
    except ValidationError:
        return False
    return True
