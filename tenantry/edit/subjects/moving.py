"""Moves: an app to another tenant, a tenant's apps to another file, a cluster to other environments or another group."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path as FilePath

from tenantry.edit.subjects.draft import Draft, Edit
from tenantry.edit.subjects.names import Kind
from tenantry.edit.subjects.references import Reference, Target, references
from tenantry.edit.subjects.subjects import existing, in_words, path_of, require, require_free
from tenantry.edit.transfer import move
from tenantry.grants.frames import PARTS
from tenantry.messages.data import mapping_at
from tenantry.messages.errors import Path, Refused
from tenantry.messages.text import format_path, listed

# --- an app to another tenant -----------------------------------------------------------------------------------------


def move_app(draft: Draft, text: str, to: str, *, with_sources: bool = False) -> Edit:
    """Raises: Refused: something refers to the app, or the other tenant lacks what the app refers to."""
    target = existing(draft, Kind.APP, text)
    owner = existing(draft, Kind.TENANT, to)
    moved = target._replace(owner=owner.name)
    require_free(draft, moved)
    _require_unreferenced(draft, target)
    notes = [
        note
        for kind in (Kind.SOURCE, Kind.APP, Kind.CREDENTIALS, Kind.CONFIG)
        for note in _bring(draft, kind, target, owner.name, with_sources=with_sources)
    ]
    at = path_of(target)
    if draft.value((*at, "clusters")) is None:
        notes.append(f"it has no selector of its own: that of tenant '{owner.name}' applies now")
    _transfer(draft, at, path_of(moved))
    return draft.edit(
        f"moved {in_words(target)} to tenant '{owner.name}'",
        notes,
        (
            f"nothing is handed over: it is installed for '{owner.name}', and uninstalled with its data for '{target.owner}'",
        ),
    )


def _require_unreferenced(draft: Draft, target: Target) -> None:
    if found := draft.references_to(target):
        places = "; ".join(f"{draft.place(file, each.path)} {format_path(each.path)}" for file, each in found[:5])
        raise Refused(f"{in_words(target)} is in use: {places}", "change these places first")


def _bring(draft: Draft, kind: Kind, app: Target, owner: str, *, with_sources: bool) -> list[str]:
    """Check that the other tenant has what an app refers to; sources can come along."""
    notes = []
    for name in dict.fromkeys(each.target.name for each in _inside(draft, path_of(app)) if each.target.kind is kind):
        here, there = Target(kind, name, app.owner), Target(kind, name, owner)
        if draft.value(path_of(there)) is None and kind is Kind.SOURCE and with_sources:
            notes.append(_copy_source(draft, here, there, app))
        elif draft.value(path_of(there)) is None:
            fix = "add --with-sources" if kind is Kind.SOURCE else "declare it there first"
            raise Refused(f"tenant '{owner}' has no {kind} '{name}', which app '{app.name}' refers to", fix)
        elif kind is not Kind.APP and draft.value(path_of(there)) != draft.value(path_of(here)):
            raise Refused(
                f"{kind} '{name}' of tenant '{owner}' is another one than that of tenant '{app.owner}'",
                f"rename one of them first: tenantry rename {kind} {owner}/{name} {owner}/NAME",
            )
    return notes


def _inside(draft: Draft, at: Path) -> list[Reference]:
    file = draft.holder(at)
    found = () if file is None else references(draft.data(file))
    return [each for each in found if each.path[: len(at)] == at]


def _copy_source(draft: Draft, here: Target, there: Target, app: Target) -> str:
    """Bring a source along. It stays behind only if another app of the tenant uses it."""
    for each in _inside(draft, path_of(here)):
        require(draft, each.target._replace(owner=there.owner))
    at = path_of(app)
    others = [each for _, each in draft.references_to(here) if each.path[: len(at)] != at]
    if others:
        draft.put(path_of(there), draft.value(path_of(here)))
        return f"copied {in_words(here)} to tenant '{there.owner}'"
    _transfer(draft, path_of(here), path_of(there))
    return f"moved {in_words(here)} with it"


def _transfer(draft: Draft, path: tuple[str, ...], to: tuple[str, ...], file: FilePath | None = None) -> None:
    """Move an entry with its comments; mappings that it leaves empty go."""
    source = draft.holder(path)
    assert source is not None, "the entry was found before"
    document = draft.documents[source]
    alone = len(mapping_at(document.data, *path[:-1])) == 1
    move(document, path, draft.documents[file or draft.file_for(to)], to)
    if alone and path[:-1] in _present(draft, source, path[:-1]):
        draft.unset(path[:-1], source, keep=2)


def _present(draft: Draft, file: FilePath, path: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """The path, if an empty mapping is left there."""
    above = mapping_at(draft.data(file), *path[:-1])
    return (path,) if path[-1] in above and not above[path[-1]] else ()


# --- a tenant's apps to another file -----------------------------------------------------------------------------------


def move_tenant(draft: Draft, name: str, to: FilePath) -> Edit:
    """Move what a team may declare itself into an included file, or back. The frame stays in the main file. Raises: Refused."""
    target = existing(draft, Kind.TENANT, name)
    at = path_of(target)
    if to not in draft.documents:
        raise Refused(
            f"{to} is not one of the fleet's files: {listed(draft.documents)}",
            f"create it with the line 'tenants: {{}}', and name it under 'include:' of {draft.main}",
        )
    source = next((file for file in draft.holders(at) if file != to and _parts(draft, file, at)), None)
    if source is None:
        raise Refused(f"nothing of tenant '{name}' can move to {to}", "its apps, sources and alerts are there already")
    parts = _parts(draft, source, at)
    for part in parts:
        move(draft.documents[source], (*at, part), draft.documents[to], (*at, part))
    if source != draft.main and not draft.value(at):
        draft.unset(at, source, keep=1)
    return draft.edit(f"moved {listed(parts)} of tenant '{name}' from {source} to {to}", _of_frame(draft, name, to))


def _parts(draft: Draft, file: FilePath, at: tuple[str, ...]) -> list[str]:
    there = mapping_at(draft.data(file), *at)
    return [key for key in there if key in PARTS]


def _of_frame(draft: Draft, name: str, to: FilePath) -> list[str]:
    return [] if to == draft.main else [f"the platform decides everything else of '{name}' in {draft.main}"]


# --- a cluster ---------------------------------------------------------------------------------------------------------


def move_cluster(draft: Draft, name: str, environments: Sequence[str], group: str | None) -> Edit:
    """Raises: Refused: the cluster manages an environment that it would leave, or a name is not declared."""
    target = existing(draft, Kind.CLUSTER, name)
    at, done = path_of(target), []
    if environments:
        _require_manager_stays(draft, name, environments)
        done.append(_into_environments(draft, at, environments))
    if group is not None:
        require(draft, Target(Kind.GROUP, group))
        file = draft.holder((*at, "group"))
        if file is None:
            draft.put((*at, "group"), group)
        else:
            draft.set((*at, "group"), group, file)
        done.append(f"group '{group}'")
    return draft.edit(
        f"moved cluster '{name}' to {' and '.join(done)}",
        (f"what the cluster sets itself takes precedence over group '{group}'",) if group else (),
    )


def _require_manager_stays(draft: Draft, name: str, environments: Sequence[str]) -> None:
    for environment in environments:
        require(draft, Target(Kind.ENVIRONMENT, environment))
    managed = [
        each for each in draft.names("environments") if draft.value(("environments", each, "management")) == name
    ]
    if gone := [each for each in managed if each not in environments]:
        raise Refused(
            f"cluster '{name}' manages environment '{gone[0]}'",
            f"keep it in there, or set another one: tenantry set environments.{gone[0]}.management NAME",
        )


def _into_environments(draft: Draft, at: tuple[str, ...], environments: Sequence[str]) -> str:
    path = (*at, "environments")
    file = draft.holder(path)
    if file is None:
        draft.put(path, list(environments))
    elif draft.value(path) == list(environments):
        raise Refused(f"cluster '{at[-1]}' is in {listed(environments)} already", "nothing has to change")
    else:
        draft.set(path, list(environments), file)
    return f"environment{'s' if len(environments) > 1 else ''} {listed(environments)}"
