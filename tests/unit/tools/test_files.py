from __future__ import annotations

from pathlib import Path

from tools import files


def test_a_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    note = tmp_path / "new" / "note"
    files.replace_text(note, "one")

    files.replace_text(note, "two")

    assert note.read_text() == "two"
    assert list(note.parent.iterdir()) == [note]


def test_a_link_is_pointed_elsewhere(tmp_path: Path) -> None:
    link = tmp_path / "link"
    files.replace_link(link, "one")

    files.replace_link(link, "two")

    assert str(link.readlink()) == "two"
    assert list(tmp_path.iterdir()) == [link]


def test_a_size_counts_all_levels(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("123")
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / "deep" / "er" / "b").write_text("4567")

    assert files.size(tmp_path) == 7
    assert files.exceeds(tmp_path, 6) is True
    assert files.exceeds(tmp_path, 7) is False


def test_what_is_not_there_has_no_size(tmp_path: Path) -> None:
    assert files.size(tmp_path / "missing") == 0
