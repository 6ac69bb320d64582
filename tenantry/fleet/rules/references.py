"""Rules about what sources, apps, alerts and receivers refer to: credentials, configs and their keys, other sources, identities."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from tenantry.fleet import walk
from tenantry.fleet.apps import source_entry
from tenantry.fleet.blocks import chart_entries, source_entries
from tenantry.fleet.fleet import Fleet
from tenantry.flux.credentials import borrowed, forms, misfit, needed, use_of
from tenantry.flux.expressions import Misread
from tenantry.flux.references import included_sources, references
from tenantry.flux.texts import yaml_documents
from tenantry.grants.grants import GROUPS
from tenantry.kube.objects import REGISTRY_KEY
from tenantry.messages.data import mapping_at, value_at
from tenantry.messages.errors import Path, Problem
from tenantry.messages.placeholders import is_unfilled
from tenantry.messages.text import declared
from tenantry.model import Alert, Credentials, Provider, Receiver

_OF_ALL_TENANTS = ("defaults", "templates")
"""Where names are those of each tenant. The plan looks them up."""


def references_name_what_is_declared(fleet: Fleet) -> Iterator[Problem]:
    """As written, so that a mistake elsewhere does not hide this one."""
    for path, group, name in _of_blocks(fleet):
        yield from undeclared(fleet, path, group, name)
    for path, name in _of_credentials(fleet):
        yield from undeclared(fleet, path, "credentials", name)


def _of_blocks(fleet: Fleet) -> Iterator[tuple[Path, str, str]]:
    for path, model, block in fleet.blocks:
        if path[0] in _OF_ALL_TENANTS:
            continue
        for kind in (model.flux_kind, *model.parts):
            for reference in references(kind, block):
                # Another rule refuses keys that the author may not set.
                if reference.path[0] not in model.owned:
                    yield (*path, *reference.path), GROUPS[reference.kind], reference.name


def _of_credentials(fleet: Fleet) -> Iterator[tuple[Path, str]]:
    """The names of credentials beside the blocks of sources, of the platform's chart, of alerts and of receivers."""
    data = fleet.source.data
    sources = (at for at in source_entries(data) if at[:4] not in fleet.left_out)
    charts = (path for path, _ in chart_entries(data))
    notifications = (path for path, model, _ in fleet.blocks if model in (Alert, Receiver))
    for at in (*sources, *charts, *notifications):
        if isinstance(name := mapping_at(data, *at).get("credentials"), str):
            yield (*at, "credentials"), name


def sources_include_declared_git_sources(fleet: Fleet) -> Iterator[Problem]:
    for at in source_entries(fleet.source.data):
        for path, name in included_sources("GitRepository", fleet.raw(*at, "git")):
            yield from _not_included(fleet, at, (*at, "git", *path), name)


def tenants_do_not_borrow_the_controllers_identity(fleet: Fleet) -> Iterator[Problem]:
    """Flux's controllers can read objects of all teams. A source without its own credentials would use that access."""
    if fleet.document.platform.sharedIdentity:
        return
    for path, model, block in fleet.blocks:
        if path[0] != "platform":
            named = model is Provider and fleet.raw(*path[:-1]).get("credentials")
            yield from borrowed(model.flux_kind, {**block, "secretRef": named} if named else block, path)


def _owner(path: Path) -> tuple[str, ...]:
    """The owner of the credentials that something at a path may name."""
    return ("tenants", str(path[1])) if path[0] == "tenants" else ("platform",)


def undeclared(fleet: Fleet, at: Path, group: str, name: str, owner: tuple[str, ...] = ()) -> Iterator[Problem]:
    """A finding if what a path names is not declared; group: "credentials" or "configs"; owner: () for that of the path."""
    owner = owner or _owner(at)
    known = fleet.names(*owner, group)
    if name not in known:
        whose = f"tenant '{owner[1]}'" if owner[0] == "tenants" else "the platform"
        yield Problem(
            at,
            f"unknown-{group}",
            f"credentials '{name}' are not declared for {whose}"
            if group == "credentials"
            else f"config '{name}' is not declared for {whose}",
            (declared("declared", name, known), _why(group)),
            fix=f"declare it under '{'.'.join((*owner, group))}:', or correct the name",
        )


def _why(group: str) -> str:
    what = "Secret" if group == "credentials" else "ConfigMap"
    return f"only declared names are allowed: Flux can read any {what} in the namespace, such as a cluster's kubeconfig"


def _not_included(fleet: Fleet, at: Path, path: Path, name: str) -> Iterator[Problem]:
    known: dict[str, Any] = fleet.raw(*source_entry(at)[:-1]) if at[:2] != ("platform", "addons") else {}
    git = {name for name, source in known.items() if isinstance(source, dict) and "git" in source}
    if name not in git:
        yield Problem(
            path,
            "unknown-source",
            f"'{name}' is not a 'git:' source declared beside this one",
            (declared("declared", name, git - {at[-1]}),),
            fix="declare it, or correct the name",
        )


# Flux's own check, in fluxcd/pkg/kustomize.
_VARIABLE = re.compile(r"[_A-Za-z][_A-Za-z0-9]*")
_VALUES_KEY = "values.yaml"
"""Where Flux looks for values by default."""


class _Named(NamedTuple):
    """A reference to credentials or a config: its place, its content, the name, and the keys of the named entry."""

    at: Path
    entry: dict[str, Any]
    what: str
    keys: tuple[str, ...]


def substitutions_are_named_as_variables(fleet: Fleet) -> Iterator[Problem]:
    for named in _entries(fleet, "Kustomization", "postBuild", "substituteFrom"):
        for key in named.keys:
            if not _VARIABLE.fullmatch(key):
                yield Problem(
                    (*named.at, "name"),
                    "bad-substitution",
                    f"{named.what} has the key '{key}', which is not a valid variable name, so Flux would substitute nothing",
                    fix="declare the substitutions separately, with keys of letters, digits and '_'",
                )


def values_come_from_declared_keys(fleet: Fleet) -> Iterator[Problem]:
    for named in _entries(fleet, "HelmRelease", "valuesFrom"):
        key = named.entry.get("valuesKey", _VALUES_KEY)
        if isinstance(key, str) and key not in named.keys and not is_unfilled(key):
            yield Problem(
                (*named.at, "valuesKey" if "valuesKey" in named.entry else "name"),
                "unknown-key-of-values",
                f"{named.what} has no key '{key}'",
                (declared("keys", key, named.keys),),
                fix="name another key with 'valuesKey', or declare this one",
            )


def misfitting_keys(
    credentials: Mapping[str, Credentials], kind: str, spec: Mapping[str, Any], origin: Callable[[Path], Path]
) -> Iterator[Problem]:
    """Credentials that do not have what Flux reads where a spec names them. `existing` ones may have everything.

    Args: credentials: of the spec's owner. origin: where in the document the value at a path of the spec is written.
    """
    for reference in references(kind, dict(spec)):
        use, declared_as = use_of(kind, spec, reference.path[:-1]), credentials.get(reference.name)
        if use is None or declared_as is None or declared_as.existing or reference.kind != "Secret":
            continue
        url = str(spec.get("url", ""))
        if mistake := misfit(use, reference.name, declared_as.keys or (), declared_as.registry or "", url):
            yield Problem(origin(reference.path), "wrong-keys", mistake.message, fix=mistake.fix)
    if missing := needed(kind, spec):
        path, use = missing
        message = f"{use.what} needs credentials, of which Flux reads {use.words}"
        where = (
            "credentials: NAME' beside the block" if path == ("secretRef",) else "secretRef: {name: NAME}' in 'verify:'"
        )
        yield Problem(origin(("url",)), "missing-credentials", message, fix=f"declare {forms(use)}, and write '{where}")


def values_of_configs_are_yaml(fleet: Fleet) -> Iterator[Problem]:
    """What an app takes as a whole is parsed by helm-controller. A text with placeholders is something else on each cluster."""
    problems: dict[Path, Problem] = {}
    for named in _entries(fleet, "HelmRelease", "valuesFrom"):
        key, name = named.entry.get("valuesKey", _VALUES_KEY), named.entry["name"]
        at = (*_owner(named.at), "configs", name, "data", key)
        text = value_at(fleet.source.data, at)
        if named.entry.get("kind") != "ConfigMap" or "targetPath" in named.entry or not isinstance(text, str):
            continue
        documents = None if is_unfilled(text) else yaml_documents(text)
        if isinstance(documents, Misread):
            problems[at] = Problem(at, "bad-yaml", f"'{key}' of {named.what} {documents.message}", fix=documents.fix)
        elif documents and not (len(documents) == 1 and isinstance(documents[0], dict | None)):
            message = f"'{key}' of {named.what} is no mapping, and an app takes its values from it"
            problems[at] = Problem(
                at, "bad-yaml", message, fix="write values, such as 'replicas: 2', or name a 'targetPath:'"
            )
    yield from problems.values()


def keys_of_credentials(fleet: Fleet, at: tuple[str, ...], name: str) -> tuple[str, ...] | None:
    """The keys of the credentials that something at a path names; None: they are created elsewhere, or are not declared."""
    secret = walk.owner_of(fleet, at).credentials.get(name)
    return None if secret is None or secret.existing else tuple(secret.keys or ())


def _entries(fleet: Fleet, flux_kind: str, *path: str) -> Iterator[_Named]:
    """The entries of a list of references whose keys are known."""
    for at, model, block in fleet.blocks:
        if at[0] in _OF_ALL_TENANTS:
            continue
        listed = mapping_at(block, *path[:-1]).get(path[-1]) if model.flux_kind == flux_kind else None
        for index, entry in enumerate(listed if isinstance(listed, list) else ()):
            if isinstance(entry, dict) and (named_keys := _keys(fleet, at, entry)):
                yield _Named((*at, *path, index), entry, *named_keys)


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
