"""Marks of removal. They announce that a name goes, so nothing takes them to another name, where they would lift the protection."""

from __future__ import annotations

from collections.abc import Iterator

from tenantry.edit.editor import Editor
from tenantry.edit.subjects.names import Kind, Target
from tenantry.messages.errors import Path
from tenantry.messages.text import format_path

MARKS = ("removing", "offboarding")
_OF_TENANT = (("state",), ("apps", "*", "state"), ("namespaces", "*", "state"), ("overrides", "clusters", "*", "state"))


def drop_marks(editor: Editor, target: Target) -> list[str]:
    """Take the marks off an entry that has a new name, and off what belongs to it, in all files. Returns: a note for each."""
    notes = []
    for pattern in _places(target):
        for path in list(_matching(editor, pattern)):
            if (mark := editor.value(path, None)) in MARKS:
                editor.unset(path)
                notes.append(f"left out {format_path(path)}: {mark}, which announced the removal of the old name only")
    return notes


def _places(target: Target) -> Iterator[Path]:
    if target.kind in (Kind.APP, Kind.ADDON, Kind.CLUSTER):
        yield (*target.path, "state")
    if target.kind is Kind.CLUSTER:
        yield ("tenants", "*", "overrides", "clusters", target.name, "state")
    if target.kind is Kind.TENANT:
        yield from ((*target.path, *below) for below in _OF_TENANT)


def _matching(editor: Editor, pattern: Path) -> Iterator[Path]:
    """The paths that are there and match; "*" is any key."""
    if "*" not in pattern:
        if editor.files_with(pattern):
            yield pattern
        return
    at = pattern.index("*")
    above = [str(part) for part in pattern[:at]]
    for name in editor.names(*above):
        yield from _matching(editor, (*above, name, *pattern[at + 1 :]))
