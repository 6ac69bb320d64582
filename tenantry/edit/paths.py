"""Paths as messages and commands write them, such as `tenants.rocky.owners[0]`, and what the model lets stand there.

Called by: the commands, for their arguments; `editor`, for the order of keys and for what goes when it is empty.
Never: knows the type of a key by itself: the model says it, and Flux's schemas of Flux's own keys.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import chain
from types import NoneType
from typing import Any, get_args, get_origin

from tenantry.fleet.blocks import check_blocks
from tenantry.fleet.shape import check_shape
from tenantry.kube.yaml_text import outcome
from tenantry.messages.data import ABSENT, nested, value_at
from tenantry.messages.errors import USAGE, InvalidFleet, Path, Refused
from tenantry.messages.text import counted, declared, format_path
from tenantry.model import Document, Model
from tenantry.model.walk import fields_of, lacking_at, model_at, types_at
from tenantry.source.compose import Constructor, compose
from tenantry.source.parsed_file import override_of

ValueAt = Callable[[Path], Any]
"""The value at a path of the fleet's files, or ABSENT."""

END = -1
"""In place of the index of an entry: behind the last one."""

_PART = re.compile(
    r"""\[(?P<end>)\] | \[(?P<index>[0-9]{1,9})\] | \["(?P<double>[^"]*)"\] | \['(?P<single>[^']*)'\]
    | \[(?P<bare>[^\[\]"']+)\] | "(?P<quoted>[^"]*)" | (?P<plain>[^.\[\]"]+)""",
    re.VERBOSE,
)
_EXAMPLES = 'tenants.rocky.quota["requests.cpu"], tenants.rocky.owners[0]'

_SAME_WHEN_EMPTY = frozenset({"quota", "limits", "default", "defaultRequest", "max", "min", "maxLimitRequestRatio"})
"""Keys that may be null and whose empty mapping says nothing."""
_FLUX = frozenset({"kustomize", "helm", "git", "oci", "bucket"})
"""Blocks whose keys are Flux's."""
_FIRST = ("when", "clusters", "environments", "source")


# --- a path as text -----------------------------------------------------------------------------------------------------


def parse_path(text: str) -> Path:
    """The path that a text names; the inverse of `messages.text.format_path`.

    `[]` is the place behind the last entry of a list. A key with dots needs no quotes where no other key can follow it:
    `tenants.rocky.quota.requests.cpu`. Raises: Refused: it is not a path.
    """
    parts: list[str | int] = []
    at = 0
    while at < len(text):
        if text[at] == "." and parts and text[at + 1 : at + 2] not in ("", ".", "["):
            at += 1
        match = _PART.match(text, at)
        if match is None or (parts and text[at - 1] != "." and text[at] != "["):
            message = f"'{text}' is not a path: character {at + 1} is not expected"
            raise Refused(message, f"write it as messages do: {_EXAMPLES}")
        kind = str(match.lastgroup)
        parts.append(END if kind == "end" else int(match[kind]) if kind == "index" else match[kind])
        at = match.end()
    if not parts:
        raise Refused("the path is empty", 'write it as messages do: tenants.rocky.quota["requests.cpu"]')
    return _with_dotted_key(tuple(parts))


def _with_dotted_key(path: Path) -> Path:
    for depth in range(1, len(path) - 1):
        if _holds_scalars(path[:depth]) and all(isinstance(part, str) for part in path[depth:]):
            return (*path[:depth], ".".join(map(str, path[depth:])))
    return path


def _holds_scalars(path: Path) -> bool:
    """Whether a mapping stands at a path whose keys are free, and whose values are no mappings and no lists."""
    return any(
        get_origin(type_) is dict and not any(_holds_more(value) for value in types_at(get_args(type_)[1], ()))
        for type_ in types_at(Document, path)
    )


def _holds_more(type_: Any) -> bool:
    """Whether values of a type can be mappings or lists."""
    return type_ is Any or get_origin(type_) in (dict, list) or _is_model(type_)


def _is_model(type_: Any) -> bool:
    return isinstance(type_, type) and issubclass(type_, Model)


def located(path: Path, value_of: ValueAt) -> Path:
    """The path with indexes: `[]` is behind the last entry, and a text in a list is that of the entry with this text."""
    for depth, part in enumerate(path):
        held = value_of(path[:depth]) if depth else ABSENT
        if part == END:
            path = (*path[:depth], len(held) if isinstance(held, list) else 0, *path[depth + 1 :])
        elif isinstance(held, list) and part in held:
            path = (*path[:depth], held.index(part), *path[depth + 1 :])
    return path


def assignment(holder: Path, text: str) -> tuple[Path, Any]:
    """`quota.requests.cpu=8` as a path below a holder and a value. Raises: Refused."""
    written, equals, value = text.partition("=")
    if not equals or not written:
        raise Refused(f"'{text}' is not KEY=VALUE", "write it as 'quota.pods=40' or 'role=edit'", code=USAGE)
    path = parse_path(f"{format_path(holder)}.{written}")
    try:
        return path[len(holder) :], typed(path, parsed(value), value)
    except Refused:
        return path[len(holder) :], value


def parsed(text: str) -> Any:
    """The value that a text means. Raises: Refused: it is not YAML."""
    try:
        root = compose(text, "VALUE")
        if root is None:
            fix = "write '\"\"' for an empty text, '{}' for an empty mapping, or null to remove"
            raise Refused("VALUE is empty", fix)
        constructor = Constructor("VALUE")
        value = constructor.construct(root)
        if constructor.problems:
            raise InvalidFleet(constructor.problems)
    except InvalidFleet as invalid:
        first, text_fix = invalid.diagnostics[0], "use --string to take it as a text"
        fix = f"{first.fix}, or {text_fix}" if first.fix else text_fix
        raise Refused(f"{first.location}: {first.message}", fix) from None
    return value


def typed(path: Path, value: Any, text: str) -> Any:
    """A value as YAML reads it; where only a list fits, the words between its commas. The text that it was read from where only a
    text fits, such as the version `1.10`, and where a program would get another one: a tag `1.10` is no 1.1.
    """
    key = str(next((part for part in reversed(path) if isinstance(part, str)), ""))
    if outcome(text.strip(), value, key, of_chart=True):
        return text
    others = (text, text.split(","))
    return value if _is_of_type(path, value) else next((each for each in others if _is_of_type(path, each)), value)


def _is_of_type(path: Path, value: Any) -> bool:
    """Whether a value at a path is of a type that the model, or Flux, has there."""
    alone = tuple(0 if isinstance(part, int) else part for part in path)
    data = nested(alone, value)
    problems = chain(check_shape(data).findings, check_blocks(data))
    return not any(problem.code == "wrong-type" and problem.path == alone for problem in problems)


# --- what may stand at a path -------------------------------------------------------------------------------------------


def ranks_at(path: Path) -> dict[str, int]:
    """The order of the keys at a path: that of the reference, but where something runs or holds comes before what does.

    Empty if the keys are names, or Flux's own, which have no order.
    """
    model = model_at(Document, path)
    if model is None or any(part in _FLUX for part in path):
        return {}
    lacking = lacking_at(Document, path)
    keys = [key for key in fields_of(model) if key not in lacking]
    if "overrides" in keys or "when" in keys:
        keys = [*(key for key in _FIRST if key in keys), *(key for key in keys if key not in _FIRST)]
    return {key: rank for rank, key in enumerate(keys)}


def is_name(path: Path) -> bool:
    """Whether the last part of a path is the name of something that has keys of its own: a tenant, an app, a cluster."""
    if not path or not isinstance(path[-1], str):
        return False
    mappings = [type_ for type_ in types_at(Document, path[:-1]) if get_origin(type_) is dict]
    return any(map(_is_model, types_at(mappings[0], (path[-1],)))) if mappings else False


def goes_when_empty(path: Path) -> bool:
    """Whether a key whose mapping or list becomes empty is removed, because its absence means the same."""
    model, key = model_at(Document, path[:-1]), str(path[-1])
    if model is None or key not in fields_of(model) or fields_of(model)[key].is_required():
        return False
    return key in _SAME_WHEN_EMPTY or NoneType not in types_at(model, (key,))


def emptied_by(data: Any, path: Path) -> Path:
    """The path to remove so that nothing empty stays whose absence means the same."""
    while len(path) > 1:
        above, depth = value_at(data, path[:-1]), _in_override(path[:-1])
        is_empty = len(above) == 1 and (goes_when_empty(path[:-1]) or (isinstance(above, dict) and depth > 0))
        says_where_alone = depth == 0 and above.keys() == {"when", path[-1]}
        if not is_empty and not says_where_alone:
            break
        path = path[:-1]
    return path


def _in_override(path: Path) -> int:
    """How many keys a path leads into an override, in which an empty mapping sets nothing; -1: it leads into none."""
    at = override_of(path)
    return len(path) - len(at) if at else -1


# --- paths that cannot be meant -----------------------------------------------------------------------------------------


def check_named(path: Path, value_of: ValueAt) -> None:
    """Raises: Refused: a tenant, an app or another named thing on the way is not declared, and the edit would begin one."""
    for depth in range(1, len(path)):
        part = path[:depth]
        if is_name(part) and value_of(part) is ABSENT and not override_of(part):
            raise _absent(part, value_of(part[:-1]))


def not_there(path: Path, value_of: ValueAt) -> Refused:
    """The error for a path at which nothing stands."""
    depth = next((depth for depth in range(1, len(path) + 1) if value_of(path[:depth]) is ABSENT), len(path))
    return _absent(path[:depth], value_of(path[: depth - 1]))


def _absent(path: Path, above: Any) -> Refused:
    """The error for the first part of a path that is not there. Args: above: what stands at the path above."""
    fix = declared("declared", str(path[-1]), above) if isinstance(above, dict) else ""
    if isinstance(above, list):
        fix = f"'{format_path(path[:-1])}' has {counted(len(above), 'value')}, counted from [0]"
    return Refused(f"there is no '{format_path(path)}'", fix)
