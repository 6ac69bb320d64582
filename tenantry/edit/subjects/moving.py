"""Moves: an app to another tenant, or a tenant's apps to another file."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path as FilePath
from typing import Any

from tenantry.edit.editor import Editor
from tenantry.edit.subjects.adding import Edit
from tenantry.edit.subjects.granting import needed_grants
from tenantry.edit.subjects.marks import drop_marks
from tenantry.edit.subjects.names import Kind, Target
from tenantry.edit.subjects.references import existing, file_named, new, references_in, references_to, require
from tenantry.grants.frames import PARTS
from tenantry.load import load_fleet
from tenantry.messages.data import ABSENT, mapping_at
from tenantry.messages.errors import InvalidFleet, Path, Refused
from tenantry.messages.text import format_path, listed
from tenantry.source.include import may_speak_of

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
    notes = [
        note
        for target in needed_by(editor, app)
        for note in bring(editor, target, target._replace(owner=owner), app, with_sources=with_sources)
    ]
    if editor.value((*app.path, "clusters")) is ABSENT:
        notes.append(f"it has no selector of its own: that of tenant '{owner}' applies now")
    spaces = editor.names("tenants", app.owner, "namespaces")
    apart = any(editor.value((*app.path, kind, "targetNamespace"), None) in spaces for kind in ("helm", "kustomize"))
    relocate(editor, app.path, moved.path)
    notes += drop_marks(editor, moved)
    hint = f"nothing is handed over: it is installed for '{owner}', and uninstalled with its data for '{app.owner}'"
    if apart:
        hint += f"; to keep what runs: undo this, and type `tenantry transfer app {app.owner}/{app.name} {owner}`"
    return Edit(f"moved {app} to tenant '{owner}'", notes, [hint])


def needed_by(editor: Editor, app: Target) -> list[Target]:
    """What an app refers to in its tenant, sources first."""
    found = dict.fromkeys(reference.target for reference in references_in(editor, app.path))
    return sorted((each for each in found if each.kind in _REFERRED), key=lambda each: _REFERRED.index(each.kind))


def bring(editor: Editor, here: Target, there: Target, app: Target, *, with_sources: bool) -> list[str]:
    """Check that the other tenant has what an app refers to; sources can come along."""
    own, other = editor.value_or_of_class(here.path), editor.value_or_of_class(there.path)
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
    if editor.value(here.path) is ABSENT:
        editor.set(there.path, editor.value_or_of_class(here.path))
        return f"copied {here}, which it has from its class, to tenant '{there.owner}'"
    if any(reference.path[: len(at)] != at for _, reference in references_to(editor, here)):
        editor.set(there.path, editor.value(here.path))
        return f"copied {here} to tenant '{there.owner}'"
    relocate(editor, here.path, there.path)
    return f"moved {here} with it"


def relocate(editor: Editor, path: Path, to: Path) -> None:
    """Move an entry with its comments. The mapping that it leaves empty goes."""
    source = editor.file_of(path)
    editor.move(path, to)
    if not mapping_at(editor.documents[source].data, *path[:-1]):
        editor.unset(path[:-1], file=source)


def move_tenant(editor: Editor, name: str, to: FilePath) -> Edit:
    """Move what a team may declare itself into an included file, or back. The frame stays in the main file.

    A file that is not there is made, and included; and the tenant is granted what moves. Raises: Refused; InvalidFleet.
    """
    at = existing(editor, Kind.TENANT, name).path
    editor.refuse_row(at)
    notes: list[str] = []
    known = (file for file in editor.documents if file.resolve() == to.resolve())
    target = next(known, None) or _new_file(editor, name, to, notes)
    parts = {
        file: [key for key in mapping_at(editor.documents[file].data, *at) if key in PARTS]
        for file in editor.files_with(at)
        if file != target
    }
    source = next((file for file, keys in parts.items() if keys), None)
    if source is None:
        message = f"nothing of tenant '{name}' can move to {target}"
        raise Refused(message, "its apps, sources and alerts are there already")
    if target != editor.main:
        notes += _grant(editor, name, {key: editor.documents[source].data[at[0]][name][key] for key in parts[source]})
    for key in parts[source]:
        editor.move((*at, key), (*at, key), source=source, target=target)
    if source != editor.main and not mapping_at(editor.documents[source].data, *at):
        editor.unset(at, file=source)
    framed = [] if target == editor.main else [f"the platform decides everything else of '{name}' in {editor.main}"]
    done = f"moved {listed(parts[source])} of tenant '{name}' from {source} to {target}"
    return Edit(done, [*notes, *framed], same_objects=True)


def _new_file(editor: Editor, tenant: str, to: FilePath, notes: list[str]) -> FilePath:
    """Make a file for a tenant, and include it. Raises: Refused."""
    root = editor.main.parent
    if to.suffix not in _YAML:
        raise _no_file(editor, tenant, to)
    if to.exists():
        file_named(editor, to)  # which refuses it
    try:
        relative = to.resolve().relative_to(root.resolve())
    except ValueError:
        raise Refused(f"{to} is not below the directory of {editor.main}", "choose a file there") from None
    file = root / relative
    pattern = relative.as_posix()
    allowed = may_speak_of(editor.value(("include",), []), pattern, tenant)
    if allowed is False:
        message = f"'include' of {editor.main} takes {pattern}, but not for tenant '{tenant}'"
        raise Refused(message, f"name the file after it: {to.with_name(f'{tenant}{to.suffix}')}")
    notes.append(f"made {file}")
    if allowed is None:
        beside = list(file.parent.iterdir()) if file.parent.is_dir() else []
        alone = relative.parent != FilePath() and not any(each.suffix in _YAML for each in beside)
        if file.stem != tenant:
            entry: Any = {"tenants": pattern, "of": [tenant]}
        else:
            entry = (
                f"{relative.parent.as_posix()}/*{relative.suffix}" if alone and relative.suffix in _YAML else pattern
            )
        editor.add(("include",), None, entry, file=editor.main)
        notes.append(f"added to include: {entry if isinstance(entry, str) else pattern}")
    editor.create(file, f"{_schema_comment(editor, file)}tenants: {{}}\n")
    return file


def _no_file(editor: Editor, tenant: str, to: FilePath) -> Refused:
    """The error for what is not the name of a YAML file."""
    takes = f"--to takes a file such as tenants.d/{tenant}.yaml"
    if str(to) not in editor.names("clusters"):
        return Refused(
            f"'{to}' is not the name of a YAML file: {takes}",
            f"tenantry move tenant {tenant} --to {to.with_suffix('.yaml')}",
        )
    return Refused(
        f"'{to}' is a cluster, and {takes}",
        f"to move the tenant to another cluster, first let it run on both: `tenantry set 'tenants.{tenant}.clusters.names[]' {to}`,"
        f" and `tenantry set tenants.{tenant}.overrides.clusters.OLD.state removing`; after `tenantry up`:"
        f" `tenantry remove placement {tenant} OLD`, where OLD is the cluster that it leaves",
    )


_YAML = (".yaml", ".yml")
_SCHEMA = re.compile(r"^# yaml-language-server: \$schema=(\S*)$", re.MULTILINE)
_INCLUDED_SCHEMA = "tenants-included.schema.json"


def _schema_comment(editor: Editor, file: FilePath) -> str:
    """The first line of a tenant's file, for editors, if the main file has one, with the schema of included files beside it."""
    root = editor.main.parent
    found = _SCHEMA.search(editor.documents[editor.main].text)
    if found is None or not (schema := (root / found[1]).with_name(_INCLUDED_SCHEMA)).is_file():
        return ""
    return f"# yaml-language-server: $schema={os.path.relpath(schema, file.parent)}\n"


def _grant(editor: Editor, tenant: str, entry: Mapping[str, Any]) -> Iterator[str]:
    """Write the grants that a tenant's own file needs to say what moves. Yields: a note for each."""
    try:
        fleet = load_fleet(editor.main, editor.read_before)
    except InvalidFleet:
        if editor.created:
            raise
        return  # an edit may be what corrects the fleet
    at = ("tenants", tenant, "grants")
    own, shared = fleet.raw(*at), fleet.raw("defaults", "grants")
    needed = needed_grants(fleet, tenant, entry)
    if needed:
        editor.set(at, own | needed, file=editor.main)
    for key, value in needed.items():
        yield from _told(key, value, own.get(key) or shared.get(key))


def _told(key: str, value: Any, before: Any) -> Iterator[str]:
    match value:
        case list():
            new = [each for each in value if not (isinstance(before, list) and each in before)]
            yield f"granted {key}: {', '.join(new)}"
        case {"names": names}:
            yield f"granted {key}: {listed(names)}; clusters that are added later are not granted"
        case dict():
            old = before if isinstance(before, dict) else {}
            yield from (f"granted {key}.{inner}: {each}" for inner, each in value.items() if old.get(inner) != each)
        case _:
            yield f"granted {key}: {value}"
