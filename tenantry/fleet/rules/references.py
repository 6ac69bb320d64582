"""Rules about what sources, apps, alerts and receivers refer to: credentials, configs, other sources, and shared identities."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tenantry.fleet.blocks import alert_blocks, image_sources, receiver_blocks, source_blocks
from tenantry.fleet.fleet import Fleet
from tenantry.fleet.identity import borrowed
from tenantry.flux.references import included_sources, list_paths, references
from tenantry.grants.authors import GROUPS
from tenantry.messages.data import mapping_at, value_at
from tenantry.messages.errors import Finding, Path
from tenantry.messages.placeholders import is_unfilled
from tenantry.messages.text import declared
from tenantry.model import Alert, Provider


def references_name_what_is_declared(fleet: Fleet) -> Iterator[Finding]:
    """As written, so that a mistake elsewhere does not hide this one."""
    for path, group, name in _of_blocks(fleet):
        yield from undeclared(fleet, path, group, name)


def sources_name_declared_credentials(fleet: Fleet) -> Iterator[Finding]:
    for path, name in _of_sources(fleet):
        yield from undeclared(fleet, path, "credentials", name)


def alerts_name_declared_credentials(fleet: Fleet) -> Iterator[Finding]:
    for path, name in _of_alerts(fleet):
        yield from undeclared(fleet, path, "credentials", name)


def receivers_name_declared_credentials(fleet: Fleet) -> Iterator[Finding]:
    for path, name in _of_receivers(fleet):
        yield from undeclared(fleet, path, "credentials", name)


def names_of_attachments(fleet: Fleet) -> Iterator[tuple[tuple[str, ...], str, str]]:
    """All credentials and configs that anything names: their owner, their group and their name."""
    named = (*_of_sources(fleet), *_of_alerts(fleet), *_of_receivers(fleet))
    credentials = ((path, "credentials", name) for path, name in named)
    for path, group, name in (*_of_blocks(fleet), *credentials):
        yield _owner(path), group, name
    for path, model, block in fleet.blocks:
        for at in list_paths(model.flux_kind):
            for entry in value_at(block, at, ()):
                if is_unfilled(mapping_at(entry).get("kind")):
                    # It may be of either kind.
                    yield from ((_owner(path), group, str(entry.get("name"))) for group in GROUPS.values())


def _of_blocks(fleet: Fleet) -> Iterator[tuple[Path, str, str]]:
    for path, model, block in fleet.blocks:
        for kind in (model.flux_kind, *model.parts):
            for each in references(kind, block):
                # Another rule refuses keys that the author may not set.
                if each.path[0] not in model.owned:
                    yield (*path, *each.path), GROUPS[each.kind], each.name


def _of_sources(fleet: Fleet) -> Iterator[tuple[Path, str]]:
    places = (*_sources(fleet), *image_sources(fleet.source.data), ("platform", "chart"))
    for at in places:
        if isinstance(name := mapping_at(fleet.source.data, *at).get("credentials"), str):
            yield (*at, "credentials"), name


def _of_alerts(fleet: Fleet) -> Iterator[tuple[Path, str]]:
    for path, model, block in alert_blocks(fleet.source.data):
        if model is Alert and isinstance(name := block.get("credentials"), str):
            yield (*path, "credentials"), name


def _of_receivers(fleet: Fleet) -> Iterator[tuple[Path, str]]:
    for path, _, block in receiver_blocks(fleet.source.data):
        if isinstance(name := block.get("credentials"), str):
            yield (*path, "credentials"), name


def sources_include_declared_git_sources(fleet: Fleet) -> Iterator[Finding]:
    for at in _sources(fleet):
        for path, name in included_sources("GitRepository", fleet.raw(*at, "git")):
            yield from _not_included(fleet, at, (*at, "git", *path), name)


def tenants_do_not_borrow_the_controllers_identity(fleet: Fleet) -> Iterator[Finding]:
    """Flux's controllers can read objects of all teams. A source without its own credentials would use that access."""
    if fleet.document.platform.sharedIdentity:
        return
    for path, model, block in fleet.blocks:
        if path[0] != "platform":
            named = model is Provider and fleet.raw(*path[:-1]).get("credentials")
            yield from borrowed(model.flux_kind, {**block, "secretRef": named} if named else block, path)


def _sources(fleet: Fleet) -> Iterator[Path]:
    return (path[:-1] for path, _, _ in source_blocks(fleet.source.data))


def _owner(path: Path) -> tuple[str, ...]:
    """The owner of the credentials that something at a path may name."""
    return ("tenants", str(path[1])) if path[0] == "tenants" else ("platform",)


def undeclared(fleet: Fleet, at: Path, group: str, name: str) -> Iterator[Finding]:
    """A finding if what a path names is not declared; group: "credentials" or "configs"."""
    owner = _owner(at)
    known = fleet.names(*owner, group)
    if name not in known:
        whose = f"tenant '{owner[1]}'" if owner[0] == "tenants" else "the platform"
        yield Finding(
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


def _not_included(fleet: Fleet, at: Path, path: Path, name: str) -> Iterator[Finding]:
    known: dict[str, Any] = fleet.raw(*at[:-1]) if at[0] == "tenants" else {}
    git = {each for each, source in known.items() if isinstance(source, dict) and "git" in source}
    if name not in git:
        yield Finding(
            path,
            "unknown-source",
            f"'{name}' is not a 'git:' source declared beside this one",
            (declared("declared", name, git - {at[-1]}),),
            fix="declare it, or correct the name",
        )
