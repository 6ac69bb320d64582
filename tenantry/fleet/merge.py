"""Merges layers of settings, from the least to the most specific, and traces every value to its level of the file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pydantic_core import ValidationError

from tenantry.messages.data import ABSENT, depth_of, leaves, mapping_at, value_at, without
from tenantry.messages.errors import Location, Path
from tenantry.messages.placeholders import names_in
from tenantry.model.selector import When
from tenantry.source.parsed_file import ParsedFile, override_of


@dataclass(frozen=True, slots=True)
class Layer:
    """Plain data and the path where it stands in the document."""

    path: Path
    data: dict[str, Any]


def merge(layers: Sequence[Layer]) -> dict[str, Any]:
    """All layers as one new mapping; later layers win. The layers stay as they are."""
    merged: dict[str, Any] = {}
    for layer in layers:
        merged = _merge(merged, layer.data)
    return merged


def with_whole(layers: Sequence[Layer], paths: Iterable[Path]) -> list[Layer]:
    """The layers, with the value at each of some paths in the last layer only that has one: it replaces all of the others."""
    result = list(layers)
    for path in paths if len(result) > 1 else ():
        having = [index for index, layer in enumerate(result) if value_at(layer.data, path)]
        for index in having[:-1]:
            result[index] = replace(result[index], data=without(result[index].data, [path]))
    return result


def _merge(base: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    result = dict(base)
    for key, value in over.items():
        if value is None:
            result.pop(key, None)
        elif isinstance(value, dict):
            below = result.get(key)
            result[key] = _merge(below if isinstance(below, dict) else {}, value)
        else:
            result[key] = value
    return result


def overlay(
    below: dict[str, Any], over: Mapping[str, Any], removed: list[Path], at: tuple[str, ...] = ()
) -> dict[str, Any]:
    """An entry over what its templates say. Parts that only one of them has are shared, never copied.

    A `null` stays where there is nothing to remove, so that the check of shapes notices a misspelt key, and in the block of an app,
    where its tenant's block could still set the value.

    Args: removed: takes the paths of what a `null` removes.
    """
    result = dict(below)
    for key, value in over.items():
        path, inherited = (*at, key), result.get(key, ABSENT)
        is_in_block = len(path) > 3 and path[0] == "apps" and path[2] in ("kustomize", "helm")
        if value is None and inherited is not ABSENT and not is_in_block:
            del result[key]
            removed.append(path)
        elif isinstance(value, dict) and isinstance(inherited, dict) and not _is_replaced(path):
            result[key] = overlay(inherited, value, removed, path)
        elif isinstance(value, list) and isinstance(inherited, list) and (*path[:1], *path[2:]) in _APPENDED:
            result[key] = [*inherited, *value]
        else:
            result[key] = value
    return result


_APPENDED = (("overrides",), ("apps", "overrides"))
"""Lists to which another layer's entries are appended, without the name of an app: the overrides of a tenant or of its app."""


def _is_replaced(path: tuple[str, ...]) -> bool:
    """Whether a mapping replaces another one: half of two selectors, levels or versions would be neither."""
    match path:
        case (
            ("clusters" | "kubeconfig" | "podSecurity",)
            | ("grants", "clusters")
            | ("apps", _, "clusters")
            | ("namespaces", _, "podSecurity")
            | ("sources", _, *_, "ref")
        ):
            return True
    return False


def origin(layers: Sequence[Layer], path: Path) -> Path:
    """Where in the document the merged value at `path` comes from: the most specific layer that reaches deepest."""
    depth, best = max(
        ((depth_of(layer.data, path), index) for index, layer in enumerate(layers)), key=lambda pair: pair
    )
    return (*layers[best].path, *path[:depth])


_LEVELS = {"defaults": "defaults", "tenants": "tenant", "apps": "app", "sources": "source"}


@dataclass(frozen=True, slots=True)
class Origin:
    """A place in the file and the level it belongs to: "defaults", "tenant", "app", "add-on", "environment dev", "cluster edge"."""

    level: str
    location: Location


@dataclass(frozen=True, slots=True)
class Value:
    """One effective value.

    value:   a scalar, a list of scalars or an empty mapping; None where `null` took away what stood below.
    origin:  None for a default of the program.
    written: what stands in the file, where placeholders made another value of it.
    removed: the `null` that took away what less specific levels say.
    """

    path: Path
    value: Any
    origin: Origin | None = None
    written: Any = None
    removed: Origin | None = None

    def under(self, *parent: str) -> Value:
        """The same value with a path from further up."""
        return replace(self, path=(*parent, *self.path))


class Traced:
    """Layers as one, with the origin of each value. What several clusters have from the same layers asks the same object."""

    def __init__(self, source: ParsedFile, layers: Sequence[Layer]) -> None:
        self._source, self._layers, self._merged = source, layers, merge(layers)
        self._written: dict[Path, tuple[Origin | None, Any]] = {}
        by_template: dict[Path, Path] = {}
        by_layer: dict[Path, Path] = {}
        for index, layer in enumerate(layers):
            entry, at = layer.path[:2], layer.path[2:]
            below_entry = source.removed.get(entry, {}).items()
            by_template |= {path[len(at) :]: place for path, place in below_entry if path[: len(at)] == at != path}
            if nulls := [path for path, value in leaves(layer.data) if value is None]:
                below = merge(layers[:index])
                by_layer |= {
                    path: (*layer.path, *path) for path in nulls if value_at(below, path, ABSENT) is not ABSENT
                }
        self._by_template, self._by_layer = self._final(by_template), self._final(by_layer)

    def _final(self, removals: Mapping[Path, Path]) -> dict[Path, Origin]:
        """Each `null` whose value no other layer brings back. Args: removals: its path in the data, and in the document."""
        missing = (path for path in removals if value_at(self._merged, path, ABSENT) is ABSENT)
        return {path: origin_at(self._source, removals[path]) for path in missing}

    def values(self, effective: Mapping[str, Any]) -> tuple[Value, ...]:
        """Every effective value; one that no layer holds is a default.

        Args: effective: grouped as it will be shown, and so is the result; `None` in it is left out.
        """
        removed = {path: place for path, place in self._by_template.items() if path[0] in effective} | self._by_layer
        shown = leaves(_with_removed(effective, removed))
        return tuple(Value(path, value, *self._at(path), removed.get(path)) for path, value in shown)

    def _at(self, path: Path) -> tuple[Origin | None, Any]:
        """Where the value at a path is written, and the text there if it has placeholders."""
        if path not in self._written:
            written = value_at(self._merged, path, ABSENT)
            place = None if written is ABSENT else origin_at(self._source, origin(self._layers, path))
            self._written[path] = place, written if placeholders(written) else None
        return self._written[path]


def trace(source: ParsedFile, layers: Sequence[Layer], effective: Mapping[str, Any]) -> tuple[Value, ...]:
    """The values of layers that nothing else has. Args: effective: as of `Traced.values`."""
    return Traced(source, layers).values(effective) if effective else ()


def origin_at(source: ParsedFile, path: Path) -> Origin:
    """The origin for a path of the document."""
    return Origin(_override(source, path) or _level(source.origin(path)), source.locate(path))


def placeholders(written: Any) -> tuple[str, ...]:
    """The names of the placeholders in a text or in a list of texts, each once."""
    texts = written if isinstance(written, list) else [written]
    return tuple(
        dict.fromkeys(name for text in texts if isinstance(text, str) and "{" in text for name in names_in(text))
    )


def _override(source: ParsedFile, path: Path) -> str:
    """The override that a value stands in, by its `when`; "" if it stands in none."""
    if not (at := override_of(path)):
        return ""
    try:
        return When.model_validate(mapping_at(source.data, *at, "when")).description
    except ValidationError:
        return ""


def _level(path: Path) -> str:
    """The innermost level around a path; overrides and declarations of environments and clusters are named."""
    level = str(path[0])
    match path:
        case ("environments" | "clusters" as group, name, *_):
            level = f"{group[:-1]} {name}"
        case ("templates", _, name, *_):
            level = f"template {name}"
        case ("platform", "addons", *_):
            level = "add-on"
        case ("platform", "sources", *_):
            level = "source"
        case ("tenants", _, "apps" | "sources" as group, *_):
            level = _LEVELS[group]
        case ("tenants", *_):
            level = "tenant"
    return level


def _with_removed(effective: Mapping[str, Any], removals: Iterable[Path]) -> dict[str, Any]:
    """A copy in which what was removed stands as None, where no default took its place."""
    shown = merge([Layer((), dict(effective))])
    for path in removals:
        parent: Any = shown
        for part in path[:-1]:
            parent = parent.setdefault(part, {}) if isinstance(parent, dict) else None
        if isinstance(parent, dict):
            parent.setdefault(path[-1], None)
    return shown
