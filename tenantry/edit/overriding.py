"""Values for an environment or for clusters alone: in the last override with exactly this `when`, or in a new one."""

from __future__ import annotations

from typing import Any

from tenantry.edit.document import nested
from tenantry.edit.editor import Editor
from tenantry.messages.data import ABSENT, mapping_at, value_at
from tenantry.messages.errors import Path, Refused
from tenantry.messages.text import format_path

When = dict[str, Any]


def split(path: Path) -> tuple[Path, Path]:
    """The entry whose overrides hold a value at a path, and the path of the value in such an override.

    Raises: Refused: nothing at the path can differ between environments or clusters.
    """
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


def index_of(editor: Editor, holder: Path, when: When) -> int | None:
    """The last override of an entry with exactly this `when`; None: it has none."""
    entries = editor.value((*holder, "overrides"), [])
    same = [index for index, each in enumerate(_entries(entries)) if mapping_at(each, "when") == when]
    return same[-1] if same else None


def override(editor: Editor, path: Path, when: When, value: Any) -> Path:
    """Write a value that holds where `when` says. Returns: the path where it stands.

    A new override comes last, or before the first that names clusters if it names none: clusters are more specific.
    """
    holder, below = split(path)
    index = index_of(editor, holder, when)
    if index is not None:
        editor.set((*holder, "overrides", index, *below), value)
        return (*holder, "overrides", index, *below)
    entries = _entries(editor.value((*holder, "overrides"), []))
    of_clusters = [place for place, each in enumerate(entries) if "clusters" in mapping_at(each, "when")]
    place = of_clusters[0] if of_clusters and "clusters" not in when else len(entries)
    entry = {"when": when, **nested(below, value)}
    editor.set((*holder, "overrides"), [*entries[:place], entry, *entries[place:]])
    return (*holder, "overrides", place, *below)


def withdraw(editor: Editor, path: Path, when: When) -> Path:
    """Remove such a value, and the override with it if that is left with nothing. Raises: Refused: there is none."""
    holder, below = split(path)
    index = index_of(editor, holder, when)
    at: Path = (*holder, "overrides", -1 if index is None else index)
    entry = editor.value(at, ABSENT) if index is not None else ABSENT
    if value_at(entry, below, ABSENT) is ABSENT:
        raise Refused(f"no override with this 'when' sets '{format_path(path)}'")
    editor.unset((*at, *below))
    if set(mapping_at(editor.value((*holder, "overrides"), [])[at[-1]])) == {"when"}:
        editor.unset(at)
    return (*at, *below)


def _entries(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
