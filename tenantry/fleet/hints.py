"""What an author probably meant by a key or a value that does not fit, as the fix of a finding.

Called by: `shape` for the model's keys, `blocks` for Flux's.
Never: decides whether something is wrong, or quotes what may be a secret.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from tenantry.flux.schemas import schema_of
from tenantry.messages.data import mapping_at
from tenantry.messages.errors import Path, Problem
from tenantry.messages.problems import missing_key
from tenantry.messages.redact import is_sensitive, kind_of, shorten
from tenantry.model import (
    App,
    AppPatch,
    ChartDirectory,
    Cluster,
    Credentials,
    FluxBlock,
    Git,
    GitRef,
    HelmPatch,
    KustomizePatch,
    Model,
    Oci,
    OciRef,
    Provider,
    Selector,
    Source,
    Tenant,
)
from tenantry.model.document import SettingsPatch
from tenantry.model.tenancy import Subject

_PLAIN = re.compile(r"[A-Za-z0-9*./][\w.+/@-]{0,59}|https?://[\w.:/-]{1,60}")
"""What needs no quotes in YAML, is short, and holds no user in front of a host."""
_BLOCKS: dict[str, type[FluxBlock]] = {"kustomize": KustomizePatch, "helm": HelmPatch}
_REFS: dict[type[Model], type[Model]] = {Git: GitRef, Oci: OciRef, ChartDirectory: GitRef}
_LOGIN = ("username", "password", "token", "identity", "bearerToken")
_ON_THE_APP = "set it on the app itself, because overrides cannot change it"
_MOVED: dict[type[Model], dict[str, str]] = {
    AppPatch: dict.fromkeys(("state", "clusters", "environments", "imageAutomation"), _ON_THE_APP),
    SettingsPatch: {
        **dict.fromkeys(("kustomize", "helm"), "put it into the overrides of an app: 'apps: {NAME: {overrides: ...}}'"),
        "state": "set it on the tenant, or for one cluster: 'overrides: {clusters: {NAME: {state: offboarding}}}'",
        **dict.fromkeys(
            ("clusters", "environments", "grants"), "set it outside of 'overrides', which cannot change it"
        ),
    },
    Tenant: {
        "kustomize": "put it into an app: 'apps: {NAME: {kustomize: ...}}'",
        "helm": "put it into an app: 'apps: {NAME: {helm: ...}}'",
        "namespace": "set it in the environment, for all tenants: 'namespace: \"{tenant}\"'",
    },
    KustomizePatch: {"namespace": "write 'targetNamespace'"},
    HelmPatch: {
        "namespace": "write 'targetNamespace'",
        "path": "write 'chart', which takes a directory of a Git source",
    },
}


def fix_for_key(model: type[Model] | None, key: str, beside: Mapping[str, Any]) -> str:
    """Where a key belongs that its mapping does not take; "" if that is not known.

    Args: model: of the mapping; beside: the whole mapping as written.
    """
    if model is None:
        return ""
    if fix := next((moved[key] for known, moved in _MOVED.items() if issubclass(model, known) and key in moved), ""):
        return fix
    if issubclass(model, Credentials):
        keys = ", ".join(sorted(each for each in beside if each in _LOGIN)) or "username, password"
        return f"values never stand in the file: write 'keys: [{keys}]'"
    if issubclass(model, App | AppPatch):
        return _block_of(key, beside)
    return _of_source(model, key, beside)


def _block_of(key: str, beside: Mapping[str, Any]) -> str:
    """Under which block a key of an app belongs."""
    written = [name for name in _BLOCKS if name in beside] or list(_BLOCKS)
    for name in (*written, *_BLOCKS):
        if key == "namespace":
            return f"use 'targetNamespace' under '{name}:'"
        block = _BLOCKS[name]
        if key in block.model_fields or key in schema_of(block.flux_kind).spec["properties"]:
            return f"'{key}' belongs under '{name}:'"
    return ""


def _of_source(model: type[Model], key: str, beside: Mapping[str, Any]) -> str:
    for block, ref in _REFS.items():
        if issubclass(model, block) and key in ref.model_fields:
            value = _quoted(beside[key], ()) if "ref" not in beside else "..."
            return f"write 'ref: {{{key}: {value}}}'"
    if not issubclass(model, FluxBlock):
        return ""
    if key in _LOGIN:
        return "values never stand in the file: declare 'credentials:', and name them beside the block"
    return "put it beside the block, not into it" if key == "credentials" else ""


def repeated(known: tuple[Problem, ...]) -> frozenset[Problem]:
    """Findings that would repeat known ones: a `branch:` beside `url:` is also a missing `ref:`."""
    keys = {*GitRef.model_fields, *OciRef.model_fields}
    return frozenset(
        missing_key(each.path[:-1], "ref") for each in known if each.code == "unknown-key" and each.path[-1] in keys
    )


def fix_for_mapping(model: type[Model] | None, path: Path, value: Any) -> str:
    """What to write where a mapping is expected and text or a list was found.

    Args: model: of the mapping; None: its keys are names.
    """
    if not value or not isinstance(value, str | list):
        return ""
    if model is None:
        return _of_names(path, value)
    meant = _meant(model, path, value)
    return f"write {{{meant}}}" if meant else ""


def _of_names(path: Path, value: Any) -> str:
    """A mapping of names to entries, written as a list of names, or of entries that hold their names."""
    listed = value if isinstance(value, list) else value.split(",") if path[-1] in _OF_EMPTY else ()
    texts = [each.strip() if isinstance(each, str) else each for each in listed]
    named = [mapping_at({"": each}, "").get("name", "") if isinstance(each, dict) else each for each in texts]
    names = [name for each in named if (name := _quoted(each, path)) != "..."] or ["NAME"]
    entry = "{}" if path[-1] in _OF_EMPTY and names != ["NAME"] else "..."
    return f"write a mapping: '{path[-1]}: {{{', '.join(f'{name}: {entry}' for name in names)}}}'"


_OF_EMPTY = ("namespaces",)
"""Keys whose entries need not say anything."""


def _meant(model: type[Model], path: Path, value: Any) -> str:
    """The keys and values of the mapping that text or a list probably stands for."""
    one = _quoted(value, path)
    several = ", ".join(_quoted(each, path) for each in value) if isinstance(value, list) else one
    if issubclass(model, Selector):
        return "all: true" if value in ("all", "*", ["*"], ["all"]) else f"names: [{several}]"
    if issubclass(model, Cluster):
        return f"environments: [{several}]"
    if issubclass(model, Credentials):
        return "keys: [username, password]"
    if issubclass(model, Source):
        return "git: {url: ..., ref: {branch: main}}"
    if isinstance(value, list):
        return ""
    for kind, key in _FIRST.items():
        if issubclass(model, kind):
            return f"{key}: {one}"
    first, *rest = [name for name, field in model.model_fields.items() if field.is_required()] or [""]
    return ", ".join([f"{first}: {one}", *(f"{name}: ..." for name in rest)]) if first else ""


_FIRST: dict[type[Model], str] = {
    Subject: "user",
    GitRef: "branch",
    OciRef: "tag",
    Provider: "type",
    KustomizePatch: "path",
    HelmPatch: "chart",
}
"""The key that a single word probably stands for, of models that require none."""


def _quoted(value: Any, path: Path) -> str:
    """A value as the fix may repeat it; "..." for what is long, needs quotes or may be a secret."""
    sensitive = any(is_sensitive(part) for part in path[-3:] if isinstance(part, str))
    if sensitive or not isinstance(value, str) or not _PLAIN.fullmatch(value) or kind_of(value):
        return "..."
    return value if value == shorten(value) else "..."
