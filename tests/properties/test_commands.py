"""Additions and removals in drawn fleets and layouts: the model changes as asked, and every byte comes back."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import Phase, assume, reject, settings
from hypothesis import strategies as st

from tenantry.edit.editor import Editor
from tenantry.edit.entries import add, remove
from tenantry.messages.errors import Refused
from tests.drawn import given
from tests.layouts import written
from tests.strategies import fleets
from tests.unit.edit.fleets import checked, texts

NEW = "zzz-new"
TENANT = ("quota.pods=4",)
SOURCE = ("git.url=https://git.example.com/new", "git.ref.branch=main")
APP = (f"kustomize.source={NEW}", "kustomize.path=./new")


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("drawn") / "tenants.yaml"


FLEETS = st.builds(written, fleets(), st.integers(0, 2**32))


def opened(file: Path, content: bytes) -> Editor:
    file.write_bytes(content)
    return Editor(file)


@settings(phases=[Phase.generate])  # Making a fleet smaller takes minutes.
@given(st.data(), FLEETS)
def test_what_is_added_is_there_alone_and_leaves_no_trace(file: Path, data: st.DataObject, content: bytes) -> None:
    editor = opened(file, content)
    before, tenants = checked(editor).document, editor.names("tenants")
    assume(tenants)  # The last tenant takes an empty `tenants` with it.
    owner = data.draw(st.sampled_from([NEW, *tenants]))
    additions = [("source", f"{owner}/{NEW}", SOURCE), ("app", f"{owner}/{NEW}", APP)]
    if owner == NEW:
        additions.insert(0, ("tenant", NEW, TENANT))
    for kind, name, values in additions:
        added = texts(editor)
        try:
            add(editor, kind, name, values)
        except Refused as refused:
            if "these brackets hold comments" not in refused.message:
                raise
            assert texts(editor) == added
            reject()
    after = checked(editor).document
    assert NEW in after.tenants[owner].apps
    assert {name: each for name, each in after.tenants.items() if name != owner} == {
        name: each for name, each in before.tenants.items() if name != owner
    }
    assert (after.clusters, after.environments) == (before.clusters, before.environments)
    for kind, name, _ in reversed(additions):
        remove(editor, kind, name)
    assert texts(editor) == {file: content}
