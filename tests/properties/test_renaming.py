"""Every name of every shipped fleet can be renamed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tenantry.edit.editor import Editor
from tenantry.edit.subjects.names import Kind, Target
from tenantry.edit.subjects.references import declared_in, references_to
from tenantry.edit.subjects.renaming import rename
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
