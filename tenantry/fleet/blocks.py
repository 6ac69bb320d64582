"""Checks blocks of Flux's own keys, as written in apps, sources, alerts and receivers, against Flux's schemas.

Every block is checked by itself, placed or not. Problems that only the merged whole shows are found by the plan.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

from tenantry.fleet.shape import FOR_OWNED, fix_for_former
from tenantry.fleet.templates import is_shared
from tenantry.flux.conformance import check_part
from tenantry.flux.schemas import schema_of
from tenantry.messages.data import mapping_at, value_at
from tenantry.messages.errors import Path, Problem
from tenantry.messages.problems import owned_key, unknown_key
from tenantry.model import Document, FluxBlock, Model, PostBuild
from tenantry.model.walk import is_block, model_at, parts

Block: TypeAlias = tuple[Path, type[FluxBlock], dict[str, Any]]
"""A block's path, the model of its keys, and what is written."""

_OF_APPS = ("kustomize", "helm")


def check_blocks(data: dict[str, Any]) -> Iterator[Problem]:
    """Keys and values in all blocks of a file's data that Flux would reject or that the author may not set."""
    for path, model, block in flux_blocks(data):
        yield from _findings(model, block, path)
    for path, model, block in shared_blocks(data):
        for key in model.of_one_app:
            if key in block:
                yield owned_key(
                    (*path, key), "each app says it itself", "write it in the apps that are meant, or remove it"
                )


def flux_blocks(data: dict[str, Any]) -> Iterator[Block]:
    """All blocks of a file's data, whether or not they fit the model. Those below templates are in the entries that have them."""
    for path, model, block, _ in parts(Document, data, (), is_block):
        if isinstance(block, dict) and block and (not is_shared(path) or _is_for_all_apps(path)):
            yield path, model, block


def shared_blocks(data: dict[str, Any]) -> Iterator[Block]:
    """The blocks for all apps of a level: of all tenants, of one, of those that teams bring along, or of the platform."""
    return (block for block in flux_blocks(data) if _is_for_all_apps(block[0]))


def _is_for_all_apps(path: Path) -> bool:
    """Whether the block at a path is that of a level, such as a tenant, and of none of its apps."""
    level = path[:-3] if path[-3:-2] == ("overrides",) else path[:-1]
    return path[-1] in _OF_APPS and (level[:-1] in (("tenants",), ("templates", "tenants")) or len(level) == 1)


def written_of(data: dict[str, Any], at: tuple[str, ...]) -> Iterator[Path]:
    """The paths where the app, add-on or source at a path is written: there, and in the overrides of its owner and its own."""
    owner = at[: {"tenants": 2, "templates": 3}.get(at[0], 1)]
    yield at
    for holder in dict.fromkeys((owner, at[: len(owner) + 2])):
        entries = value_at(data, (*holder, "overrides"))
        for index in range(len(entries) if isinstance(entries, list) else 0):
            yield (*holder, "overrides", index, *at[len(holder) :])


def blocks_of(data: dict[str, Any], at: tuple[str, ...]) -> Iterator[tuple[Path, dict[str, Any]]]:
    """The blocks of the app or add-on at a path, and of what overrides say of it."""
    for path in written_of(data, at):
        for kind in _OF_APPS:
            if block := mapping_at(data, *path, kind):
                yield (*path, kind), block


def _findings(model: type[FluxBlock], block: dict[str, Any], at: Path) -> Iterator[Problem]:
    """The model has checked the keys that are its fields; all others are Flux's or unknown."""
    owned = {finding.path: finding for finding in _owned(model, block, at)}
    yield from owned.values()
    for kind, keys in model.parts.items():
        yield from check_part(kind, {key: block[key] for key in keys if key in block}, at)
    not_flux = {*model.owned, *model.foreign_keys()}
    written = _flux_keys({key: value for key, value in block.items() if key not in not_flux}, model)
    for finding in check_part(model.flux_kind, written, at):
        top_level = finding.code == "unknown-key" and len(finding.path) == len(at) + 1
        if top_level:
            of_flux = schema_of(model.flux_kind).spec["properties"]
            known = {*of_flux, *model.model_fields, *model.foreign_keys()} - model.owned.keys()
            yield unknown_key(finding.path, known, fix_for_former(model, str(finding.path[-1])))
        elif finding.path not in owned:
            yield finding


def _flux_keys(written: dict[str, Any], model: type[Model]) -> dict[str, Any]:
    """What is written of Flux's own keys, without the values that the model checks."""
    left = {}
    choices = model.choices() if issubclass(model, FluxBlock) else {}
    for key, value in written.items():
        if key not in model.model_fields or (key in choices and isinstance(value, dict)):
            left[key] = value
        elif isinstance(value, dict) and model_at(model, (key,)) is PostBuild:
            left[key] = _flux_keys(value, PostBuild)
    return left


def _owned(model: type[FluxBlock], block: dict[str, Any], at: Path) -> Iterator[Problem]:
    for name, reason in model.owned.items():
        first, _, second = name.partition(".")
        inner = block.get(first)
        if not second and first in block:
            yield owned_key((*at, first), reason, FOR_OWNED.get(first, ""))
        elif second and isinstance(inner, dict) and second in inner:
            yield owned_key((*at, first, second), reason)
