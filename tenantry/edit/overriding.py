"""Values for an environment or for clusters alone: in an override with exactly this `when`, or in a new one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path as FilePath
from typing import Any

from tenantry.edit.document import nested
from tenantry.edit.editor import Editor
from tenantry.messages.data import ABSENT, mapping_at, value_at
from tenantry.messages.errors import Path, Refused
from tenantry.messages.text import format_path
from tenantry.model import When

Condition = dict[str, Any]
"""A `when` as the file says it."""


def split(path: Path) -> tuple[Path, Path]:
    """The entry whose overrides hold a value at a path, and the path of the value in such an override.

    Raises: Refused: nothing at the path can differ between environments or clusters.
    """
    if any(isinstance(part, int) for part in path):
        whole = path[: next(index for index, part in enumerate(path) if isinstance(part, int))]
        message = f"an override replaces the list '{format_path(whole)}' as a whole"
        raise Refused(message, f"set all of its entries: '{format_path(whole)}'")
    match path:
        case ("tenants", _, "apps", _, _, *_):
            return path[:4], path[4:]
        case ("platform", "addons", _, _, *_) | ("templates", "tenants", _, _, *_):
            return path[:3], path[3:]
        case ("tenants", _, _, *_):
            return path[:2], path[2:]
        case ("defaults" | "platform", _, *_):
            return path[:1], path[1:]
    message = f"'{format_path(path)}' is the same in all environments and on all clusters"
    raise Refused(message, "name a value of a tenant, an app, an add-on, the platform, `defaults` or a template")


def override(editor: Editor, path: Path, when: Condition, value: Any) -> Path:
    """Write a value that holds where `when` says. Returns: the path where it stands.

    A value that is there is changed where it stands. A new override comes last, or, if it names no clusters, behind the last one
    that names none: clusters are more specific.
    """
    if said := next(_said(editor, path, when), None):
        file, at = said
        editor.set(at, value, file=file)
        return at
    holder, below = split(path)
    file = editor.file_of(path)  # what a team's file declares is overridden there
    entries = _entries(editor, file, holder)
    same = [index for index, entry in enumerate(entries) if mapping_at(entry, "when") == when]
    if same:
        at = (*holder, "overrides", same[-1], *below)
        editor.set(at, value, file=file)
        return at
    general = [index for index, entry in enumerate(entries) if "clusters" not in mapping_at(entry, "when")]
    place = len(entries) if "clusters" in when else general[-1] + 1 if general else 0
    new = {"when": when, **nested(below, value)}
    editor.set((*holder, "overrides"), [*entries[:place], new, *entries[place:]], file=file)
    return (*holder, "overrides", place, *below)


def withdraw(editor: Editor, path: Path, when: Condition) -> Path:
    """Remove such a value. Returns: the path where it stood. Raises: Refused: there is none."""
    if said := next(_said(editor, path, when), None):
        file, at = said
        editor.unset(at, file=file)
        return at
    raise Refused(f"no override sets '{format_path(path)}' for {When.model_validate(when).description}")


def _said(editor: Editor, path: Path, when: Condition) -> Iterator[tuple[FilePath, Path]]:
    """Where overrides with exactly this `when` set a value, the one that prevails first.

    What belongs to an app stands in the app's own overrides, or in those of its tenant.
    """
    holder, below = split(path)
    owner = path[:2] if path[0] == "tenants" else path[:1]
    of_owner = [(owner, path[len(owner) :])] if owner != holder and path[0] != "templates" else []
    for at, inner in [(holder, below), *of_owner]:
        for file in reversed([*editor.documents]):
            for index, entry in reversed([*enumerate(_entries(editor, file, at))]):
                if mapping_at(entry, "when") == when and value_at(entry, inner, ABSENT) is not ABSENT:
                    yield file, (*at, "overrides", index, *inner)


def _entries(editor: Editor, file: FilePath, holder: Path) -> list[Any]:
    entries = value_at(editor.documents[file].data, (*holder, "overrides"))
    return entries if isinstance(entries, list) else []
