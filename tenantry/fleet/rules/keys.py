"""Rules about the keys of credentials and configs: Flux fails on one that it cannot use, after everything is created."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from tenantry.fleet.fleet import Fleet
from tenantry.kube.objects import REGISTRY_KEY
from tenantry.messages.data import mapping_at
from tenantry.messages.errors import Finding, Path
from tenantry.messages.placeholders import is_unfilled
from tenantry.messages.text import declared

# Flux's own check, in fluxcd/pkg/kustomize.
_VARIABLE = re.compile(r"[_A-Za-z][_A-Za-z0-9]*")
_VALUES_KEY = "values.yaml"
"""Where Flux looks for values unless it is told otherwise."""


class _Named(NamedTuple):
    """A reference to credentials or a config: its place, its content, the name, and the keys of the named entry."""

    at: Path
    entry: dict[str, Any]
    what: str
    keys: tuple[str, ...]


def substitutions_are_named_as_variables(fleet: Fleet) -> Iterator[Finding]:
    for named in _entries(fleet, "Kustomization", "postBuild", "substituteFrom"):
        for key in named.keys:
            if not _VARIABLE.fullmatch(key):
                yield Finding(
                    (*named.at, "name"),
                    "bad-substitution",
                    f"{named.what} has the key '{key}', which is not a valid variable name, so Flux would substitute nothing",
                    fix="declare the substitutions separately, with keys of letters, digits and '_'",
                )


def values_come_from_keys_that_are_there(fleet: Fleet) -> Iterator[Finding]:
    for named in _entries(fleet, "HelmRelease", "valuesFrom"):
        key = named.entry.get("valuesKey", _VALUES_KEY)
        if isinstance(key, str) and key not in named.keys and not is_unfilled(key):
            yield Finding(
                (*named.at, "valuesKey" if "valuesKey" in named.entry else "name"),
                "unknown-key-of-values",
                f"{named.what} has no key '{key}'",
                (declared("keys", key, named.keys),),
                fix="name another key with 'valuesKey', or declare this one",
            )


def keys_of_credentials(fleet: Fleet, at: tuple[str, ...], name: str) -> tuple[str, ...] | None:
    """The keys of the credentials that something at a path names; None: they are created elsewhere, or are not declared."""
    owner = fleet.document.platform if at[0] == "platform" else fleet.document.tenants[at[1]]
    secret = owner.credentials.get(name)
    return None if secret is None or secret.existing else tuple(secret.keys or ())


def _entries(fleet: Fleet, flux_kind: str, *path: str) -> Iterator[_Named]:
    """The entries of a list of references whose keys are known."""
    for at, model, block in fleet.blocks:
        listed = mapping_at(block, *path[:-1]).get(path[-1]) if model.flux_kind == flux_kind else None
        for index, entry in enumerate(listed if isinstance(listed, list) else ()):
            if isinstance(entry, dict) and (found := _keys(fleet, at, entry)):
                yield _Named((*at, *path, index), entry, *found)


def _keys(fleet: Fleet, at: Path, entry: dict[str, Any]) -> tuple[str, tuple[str, ...]] | None:
    """The named entry, in words, and its keys; None: it is created elsewhere or not declared."""
    owner = fleet.document.tenants.get(str(at[1])) if at[0] == "tenants" else fleet.document.platform
    name = entry.get("name")
    if owner is None or not isinstance(name, str):
        return None
    if entry.get("kind") == "ConfigMap":
        config = owner.configs.get(name)
        return (f"config '{name}'", tuple(config.data)) if config and config.data else None
    if entry.get("kind") != "Secret":
        return None  # a placeholder, which each placement fills in
    secret = owner.credentials.get(name)
    keys = (REGISTRY_KEY,) if secret and secret.registry else tuple(secret.keys or ()) if secret else ()
    return (f"credentials '{name}'", keys) if keys else None
