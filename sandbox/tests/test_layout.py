from pathlib import Path

import pytest

from tenantry_sandbox.layout import Layout, SandboxError, write_private


def test_a_new_directory_becomes_a_sandbox_once(tmp_path: Path) -> None:
    layout = Layout(tmp_path / "sandbox")

    assert [layout.claim(), layout.claim()] == [True, False]
    assert layout.root.stat().st_mode & 0o777 == 0o700


def test_a_directory_with_other_files_is_not_claimed(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")

    with pytest.raises(SandboxError, match="is not a sandbox"):
        Layout(tmp_path).claim()


@pytest.mark.parametrize("files", [(), ("thesis.tex",), ("state.json",)])
def test_a_directory_without_the_marker_is_not_removed(tmp_path: Path, files: tuple[str, ...]) -> None:
    for name in files:
        (tmp_path / name).write_text("years of work")

    with pytest.raises(SandboxError, match="is not a sandbox"):
        Layout(tmp_path).remove()

    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(files)


def test_a_sandbox_is_removed_whole(tmp_path: Path) -> None:
    layout = Layout(tmp_path / "sandbox")
    layout.claim()
    write_private(layout.log("edge-1", "kwok"), b"...")

    layout.remove()

    assert list(tmp_path.iterdir()) == []


def test_two_commands_do_not_work_on_one_sandbox_at_once(tmp_path: Path) -> None:
    layout = Layout(tmp_path / "sandbox")
    layout.claim()

    with layout.locked(), pytest.raises(SandboxError, match="another command"), layout.locked():
        pass

    with layout.locked():
        pass


def test_a_private_file_replaces_the_former_one_and_leaves_no_other(tmp_path: Path) -> None:
    path = tmp_path / "pki" / "ca.key"
    write_private(path, b"old")
    write_private(path, b"new")

    assert path.read_bytes() == b"new"
    assert path.stat().st_mode & 0o777 == 0o600
    assert [each.name for each in path.parent.iterdir()] == ["ca.key"]
