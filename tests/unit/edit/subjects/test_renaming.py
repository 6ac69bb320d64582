"""A rename changes the entry and every reference to it, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tenantry.edit.editor import Editor
from tenantry.edit.subjects.names import Kind, Target
from tenantry.edit.subjects.references import declared_in, references_to
from tenantry.edit.subjects.renaming import mentions, rename
from tenantry.messages.errors import Refused
from tests.unit.edit.subjects.fleets import FLEETS, checked, opened, spelled, texts


def names(fleet: str) -> Iterator[Target]:
    """Every name that a fleet declares."""
    editor = opened(fleet)
    found = (target for document in editor.documents.values() for _, target in declared_in(document.data))
    yield from dict.fromkeys(found)


def named_after(editor: Editor, target: Target) -> bool:
    """Whether an included file may speak of a tenant because of its name alone."""
    files = (file for file in editor.documents if file != editor.main and file.stem == target.name)
    return target.kind is Kind.TENANT and not references_to(editor, target) and any(files)


@pytest.mark.parametrize("fleet", FLEETS)
def test_every_name_can_be_renamed_there_and_back_without_a_trace(fleet: str) -> None:
    for target in names(fleet):
        editor = opened(fleet)
        before, other = texts(editor), f"{target.name}-x"
        if named_after(editor, target):
            with pytest.raises(Refused, match="because it is named after it"):
                rename(editor, target.kind, spelled(target), other)
            continue
        rename(editor, target.kind, spelled(target), other)
        checked(editor)
        assert not references_to(editor, target)
        rename(editor, target.kind, spelled(target._replace(name=other)), target.name)
        assert texts(editor) == before, target


def test_a_rename_tells_of_each_place_in_which_the_name_still_stands(tmp_path: Path) -> None:
    file = tmp_path / "tenants.yaml"
    file.write_text(
        "environments: {dev: {}}\n"
        "tenants:\n"
        "  rocky:\n"
        "    apps:\n"
        "      web:  # web is the site\n"
        "        note: >-  # as web says\n"
        "          of the # site\n"
        "      other: {note: 'not webby'}  # nor web-x\n"
        "# web of nobody\n"
    )
    notes = mentions(Editor.open(file), Target(Kind.APP, "web", "rocky"))
    assert notes == [
        f"'web' still stands in text, which is left as it is: {file}:5, {file}:6",
    ]


def test_a_rename_onto_another_name_is_refused() -> None:
    with pytest.raises(Refused, match="cluster 'eu-2' exists already"):
        rename(opened("tasks"), Kind.CLUSTER, "eu-1", "eu-2")
