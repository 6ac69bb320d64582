"""Replaces `${NAME}` in built manifests as Flux does after a build. Source: fluxcd/pkg/envsubst."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from typing import Any

from tenantry.kube.objects import labels_of
from tenantry.manifests import documents
from tenantry.manifests.model import NotRendered, Rendered

_DISABLED = "kustomize.toolkit.fluxcd.io/substitute"
_BETWEEN = re.compile(r"^---\n", re.MULTILINE)
_USE = re.compile(
    r"\$(?P<escaped>\$)|\$\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?:(?P<operator>:?[-=])(?P<default>[^}]*))?\}"
)


def substituted(built: str, post_build: Mapping[str, Any]) -> Rendered:
    """The objects of a build, with the values of `substitute`.

    Values of ConfigMaps and Secrets are unknown here, so uses of them stay as they are. Raises: NotRendered: a variable has
    no value, which Flux refuses.
    """
    values = {name: str(value).replace("\n", "") for name, value in (post_build.get("substitute") or {}).items()}
    unknown = [f"{each['kind']} '{each['name']}'" for each in post_build.get("substituteFrom") or ()]
    always = post_build.get("substituteStrategy") == "Always"
    notes = [f"values of {each} are unknown here: what it sets is shown as ${{NAME}}" for each in unknown]
    objects: list[Mapping[str, Any]] = []
    for text in _BETWEEN.split(built):
        if "$" in text and (values or unknown or always) and not _is_disabled(text):
            objects += _objects(_replaced(text, values, known=not unknown))
        else:
            objects += _objects(text)
    return Rendered(tuple(objects), tuple(notes))


@functools.lru_cache(maxsize=4_000)
def _objects(text: str) -> tuple[Mapping[str, Any], ...]:
    """Read once what is the same on many clusters."""
    return tuple(documents.objects_of(documents.read_all(text)))


def _is_disabled(text: str) -> bool:
    return _DISABLED in text and any(map(_says_so, _objects(text)))


def _says_so(manifest: Mapping[str, Any]) -> bool:
    annotations = (manifest.get("metadata") or {}).get("annotations") or {}
    return "disabled" in (labels_of(manifest).get(_DISABLED), annotations.get(_DISABLED))


def _replaced(text: str, values: Mapping[str, str], *, known: bool) -> str:
    room = documents.MOST_BYTES

    def value(found: re.Match[str]) -> str:
        nonlocal room
        filled = one(found)
        room -= len(filled)
        if room < 0:
            raise NotRendered(f"its variables become more than {documents.MOST_BYTES // 2**20} MiB")
        return filled

    def one(found: re.Match[str]) -> str:
        if found["escaped"]:
            return "$"
        name, default = found["name"], found["default"]
        if name in values and (values[name] or ":" not in (found["operator"] or "")):
            return values[name]
        if not known:
            return found[0]
        if default is not None:
            return default
        raise NotRendered(f"variable '{name}' has no value; Flux refuses it")

    # Behind the last brace nothing ends, and looking for an end from each `${` would take hours.
    end = text.rfind("}") + 1
    return _USE.sub(value, text[:end]) + text[end:].replace("$$", "$")
