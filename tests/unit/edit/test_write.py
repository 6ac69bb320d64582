"""Edited files are written as a whole, or not at all."""

from __future__ import annotations

import os
import resource
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tenantry.edit.editor import write_all
from tenantry.messages.errors import Refused


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "tenants.yaml"
    file.write_bytes(b"before")
    return file


def write(*files: Path) -> None:
    write_all({each: (b"before", b"after" * 1000) for each in files})


def names(directory: Path) -> list[str]:
    return sorted(each.name for each in directory.iterdir())


def test_a_file_keeps_its_mode_and_its_owner(file: Path) -> None:
    file.chmod(0o640)
    if os.geteuid() == 0:
        os.chown(file, 12, 34)
    before = file.stat()
    write(file)
    after = file.stat()
    assert file.read_bytes() == b"after" * 1000
    assert (after.st_mode, after.st_uid, after.st_gid) == (before.st_mode, before.st_uid, before.st_gid)
    assert names(file.parent) == ["tenants.yaml"]


def test_the_target_of_a_symlink_is_written(file: Path, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    target = file.rename(tmp_path / "there" / "fleet.yaml")
    file.symlink_to("there/fleet.yaml")
    write(file)
    assert file.readlink() == Path("there/fleet.yaml")
    assert target.read_bytes() == b"after" * 1000


@contextmanager
def small_files() -> Iterator[None]:
    """No file may have more than 100 bytes, as on a full disk."""
    import signal

    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)


def _linked(file: Path) -> None:
    (file.parent / "other.yaml").hardlink_to(file)


def _changed(file: Path) -> None:
    file.write_bytes(b"somebody's")


def _a_pipe(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)


REFUSED: dict[str, tuple[Callable[[Path], None], str]] = {
    "another name": (
        _linked,
        "has 2 names (hard links), and the others would keep the old text, so nothing was written\n"
        "  fix: remove the other names, or make them symlinks",
    ),
    "read-only": (
        lambda file: file.chmod(0o444),
        "is read-only, so nothing was written\n  fix: allow writing: chmod u+w {file}",
    ),
    "somebody else": (_changed, "changed while it was edited, so nothing was written\n  fix: run the command again"),
    "gone": (
        Path.unlink,
        "cannot be written (No such file or directory), so nothing was written\n"
        "  fix: correct that, and run the command again",
    ),
    "a pipe": (_a_pipe, "is not a regular file, so nothing was written\n  fix: name a file with --file"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_would_lose_something_is_refused(name: str, file: Path) -> None:
    prepare, why = REFUSED[name]
    second = file.parent / "a.yaml"
    second.write_bytes(b"before")
    prepare(file)
    there = names(file.parent)
    with pytest.raises(Refused) as refused:
        write(second, file)
    assert str(refused.value) == f"{file} {why.format(file=file)}"
    assert second.read_bytes() == b"before"
    assert names(file.parent) == there


def test_a_full_disk_leaves_the_file_as_it_was(file: Path) -> None:
    with small_files(), pytest.raises(Refused, match=r"cannot be written .File too large., so nothing was written"):
        write(file)
    assert file.read_bytes() == b"before"
    assert names(file.parent) == ["tenants.yaml"]


def test_a_read_only_directory_is_refused(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Root may write into every directory, so the filesystem's answer is played."""

    def refuse(**_: object) -> None:
        raise OSError(30, os.strerror(30))

    monkeypatch.setattr("tempfile.mkstemp", refuse)
    with pytest.raises(Refused, match=r"cannot be written .Read-only file system., so nothing was written"):
        write(file)


def test_several_files_are_put_back_if_one_fails(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    second = file.parent / "a.yaml"
    second.write_bytes(b"before")
    second.chmod(0o600)
    replace = Path.replace

    def fail_at_last(self: Path, target: Path) -> Path:
        if target.name == "tenants.yaml":
            raise OSError(28, os.strerror(28))
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", fail_at_last)
    with pytest.raises(Refused, match=r"tenants.yaml cannot be written .No space left on device."):
        write(second, file)
    assert (second.read_bytes(), file.read_bytes()) == (b"before", b"before")
    assert stat.S_IMODE(second.stat().st_mode) == 0o600
    assert names(file.parent) == ["a.yaml", "tenants.yaml"]
