"""Checks blocks of Flux's own keys, as written in apps, sources, alerts and receivers, against Flux's schemas.

Every block is checked by itself, placed or not. Problems that only the merged whole shows are found by the plan.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

from tenantry.fleet.hints import FOR_OWNED, fix_for_key
from tenantry.flux.conformance import check_part
from tenantry.flux.schemas import schema_of
from tenantry.messages.data import mapping_at, value_at
from tenantry.messages.errors import Path, Problem
from tenantry.messages.problems import owned_key, unknown_key
from tenantry.model import (
    SOURCE_KINDS,
    Alert,
    FluxBlock,
    HelmPatch,
    KustomizePatch,
    Model,
    Oci,
    PostBuild,
    Provider,
    Receiver,
)
from tenantry.model.strict import model_at

Block: TypeAlias = tuple[Path, type[FluxBlock], dict[str, Any]]
"""A block's path, the model of its keys, and what is written."""

_MODELS: dict[str, type[FluxBlock]] = {"kustomize": KustomizePatch, "helm": HelmPatch}


PLATFORM = ("platform",)


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
    """All blocks of a file's data, whether or not they fit the model."""
    yield from source_blocks(data)
    yield from alert_blocks(data)
    yield from receiver_blocks(data)
    for at in _apps(data):
        yield from ((path, _MODELS[str(path[-1])], block) for path, block in blocks_of(data, at))
    yield from shared_blocks(data)
    for path, chart in chart_entries(data):
        if block := mapping_at(chart, "oci"):
            yield (*path, "oci"), Oci, block


def shared_blocks(data: dict[str, Any]) -> Iterator[Block]:
    """The blocks for all apps of a level: of all tenants, of one, of those that teams bring along, or of the platform."""
    templates = (("templates", "tenants", name) for name in mapping_at(data, "templates", "tenants"))
    tenants = (("tenants", name) for name in mapping_at(data, "tenants"))
    for at in (("defaults",), PLATFORM, *templates, *tenants):
        levels: list[Path] = [at, *override_paths(data, at)]
        for level in levels:
            for kind, model in _MODELS.items():
                if block := mapping_at(data, *level, kind):
                    yield (*level, kind), model, block


def source_blocks(data: dict[str, Any]) -> Iterator[Block]:
    """The blocks of all sources of tenants and add-ons, and of their overrides."""
    for at in source_entries(data):
        source = mapping_at(data, *at)
        for kind, model in SOURCE_KINDS.items():
            if block := mapping_at(source, kind):
                yield (*at, kind), model, block


def source_entries(data: dict[str, Any]) -> Iterator[Path]:
    """The paths of all sources of tenants and add-ons, and of what overrides say of them."""
    for level in _owners(data):
        paths: list[Path] = [level, *override_paths(data, level)]
        for at in paths:
            yield from ((*at, "sources", name) for name in mapping_at(data, *at, "sources"))
    for addon in _addons(data):
        yield (*addon, "source")


def chart_entries(data: dict[str, Any]) -> Iterator[tuple[Path, dict[str, Any]]]:
    """The chart for baselines, and what overrides say of it."""
    for at in (PLATFORM, *override_paths(data, PLATFORM)):
        if chart := mapping_at(data, *at, "chart"):
            yield (*at, "chart"), chart


def alert_blocks(data: dict[str, Any]) -> Iterator[Block]:
    """The blocks of all alerts of tenants and of the platform, each before that of its provider."""
    for at in (*_of_tenants(data, "alerts"), *_of_platform(data, "alerts")):
        yield at, Alert, mapping_at(data, *at)
        yield (*at, "provider"), Provider, mapping_at(data, *at, "provider")


def receiver_blocks(data: dict[str, Any]) -> Iterator[Block]:
    """The blocks of all receivers."""
    for at in _of_tenants(data, "receivers"):
        yield at, Receiver, mapping_at(data, *at)


def blocks_of(data: dict[str, Any], at: tuple[str, ...]) -> Iterator[tuple[Path, dict[str, Any]]]:
    """The blocks of the app or add-on at a path, and of what overrides say of it."""
    owner = at[:2] if at[0] == "tenants" else at[:1]
    of_owner: list[Path] = [(*path, *at[len(owner) :]) for path in override_paths(data, owner)]
    paths: list[Path] = [at, *of_owner, *override_paths(data, at)]
    for path in paths:
        written = mapping_at(data, *path)
        for kind in _MODELS:
            if block := mapping_at(written, kind):
                yield (*path, kind), block


def override_paths(data: dict[str, Any], at: tuple[str, ...]) -> Iterator[Path]:
    """The overrides of anything that has some, whether or not they fit the model."""
    over: Path = (*at, "overrides")
    entries = value_at(data, over)
    yield from ((*over, index) for index in range(len(entries) if isinstance(entries, list) else 0))


def _owners(data: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    """What has sources, apps and add-ons of its own: the tenants and the platform."""
    yield from (("tenants", name) for name in mapping_at(data, "tenants"))
    yield PLATFORM


def _apps(data: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    """The paths of all apps and add-ons, whether or not they fit the model."""
    yield from _of_tenants(data, "apps")
    yield from _of_platform(data, "addons")


def _addons(data: dict[str, Any]) -> Iterator[Path]:
    """The add-ons, and what overrides say of them."""
    for addon in _of_platform(data, "addons"):
        yield addon
        yield from ((*path, "addons", addon[-1]) for path in override_paths(data, ("platform",)))
        yield from override_paths(data, addon)


def _of_tenants(data: dict[str, Any], group: str) -> Iterator[tuple[str, ...]]:
    for tenant, written in mapping_at(data, "tenants").items():
        for name in mapping_at(written, group):
            yield "tenants", tenant, group, name


def _of_platform(data: dict[str, Any], group: str) -> Iterator[tuple[str, ...]]:
    yield from (("platform", group, name) for name in mapping_at(data, "platform", group))


def _findings(model: type[FluxBlock], block: dict[str, Any], at: Path) -> Iterator[Problem]:
    """The model has checked the keys that are its fields; all others are Flux's or unknown."""
    owned = {finding.path: finding for finding in _owned(model, block, at)}
    yield from owned.values()
    for kind, keys in model.parts.items():
        yield from check_part(kind, {key: block[key] for key in keys if key in block}, at)
    no_fluxs = {*model.owned, *model.foreign_keys()}
    written = _fluxs({key: value for key, value in block.items() if key not in no_fluxs}, model)
    for finding in check_part(model.flux_kind, written, at):
        top_level = finding.code == "unknown-key" and len(finding.path) == len(at) + 1
        if top_level:
            fix = fix_for_key(model, str(finding.path[-1]), block)
            yield unknown_key(finding.path, _known(model), fix)
        elif finding.path not in owned:
            yield finding


def _fluxs(written: dict[str, Any], model: type[Model]) -> dict[str, Any]:
    """What is written of Flux's own keys, without the values that the model checks."""
    left = {}
    choices = model.choices() if issubclass(model, FluxBlock) else {}
    for key, value in written.items():
        if key not in model.model_fields or (key in choices and isinstance(value, dict)):
            left[key] = value
        elif isinstance(value, dict) and model_at(model, (key,)) is PostBuild:
            left[key] = _fluxs(value, PostBuild)
    return left


def _owned(model: type[FluxBlock], block: dict[str, Any], at: Path) -> Iterator[Problem]:
    for name, reason in model.owned.items():
        first, _, second = name.partition(".")
        inner = block.get(first)
        if not second and first in block:
            yield owned_key((*at, first), reason, FOR_OWNED.get(first, ""))
        elif second and isinstance(inner, dict) and second in inner:
            yield owned_key((*at, first, second), reason)


def _known(model: type[FluxBlock]) -> list[str]:
    known = {*schema_of(model.flux_kind).spec["properties"], *model.model_fields, *model.foreign_keys()}
    return sorted(known - model.owned.keys())
