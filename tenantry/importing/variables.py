"""The variables of a build, replaced as Flux replaces them. Source: fluxcd/pkg/envsubst."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping
from typing import Any

from tenantry.importing.documents import FIX, MOST_BYTES, Document, objects_in
from tenantry.kube.objects import labels_of
from tenantry.messages.data import mapping_at
from tenantry.messages.errors import Refused

_DISABLED = "kustomize.toolkit.fluxcd.io/substitute"
_BETWEEN = re.compile(r"^---\n", re.MULTILINE)
_USE = re.compile(
    r"\$(?P<escaped>\$)|\$\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?:(?P<operator>:?[-=])(?P<default>[^}]*))?\}"
)


def substituted(built: str, values: Mapping[str, str], name: str, *, always: bool = False) -> Iterator[Document]:
    """The objects of a build, with the values of its variables.

    Args:   name: what messages call the build. always: whether variables are replaced also where there are no values.
    Raises: Refused: a variable has no value, which Flux refuses.
    """
    values = {variable: value.replace("\n", "") for variable, value in values.items()}
    for text in _BETWEEN.split(built):
        is_filled = "$" in text and (values or always)
        if is_filled and _DISABLED in text:
            marks = [
                (labels_of(manifest), mapping_at(manifest["metadata"], "annotations"))
                for manifest, _ in _objects(text, name)
            ]
            is_filled = not any("disabled" in (labels.get(_DISABLED), notes.get(_DISABLED)) for labels, notes in marks)
        yield from _objects(_replaced(text, values) if is_filled else text, name)


def unset(built: str, values: Mapping[str, Any]) -> dict[str, bool]:
    """The variables in a build that have none of these values, and whether each has a default wherever it is used."""
    names: dict[str, bool] = {}
    for use in _USE.finditer(built, 0, built.rfind("}") + 1):
        if not use["escaped"] and use["name"] not in values:
            names[use["name"]] = names.get(use["name"], True) and use["default"] is not None
    return names


@functools.lru_cache(maxsize=4_000)
def _objects(text: str, name: str) -> tuple[Document, ...]:
    """Read once what is the same on many clusters."""
    return tuple(objects_in(text.encode(), name))


def _replaced(text: str, values: Mapping[str, str]) -> str:
    room = MOST_BYTES

    def bounded(use: re.Match[str]) -> str:
        nonlocal room
        value = filled(use)
        room -= len(value)
        if room < 0:
            raise Refused(f"its variables become more than {MOST_BYTES // 2**20} MiB", FIX)
        return value

    def filled(use: re.Match[str]) -> str:
        if use["escaped"]:
            return "$"
        name, default = use["name"], use["default"]
        if name in values and (values[name] or ":" not in (use["operator"] or "")):
            return values[name]
        if default is not None:
            return default
        raise Refused(f"variable '{name}' has no value; Flux refuses it", FIX)

    # Behind the last brace nothing ends, and looking for an end from each `${` would take hours.
    end = text.rfind("}") + 1
    return _USE.sub(bounded, text[:end]) + text[end:].replace("$$", "$")
