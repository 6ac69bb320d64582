"""The argument PATH: read, completed from the file and the schema, and refused with the closest key if it cannot be meant."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import click

from tenantry.cli.fleet_file import fleet_file
from tenantry.edit.paths import parse_path
from tenantry.edit.schema import is_name, keys_at, schemas_at, takes_mapping
from tenantry.grants.frames import filled
from tenantry.messages.data import ABSENT, mapping_at
from tenantry.messages.errors import Path, Refused, TenantryError
from tenantry.messages.text import closest, declared, format_path
from tenantry.source.include import read_all

_LAST = re.compile(r"""^(?P<above>.*?)(?:(?P<bracket>\[["']?)(?P<inner>[^\[\]"']*)|\.?(?P<plain>[^.\[\]]*))$""")


def complete(context: click.Context, _: click.Parameter, start: str) -> list[str]:
    """The keys that stand at the path or may stand there, each as a whole path."""
    match = _LAST.match(start)
    if match is None:
        return []
    try:
        above = parse_path(match["above"]) if match["above"] else ()
    except Refused:
        return []
    begun = match["inner"] or match["plain"] or ""
    keys = dict.fromkeys((*_keys_of(context, above), *map(str, keys_at(above))))
    return [format_path((*above, key)) for key in keys if key.startswith(begun)]


def _keys_of(context: click.Context, path: Path) -> list[str]:
    try:
        return list(mapping_at(filled(read_all(fleet_file(context))).data, *path))
    except TenantryError:
        return []


def check_known(path: Path, value_at: Any) -> None:
    """Refuse a path that no edit can mean. value_at: from a path to the value in the files, or ABSENT.

    Raises: Refused: no such key exists; something on the way is not declared, or is a word or another single value.
    """
    for depth in range(1, len(path) + 1):
        part, above = path[:depth], path[: depth - 1]
        if above and isinstance(held := value_at(above), str | int | float):
            raise _single(above, held, path)
        if not schemas_at(part):
            raise _unknown(part, path)
        if depth < len(path) and is_name(part) and value_at(part) is ABSENT and not _is_override(part):
            raise _undeclared(part, value_at(above))


def not_there(path: Path, value_at: Any) -> Refused:
    """The error for a path at which nothing stands."""
    depth = next((depth for depth in range(1, len(path) + 1) if value_at(path[:depth]) is ABSENT), len(path))
    above, part = value_at(path[: depth - 1]) if depth > 1 else value_at(()), path[depth - 1]
    known = list(above) if isinstance(above, dict) else []
    near = closest(str(part), known)
    fix = f"did you mean '{format_path((*path[: depth - 1], near))}'?" if near else _there(path[: depth - 1], above)
    return Refused(f"there is no '{format_path(path[:depth])}'", fix)


def _there(path: Path, above: Any) -> str:
    where = f"'{format_path(path)}'" if path else "the file"
    if isinstance(above, list):
        return f"{where} has {len(above)} {'entry' if len(above) == 1 else 'entries'}, counted from [0]"
    return f"{where} has: {', '.join(map(str, above))}" if isinstance(above, dict) and above else ""


def _is_override(path: Path) -> bool:
    """Whether the name at the end of a path only refers to something that is declared elsewhere."""
    return len(path) > 2 and path[-3] == "overrides"


def _unknown(path: Path, whole: Path) -> Refused:
    """The error for a path of which no last part is known. whole: what was asked for."""
    known: Iterable[str] = keys_at(path[:-1])
    near = closest(str(path[-1]), known)
    if isinstance(path[-1], int) or not known:
        message = f"'{format_path(path[:-1])}' has no entries, so there is no '{format_path(path)}'"
        return Refused(
            message, _with_dots(path, whole) or f"see '{format_path(path[:-2])}' in docs/tenants-reference.md"
        )
    fix = f"did you mean '{format_path((*path[:-1], near))}'?" if near else f"known keys: {', '.join(known)}"
    return Refused(f"'{path[-1]}' is not a key of '{format_path(path[:-1])}'" if path[:-1] else _top(path), fix)


def _top(path: Path) -> str:
    return f"'{path[-1]}' is not a key of tenants.yaml"


def _with_dots(path: Path, whole: Path) -> str:
    """The fix for a key with dots that was written without quotes."""
    above, rest = path[:-2], whole[len(path) - 2 :]
    if not above or any(isinstance(each, int) for each in rest):
        return ""
    meant = (*above, ".".join(map(str, rest)))
    return f"a key with dots stands in quotes: '{format_path(meant)}'" if schemas_at(meant) else ""


def _undeclared(path: Path, above: Any) -> Refused:
    names = list(above) if isinstance(above, dict) else []
    near = closest(str(path[-1]), names)
    fix = f"did you mean '{format_path((*path[:-1], near))}'?" if near else declared("declared", str(path[-1]), names)
    return Refused(f"there is no '{format_path(path)}'", fix)


def _single(path: Path, held: Any, whole: Path) -> Refused:
    message = f"'{format_path(path)}' is '{held}', so it has no '{format_path(whole[len(path) :])}'"
    if takes_mapping(path) and isinstance(held, str):
        message = f"'{format_path(path)}' is the word '{held}', which stands for a whole mapping"
        return Refused(message, f"write the mapping: tenantry set {format_path(path)} '{{...}}'")
    return Refused(message, f"set it as a whole: tenantry set {format_path(path)} VALUE")
