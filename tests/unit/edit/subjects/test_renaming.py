"""A rename changes the entry and every reference to it, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from tenantry.edit.editor import Editor
from tenantry.edit.subjects.names import Kind, Target
from tenantry.edit.subjects.renaming import mentions, rename
from tenantry.messages.errors import Refused
from tests.unit.edit.subjects.fleets import opened


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
