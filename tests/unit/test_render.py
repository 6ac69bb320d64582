"""Plans as YAML, on a stream and in a directory."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import yaml

from tenantry.kube.objects import ObjectId
from tenantry.messages.errors import Refused
from tenantry.render import MARKER, file_name, files, to_yaml, write_directory
from tenantry.source.parse import parse
from tests.table import table
from tests.unit.texts import planned, rocky

WEB = "web: {kustomize: {source: manifests}}"
PLAN = planned(rocky(WEB))
SMALLER = planned(rocky(WEB, "clusters: {names: [hub]}\nnetwork: open"))


def tree(directory: Path) -> dict[str, str]:
    return {
        path.relative_to(directory).as_posix(): path.read_text()
        for path in sorted(directory.rglob("*"))
        if path.is_file()
    }


def test_objects_become_documents_with_keys_in_their_order() -> None:
    manifests: list[dict[str, Any]] = [
        {"kind": "B", "apiVersion": "v1"},
        {"a": [{"b": 1, "a": {}}, []], "t": "one\ntwo\n"},
    ]
    assert (
        to_yaml(manifests) == "---\nkind: B\napiVersion: v1\n---\na:\n- b: 1\n  a: {}\n- []\nt: 'one\n\n  two\n\n  '\n"
    )


def test_nothing_becomes_nothing() -> None:
    assert to_yaml([]) == ""


def test_a_value_used_twice_is_written_twice() -> None:
    shared = {"x": [1]}
    assert to_yaml([{"a": shared, "b": shared}]) == "---\na:\n  x:\n  - 1\nb:\n  x:\n  - 1\n"


def test_long_lines_are_not_folded() -> None:
    text = "word " * 100 + "end"
    assert to_yaml([{"a": text}]) == f"---\na: {text}\n"


AMBIGUOUS = [
    "yes",
    "no",
    "on",
    "off",
    "y",
    "n",
    "Y",
    "N",
    "true",
    "Null",
    "~",
    "1",
    "-1",
    "1_000",
    "0x1f",
    "0o17",
    "0b11",
    "017",
    "12:30",
    "1.5",
    "1.",
    ".5",
    "+.5",
    "1e3",
    "1E5",
    "012e3",
    ".inf",
    ".nan",
    "2001-01-01",
    "<<",
    "=",
    "-",
    "?",
    "!x",
    "&x",
    "*x",
    "@x",
    "`x",
    "%x",
    "|x",
    ">x",
    "{x",
    "[x",
    "#x",
    "x:",
    "null",
]


@table(
    "text",
    [
        *AMBIGUOUS,
        "",
        " ",
        "a: b",
        "a #b",
        " lead",
        "trail ",
        "a\tb",
        "a\nb",
        "é",
        "😀",
        "x\x85y",
        "\u2028",
        "\x00",
        "\ufeff",
    ],
)
def test_text_stays_text_for_readers_of_yaml_1_1_and_of_1_2(text: str) -> None:
    rendered = to_yaml([{"a": text}])
    assert {"a": text} == yaml.safe_load(rendered)
    assert {"a": text} == parse(rendered.encode(), "t").data


@table("text", ["1e3", "1E5", "012e3", "0o17", "y", "N"])
def test_text_that_go_would_read_as_a_number_or_a_truth_value_is_quoted(text: str) -> None:
    assert to_yaml([{"a": text}]) == f"---\na: '{text}'\n"


@table("value", [0, -1, 2**53, -(2**53), 1.5, 1e22, 1e-7, True, False, None, [], {}])
def test_other_values_stay_what_they_are(value: Any) -> None:
    rendered = to_yaml([{"a": value}])
    assert {"a": value} == yaml.safe_load(rendered) == parse(rendered.encode(), "t").data


def test_rendering_does_not_change_pyyaml_for_others() -> None:
    assert yaml.safe_dump({"a": "y", "b": "1e3"}) == "a: y\nb: 1e3\n"


def test_files_are_named_by_namespace_kind_and_name() -> None:
    assert file_name(ObjectId("v1", "ConfigMap", "rocky", "web")) == "rocky/configmap-web.yaml"
    assert file_name(ObjectId("v1", "Namespace", "", "rocky")) == "_cluster/namespace-rocky.yaml"


def test_a_directory_holds_one_marked_file_per_object(tmp_path: Path) -> None:
    written = write_directory(PLAN, tmp_path / "out")
    assert dict(files(PLAN.objects)) == tree(tmp_path / "out")
    assert [
        "_cluster/namespace-rocky.yaml",
        "rocky/gitrepository-manifests.yaml",
        "rocky/kustomization-web.yaml",
        "rocky/networkpolicy-tenantry-isolated.yaml",
        "rocky/rolebinding-tenantry-reconciler-admin.yaml",
        "rocky/serviceaccount-rocky.yaml",
    ] == list(tree(tmp_path / "out"))
    assert all(text.startswith(MARKER) for text in tree(tmp_path / "out").values())
    assert written == (6, 0)


def test_rendering_again_writes_nothing(tmp_path: Path) -> None:
    write_directory(PLAN, tmp_path)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    assert write_directory(PLAN, tmp_path) == (0, 0)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before


def test_only_what_differs_is_written(tmp_path: Path) -> None:
    write_directory(PLAN, tmp_path)
    changed = tmp_path / "rocky" / "kustomization-web.yaml"
    changed.write_text(MARKER + "edited by hand\n")
    assert write_directory(PLAN, tmp_path) == (1, 0)
    assert dict(files(PLAN.objects)) == tree(tmp_path)


def test_what_is_no_longer_planned_is_removed_with_its_empty_folders(tmp_path: Path) -> None:
    write_directory(PLAN, tmp_path)
    stale = tmp_path / "gone" / "deep" / "configmap-old.yaml"
    stale.parent.mkdir(parents=True)
    stale.write_text(MARKER)
    assert write_directory(SMALLER, tmp_path) == (0, 2)
    assert dict(files(SMALLER.objects)) == tree(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["_cluster", "rocky"]


def test_a_directory_with_other_files_is_refused_and_nothing_in_it_changes(tmp_path: Path) -> None:
    write_directory(PLAN, tmp_path)
    (tmp_path / "rocky" / "notes.txt").write_text("mine")
    before = tree(tmp_path)
    with pytest.raises(Refused) as caught:
        write_directory(SMALLER, tmp_path)
    assert str(caught.value) == (
        f"{tmp_path}/rocky/notes.txt was not written by tenantry; nothing was written to {tmp_path}\n"
        "  fix: name an empty directory"
    )
    assert before == tree(tmp_path)


@pytest.mark.parametrize("target", ["nowhere", "elsewhere/dir", "elsewhere/file"])
def test_a_symbolic_link_is_not_followed_but_refused(tmp_path: Path, target: str) -> None:
    (tmp_path / "elsewhere" / "dir").mkdir(parents=True)
    (tmp_path / "elsewhere" / "file").write_text(MARKER)
    out = tmp_path / "out"
    out.mkdir()
    (out / "link").symlink_to(tmp_path / target)
    with pytest.raises(Refused, match="link was not written by tenantry"):
        write_directory(PLAN, out)
    assert (tmp_path / "elsewhere" / "file").read_text() == MARKER


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(Refused, match="pipe was not written by tenantry"):
        write_directory(PLAN, tmp_path)


def test_a_file_in_the_place_of_the_directory_is_refused(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("")
    with pytest.raises(Refused) as caught:
        write_directory(PLAN, tmp_path / "out")
    assert str(caught.value) == f"{tmp_path}/out is not a directory\n  fix: name another directory"


def test_a_file_in_the_place_of_a_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "rocky").write_text(MARKER)
    with pytest.raises(Refused) as caught:
        write_directory(PLAN, tmp_path)
    assert str(caught.value) == f"{tmp_path}/rocky: File exists\n  fix: name another directory"


def test_an_interrupted_write_leaves_the_old_content_and_no_litter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_directory(SMALLER, tmp_path)
    before = tree(tmp_path)

    def interrupted(self: Path, target: Path) -> Path:
        raise KeyboardInterrupt(self, target)

    monkeypatch.setattr(Path, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_directory(PLAN, tmp_path)
    assert before == tree(tmp_path)


def test_a_full_disk_is_a_refusal_and_no_bug(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: Path, *_: object, **__: object) -> int:
        raise OSError(28, "No space left on device", str(self))

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(Refused, match="No space left on device"):
        write_directory(PLAN, tmp_path)


def test_an_empty_plan_empties_the_directory(tmp_path: Path) -> None:
    write_directory(PLAN, tmp_path)
    empty = planned(rocky(WEB).split("tenants:")[0])
    assert write_directory(empty, tmp_path) == (0, 6)
    assert list(tmp_path.iterdir()) == []
    assert write_directory(empty, tmp_path / "never-made") == (0, 0)
