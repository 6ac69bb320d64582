"""Moves: an app to another tenant, or a tenant's apps to another file."""

from __future__ import annotations

from pathlib import Path as FilePath

from tenantry.edit.editor import Editor
from tenantry.edit.subjects.adding import Edit
from tenantry.edit.subjects.names import Kind, Target
from tenantry.edit.subjects.references import existing, file_named, new, references_in, references_to, require
from tenantry.grants.frames import PARTS
from tenantry.messages.data import ABSENT, mapping_at
from tenantry.messages.errors import Path, Refused
from tenantry.messages.text import format_path, listed

_REFERRED = (Kind.SOURCE, Kind.APP, Kind.CREDENTIALS, Kind.CONFIG)
"""What an app refers to in its tenant."""


def move_app(editor: Editor, text: str, to: str, *, with_sources: bool = False) -> Edit:
    """Raises: Refused: something refers to the app, or the other tenant lacks what the app refers to."""
    app = existing(editor, Kind.APP, text)
    owner = existing(editor, Kind.TENANT, to).name
    moved = new(editor, Kind.APP, f"{owner}/{app.name}")
    if users := references_to(editor, app):
        places = (f"{editor.place(user.path, file)} {format_path(user.path)}" for file, user in users[:5])
        raise Refused(f"{app} is in use: {'; '.join(places)}", "change these places first")
    needed = dict.fromkeys(
        reference.target for reference in references_in(editor, app.path) if reference.target.kind in _REFERRED
    )
    notes = [
        note
        for target in sorted(needed, key=lambda target: _REFERRED.index(target.kind))
        for note in _bring(editor, target, target._replace(owner=owner), app, with_sources=with_sources)
    ]
    if editor.value((*app.path, "clusters")) is ABSENT:
        notes.append(f"it has no selector of its own: that of tenant '{owner}' applies now")
    _transfer(editor, app.path, moved.path)
    hint = f"nothing is handed over: it is installed for '{owner}', and uninstalled with its data for '{app.owner}'"
    return Edit(f"moved {app} to tenant '{owner}'", notes, [hint])


def _bring(editor: Editor, here: Target, there: Target, app: Target, *, with_sources: bool) -> list[str]:
    """Check that the other tenant has what an app refers to; sources can come along."""
    own, other = editor.value(here.path), editor.value(there.path)
    if other is ABSENT and here.kind is Kind.SOURCE and with_sources:
        return [_copy_source(editor, here, there, app)]
    if other is ABSENT:
        fix = "add --with-sources" if here.kind is Kind.SOURCE else "declare it there first"
        message = f"tenant '{there.owner}' has no {here.kind} '{here.name}', which app '{app.name}' refers to"
        raise Refused(message, fix)
    if here.kind is not Kind.APP and own != other:
        raise Refused(
            f"{here.kind} '{here.name}' of tenant '{there.owner}' is another one than that of tenant '{here.owner}'",
            f"rename one of them first: tenantry rename {here.kind} {there.owner}/{here.name} {there.owner}/NAME",
        )
    return []


def _copy_source(editor: Editor, here: Target, there: Target, app: Target) -> str:
    """Bring a source along. It stays behind only if another app of the tenant uses it."""
    for reference in references_in(editor, here.path):
        require(editor, reference.target._replace(owner=there.owner))
    at = app.path
    if any(reference.path[: len(at)] != at for _, reference in references_to(editor, here)):
        editor.set(there.path, editor.value(here.path))
        return f"copied {here} to tenant '{there.owner}'"
    _transfer(editor, here.path, there.path)
    return f"moved {here} with it"


def _transfer(editor: Editor, path: Path, to: Path) -> None:
    """Move an entry with its comments. The mapping that it leaves empty goes."""
    source = editor.file_of(path)
    editor.move(path, to)
    if not mapping_at(editor.documents[source].data, *path[:-1]):
        editor.unset(path[:-1], file=source)


def move_tenant(editor: Editor, name: str, to: FilePath) -> Edit:
    """Move what a team may declare itself into an included file, or back. The frame stays in the main file. Raises: Refused."""
    at = existing(editor, Kind.TENANT, name).path
    target = file_named(editor, to)
    parts = {
        file: [key for key in mapping_at(editor.documents[file].data, *at) if key in PARTS]
        for file in editor.files_with(at)
        if file != target
    }
    source = next((file for file, keys in parts.items() if keys), None)
    if source is None:
        message = f"nothing of tenant '{name}' can move to {target}"
        raise Refused(message, "its apps, sources and alerts are there already")
    for key in parts[source]:
        editor.move((*at, key), (*at, key), source=source, target=target)
    if source != editor.main and not mapping_at(editor.documents[source].data, *at):
        editor.unset(at, file=source)
    framed = [] if target == editor.main else [f"the platform decides everything else of '{name}' in {editor.main}"]
    return Edit(f"moved {listed(parts[source])} of tenant '{name}' from {source} to {target}", framed)
