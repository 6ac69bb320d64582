"""Edits of whole files: every byte beside the edit stays."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tenantry.edit.document import Document
from tenantry.edit.editor import Editor
from tenantry.edit.entries import add
from tenantry.messages.errors import InvalidFleet, Refused
from tests.unit.edit.fleets import checked

BEFORE = """\
# The fleet.
apiVersion: tenantry/v1

tenants:
  # Deploys from Git.
  rocky:
    quota: {pods: 60}  # for now
    apps:
      # The database comes first.
      db:
        kustomize: {source: manifests, path: './db'}
      web:
        dependsOn: [db]
        # labels: {}

  movy:  # a guest
    owners:
      - group: movy
      - user: ann  # on leave
    note: "as it is"
"""

CASES: dict[str, tuple[Callable[[Editor], None], str, str]] = {
    "a number": (lambda e: e.set(("tenants", "rocky", "quota", "pods"), 5), "{pods: 60}", "{pods: 5}"),
    "quotes are imitated": (
        lambda e: e.set(("tenants", "rocky", "apps", "db", "kustomize", "path"), "./a"),
        "'./db'",
        "'./a'",
    ),
    "a key in brackets": (
        lambda e: e.set(("tenants", "rocky", "quota", "requests.cpu"), "4"),
        "{pods: 60}",
        '{pods: 60, requests.cpu: "4"}',
    ),
    "a key on a line": (lambda e: e.set(("tenants", "movy", "role"), "edit"), 'is"\n', 'is"\n    role: edit\n'),
    "a mapping where a text was": (
        lambda e: e.set(("tenants", "movy", "note"), {"a": {"b": 1, "c": [1, "yes"]}, "d": {}}),
        ' "as it is"',
        '\n      a: {b: 1, c: [1, "yes"]}\n      d: {}',
    ),
    "several lines": (
        lambda e: e.set(("tenants", "movy", "note"), "one\n\n  two\n"),
        '"as it is"',
        "|\n      one\n\n        two",
    ),
    "a tenant behind the others": (
        lambda e: e.set(("tenants", "tina"), {"apps": {"web": {"dependsOn": ["{env}"]}}}),
        '    note: "as it is"\n',
        '    note: "as it is"\n\n  tina:\n    apps:\n      web:\n        dependsOn: ["{env}"]\n',
    ),
    "an entry of a list": (
        lambda e: e.set(("tenants", "movy", "owners", 2), {"user": "bob"}),
        "leave\n",
        "leave\n      - user: bob\n",
    ),
    "missing mappings": (
        lambda e: e.set(("tenants", "rocky", "apps", "db", "helm", "values", "a"), "1.0"),
        "'./db'}\n",
        "'./db'}\n        helm: {values: {a: \"1.0\"}}\n",
    ),
    "an app with its comments": (
        lambda e: e.unset(("tenants", "rocky", "apps", "db")),
        "      # The database comes first.\n      db:\n        kustomize: {source: manifests, path: './db'}\n",
        "",
    ),
    "an owner with its comment": (
        lambda e: e.unset(("tenants", "movy", "owners", 1)),
        "      - user: ann  # on leave\n",
        "",
    ),
    "some entries of a mapping": (
        lambda e: e.set(("tenants", "movy"), {"owners": [{"user": "ann"}], "note": "as it is"}),
        "      - group: movy\n      - user: ann  # on leave\n",
        "      - user: ann  # on leave\n",
    ),
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "tenants.yaml"
    file.write_text(BEFORE)
    return file


@pytest.mark.parametrize("name", CASES)
def test_an_edit_changes_nothing_else(name: str, file: Path) -> None:
    edit, old, new = CASES[name]
    assert BEFORE.count(old) == 1
    for before in (BEFORE, BEFORE.replace("\n", "\r\n"), BEFORE.rstrip("\n"), f"\ufeff{BEFORE}"):
        file.write_bytes(before.encode())
        editor = Editor(file)
        edit(editor)
        breaks = "\r\n" if "\r" in before else "\n"
        expected = f"{before}\n" if before.endswith('"') else before
        expected = expected.replace(old.replace("\n", breaks), new.replace("\n", breaks))
        expected = expected if before.endswith(("\n", "\r\n")) else expected.rstrip("\n")
        if name == "several lines" and not before.endswith("\n"):
            continue  # its last line break needs one at the end of the file
        assert editor.changes() == {file: (before.encode(), expected.encode())}


@pytest.mark.parametrize(
    ("text", "path", "why"),
    [
        (
            "a: &x {b: 1}\nc: *x\n",
            ("a", "b"),
            ":1:11: 'a.b' cannot be edited by command: another part of the file would change too",
        ),
        (
            "a: &x {b: 1}\nc: *x\n",
            ("c", "b"),
            ":2:4: 'c.b' cannot be edited by command: it is written elsewhere in the file",
        ),
        (
            "a: [b: 1]\nb: 1\n",
            ("a", 0, "c"),
            ":1:5: 'a[0].c' cannot be edited by command: this mapping in a list has no brackets",
        ),
        ("a: 1\n", ("a", "b"), ":1:4: 'a' is '1', not a mapping or a list"),
    ],
)
def test_what_cannot_be_edited_is_refused_with_the_place(
    text: str, path: tuple[str, ...], why: str, file: Path
) -> None:
    file.write_text(text)
    with pytest.raises(Refused) as refused:
        Editor(file).set(path, 2)
    assert refused.value.message.startswith(f"{file}{why}")


@pytest.mark.parametrize(
    ("before", "path", "after"),
    [
        ("a: &x {b: 1}\nc: *x\n", ("c",), "a: &x {b: 1}\nc: 2\n"),
        ("a: !!str 5\nc: 1\n", ("a",), "a: 2\nc: 1\n"),
        ("? a\n: 1\nb: 1\n", ("a",), "? a\n: 2\nb: 1\n"),
        ("a: [b: 1]\nc: 1\n", ("a", 0, "b"), "a: [b: 2]\nc: 1\n"),
    ],
)
def test_rare_forms_are_edited_where_nothing_else_changes(
    before: str, path: tuple[str | int, ...], after: str, file: Path
) -> None:
    file.write_text(before)
    editor = Editor(file)
    editor.set(path, 2)
    assert editor.documents[file].text == after


@pytest.mark.parametrize(
    ("text", "path"), [("a: &x {b: 1}\nc: *x\n", ("a",)), ("? a\n: 1\nb: 1\n", ("a",)), ("a: [b: 1]\n", ("a", 0, "b"))]
)
def test_what_would_break_the_file_is_refused(text: str, path: tuple[str | int, ...], file: Path) -> None:
    file.write_text(text)
    editor = Editor(file)
    with pytest.raises((InvalidFleet, Refused)):
        editor.unset(path)
    assert editor.changes() == {}


def test_what_stands_beside_an_alias_is_edited(file: Path) -> None:
    file.write_text("a: &x {b: 1}\nc: *x  # shared\nd:\t1\n--- # one\n".removesuffix("--- # one\n"))
    editor = Editor(file)
    editor.set(("d",), 2)
    editor.set(("e",), [1])
    assert editor.documents[file].text == "a: &x {b: 1}\nc: *x  # shared\nd:\t2\ne: [1]\n"


def test_what_an_alias_repeats_is_edited_by_hand(file: Path) -> None:
    file.write_text(text := "a:\n  labels: &x {}\nb: {labels: *x}\n")
    editor = Editor(file)
    with pytest.raises(Refused, match="cannot be edited by command: another part"):
        editor.set(("a", "labels", "team"), "rocky")
    assert editor.documents[file].text == text


def test_a_value_that_no_file_may_hold_is_refused(file: Path) -> None:
    with pytest.raises(InvalidFleet, match="1 problems"):
        Editor(file).set(("tenants", "movy", "owners", 0), None)


def test_an_edit_goes_to_the_file_that_declares_the_place(tmp_path: Path) -> None:
    main, team = tmp_path / "tenants.yaml", tmp_path / "rocky.yaml"
    main.write_text("include: [rocky.yaml]\ntenants:\n  rocky: {role: edit}\n")
    team.write_text("tenants:\n  rocky:\n    apps:\n      web: {suspend: true}\n")
    editor = Editor(main)
    editor.set(("tenants", "rocky", "apps", "web", "suspend"), value=False)
    editor.set(("tenants", "rocky", "sources", "a"), {})
    editor.set(("tenants", "rocky", "quota", "pods"), 1)
    editor.set(("tenants", "movy"), {})
    assert (
        editor.documents[main].text
        == "include: [rocky.yaml]\ntenants:\n  rocky: {role: edit, quota: {pods: 1}}\n  movy: {}\n"
    )
    assert editor.documents[team].text == (
        "tenants:\n  rocky:\n    sources:\n      a: {}\n    apps:\n      web: {suspend: false}\n"
    )


BY_HAND = {
    "brackets with comments": (
        "a: [\n  # of b\n  b\n ]\nc: 1\n",
        ("a", 0),
        "1:4: 'a[0]' cannot be edited by command: these brackets hold comments\n  fix: edit the file by hand there:\n    - 2",
    ),
    "no value in brackets": (
        "a: {b}\n",
        ("a", "b"),
        "1:5: 'a.b' cannot be edited by command: it has no value\n  fix: edit the file by hand there:\n    b: 2",
    ),
    "lines that end in several ways": (
        "a: 1\r\nb: 2\n",
        ("a",),
        " its lines end in several ways\n  fix: end all lines of the file in the same way",
    ),
    "a file in brackets": (
        '{"a": 1}\n',
        ("a",),
        " all of it stands in brackets\n  fix: edit it by hand, or write it without them",
    ),
}


@pytest.mark.parametrize("name", BY_HAND)
def test_what_is_edited_by_hand_is_refused_with_the_lines(name: str, tmp_path: Path) -> None:
    text, path, error = BY_HAND[name]
    document = Document(tmp_path / "a.yaml", text.encode())
    with pytest.raises(Refused) as refused:
        document.replace(path, 2) if name != "brackets with comments" else document.insert(path, 2, 0)
    assert str(refused.value) == f"{document.file}:{error}"
    assert document.after == text.encode()


def test_a_tenant_of_which_only_its_team_speaks_is_added_to_the_main_file(tmp_path: Path) -> None:
    (tmp_path / "tenants.yaml").write_text(
        "apiVersion: tenantry/v1\ninclude: [teams.d/*.yaml]\nenvironments: {dev: {management: hub}}\n"
        "clusters: {hub: {environments: [dev]}}\ntenants:\n  rocky: {}\n"
    )
    (tmp_path / "teams.d").mkdir()
    (tmp_path / "teams.d/movy.yaml").write_text("tenants:\n  movy: {}\n")
    editor = Editor(tmp_path / "tenants.yaml")
    add(editor, "tenant", "movy", ["clusters.all=true"])
    assert editor.read(tmp_path / "teams.d/movy.yaml") == b"tenants:\n  movy: {}\n"
    assert b"movy" in editor.read(editor.main)
    assert checked(editor).document.tenants["movy"]
