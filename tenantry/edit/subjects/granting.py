"""Grants: what the included file of a tenant may do."""

from __future__ import annotations

from typing import Any, get_origin

from tenantry.edit.subjects.assignments import malformed
from tenantry.edit.subjects.draft import Draft, Edit
from tenantry.edit.subjects.names import Kind
from tenantry.edit.subjects.references import Target
from tenantry.edit.subjects.selecting import DEFAULTS, selector_of
from tenantry.edit.subjects.shapes import fields_of, parts_of
from tenantry.edit.subjects.subjects import existing, in_words, path_of
from tenantry.grants.model import Grants, Share
from tenantry.messages.data import value_at
from tenantry.messages.errors import Path, Refused
from tenantry.messages.text import closest
from tenantry.model import Selector

_GRANTS: dict[str, Any] = {
    **{field.key: parts_of(field.type)[0] for field in fields_of(Grants) if field.key != "share"},
    **{f"share.{field.key}": parts_of(field.type)[0] for field in fields_of(Share)},
}
"""The types of all grants by their names on the command line."""


def _at(draft: Draft, text: str) -> tuple[Path, str]:
    if text == DEFAULTS:
        return (DEFAULTS, "grants"), "every tenant"
    kind = Kind.TENANT
    if text.startswith("selfService/"):
        kind, text = Kind.FRAME, text.partition("/")[2]
    target: Target = existing(draft, kind, text)
    return (*path_of(target), "grants"), in_words(target)


def _known(key: str) -> Any:
    """The type of a grant. Raises: Refused: there is no such grant."""
    if key not in _GRANTS:
        near = closest(key, _GRANTS)
        raise Refused(
            f"'{key}' cannot be granted; grants are {', '.join(_GRANTS)}",
            f"did you mean '{near}'?" if near else "choose one of them",
        )
    return _GRANTS[key]


def pair(text: str, *, needs_value: bool = True) -> tuple[str, str]:
    """`sources=https://...` as the name of a grant and what is granted. Raises: Refused."""
    key, equals, value = text.partition("=")
    if not key or (needs_value and not value) or (equals and not value):
        raise malformed(text, "settings=quota,limits")
    return key, value


def grant(draft: Draft, text: str, key: str, written: str) -> Edit:
    """Add values to a grant. Raises: Refused: there is no such grant, or it is given already."""
    at, who = _at(draft, text)
    path, file, form = (*at, *key.split(".")), draft.main, _known(key)
    there = value_at(draft.data(file), path)
    if get_origin(form) is not list:
        value = selector_of(written) if form is Selector else written
        if there is not None:
            raise Refused(f"'{key}' of {who} is {there!r} already", f"tenantry set {'.'.join(map(str, path))} ...")
        draft.put(path, value, file)
        return draft.edit(f"{who} may have {key} {written}")
    values = [each.strip() for each in written.split(",")]
    if there is None:
        draft.put(path, values, file)
        return draft.edit(f"{who} may have {key} {', '.join(values)}")
    missing = [each for each in values if each not in there]
    if not missing:
        raise Refused(f"{who} is granted {key} {written} already", "nothing has to change")
    for each in missing:
        draft.append(path, each, file)
    return draft.edit(f"{who} may have {key} {', '.join(missing)} too")


def revoke(draft: Draft, text: str, key: str, written: str) -> Edit:
    """Take values off a grant, or remove it. Raises: Refused: it is not given, or what is left would mean something else."""
    at, who = _at(draft, text)
    path, file = (*at, *key.split(".")), draft.main
    _known(key)
    there = value_at(draft.data(file), path)
    if there is None:
        raise Refused(f"{who} has no grant '{key}'", "nothing has to change")
    gone = [each.strip() for each in written.split(",")] if written and isinstance(there, list) else None
    if gone is None or set(gone) == set(there):
        draft.unset(path, file, keep=len(at) - 1)
        return draft.edit(f"{who} has no grant '{key}' any more", _opens(key))
    if unknown := [each for each in gone if each not in there]:
        raise Refused(f"{who} is not granted {key} {', '.join(unknown)}", f"granted: {', '.join(there)}")
    for index in sorted(map(there.index, gone), reverse=True):
        draft.unset((*path, index), file, keep=len(path))
    return draft.edit(f"{who} may no longer have {key} {', '.join(gone)}")


def _opens(key: str) -> list[str]:
    """Grants without which a file may do more, not less."""
    return {
        "environments": ["without this grant, the tenant is in all environments"],
        "clusters": ["without this grant, the file takes clusters of the tenant's selector in the main file"],
    }.get(key, [])
