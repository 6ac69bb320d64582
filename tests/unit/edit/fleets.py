"""The fleets that the tests of edits use: the examples, the repository's own, and one with included files."""

from __future__ import annotations

from pathlib import Path

from tenantry.edit.editor import Editor
from tenantry.fleet.fleet import Fleet
from tenantry.grants.frames import filled
from tenantry.load import fleet_of
from tenantry.source.include import read_all

ROOT = Path(__file__).parents[3]
FLEETS = {
    "repository": "tenants.yaml",
    "tasks": "tests/golden/tasks/fleet.yaml",
    "includes": "tests/golden/includes/tenants.yaml",
    **{each.parent.name: str(each.relative_to(ROOT)) for each in sorted(ROOT.glob("examples/*/tenants.yaml"))},
}
"""Fleets by name."""


def opened(name: str) -> Editor:
    return Editor(ROOT / FLEETS[name])


def checked(editor: Editor) -> Fleet:
    """The fleet as edited. Raises: InvalidFleet."""
    return fleet_of(filled(read_all(editor.main, editor.read)))


def texts(editor: Editor) -> dict[Path, bytes]:
    """All files as edited."""
    return {file: editor.read(file) for file in editor.documents}
