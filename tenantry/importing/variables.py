"""The variables of a build, replaced as Flux replaces them. Source: fluxcd/pkg/envsubst."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from typing import Any

from tenantry.importing.programs import NotBuilt
from tenantry.importing.yaml_text import MOST_BYTES, objects_of, read_all
from tenantry.kube.objects import labels_of

_DISABLED = "kustomize.toolkit.fluxcd.io/substitute"
_BETWEEN = re.compile(r"^---\n", re.MULTILINE)
_USE = re.compile(
    r"\$(?P<escaped>\$)|\$\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?:(?P<operator>:?[-=])(?P<default>[^}]*))?\}"
)


def substituted(built: str, values: Mapping[str, str], *, always: bool = False) -> list[Mapping[str, Any]]:
    """The objects of a build, with the values of its variables.

    Args:   always: whether variables are replaced also where there are no values.
    Raises: NotBuilt: a variable has no value, which Flux refuses.
    """
    values = {name: value.replace("\n", "") for name, value in values.items()}
    objects: list[Mapping[str, Any]] = []
    for text in _BETWEEN.split(built):
        if "$" in text and (values or always) and not _is_disabled(text):
            objects += _objects(_replaced(text, values))
        else:
            objects += _objects(text)
    return objects


def unset(built: str, values: Mapping[str, str]) -> dict[str, bool]:
    """The variables in a build that have none of these values, and whether each has a default wherever it is used."""
    names: dict[str, bool] = {}
    for found in _USE.finditer(built, 0, built.rfind("}") + 1):
        if not found["escaped"] and found["name"] not in values:
            names[found["name"]] = names.get(found["name"], True) and found["default"] is not None
    return names


@functools.lru_cache(maxsize=4_000)
def _objects(text: str) -> tuple[Mapping[str, Any], ...]:
    """Read once what is the same on many clusters."""
    return tuple(objects_of(read_all(text.encode(), "what is built")))


def _is_disabled(text: str) -> bool:
    return _DISABLED in text and any(map(_says_so, _objects(text)))


def _says_so(manifest: Mapping[str, Any]) -> bool:
    annotations = (manifest.get("metadata") or {}).get("annotations") or {}
    return "disabled" in (labels_of(manifest).get(_DISABLED), annotations.get(_DISABLED))


def _replaced(text: str, values: Mapping[str, str]) -> str:
    room = MOST_BYTES

    def value(found: re.Match[str]) -> str:
        nonlocal room
        filled = one(found)
        room -= len(filled)
        if room < 0:
            raise NotBuilt(f"its variables become more than {MOST_BYTES // 2**20} MiB")
        return filled

    def one(found: re.Match[str]) -> str:
        if found["escaped"]:
            return "$"
        name, default = found["name"], found["default"]
        if name in values and (values[name] or ":" not in (found["operator"] or "")):
            return values[name]
        if default is not None:
            return default
        raise NotBuilt(f"variable '{name}' has no value; Flux refuses it")

    # Behind the last brace nothing ends, and looking for an end from each `${` would take hours.
    end = text.rfind("}") + 1
    return _USE.sub(value, text[:end]) + text[end:].replace("$$", "$")
