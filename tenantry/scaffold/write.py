"""Reading and writing below a project's directory. No path goes through a symlink, so nothing outside of it is touched."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from tenantry.messages.errors import Refused
from tenantry.scaffold.files import File


def existing(root: Path, paths: Iterable[str]) -> list[str]:
    """Those of the paths that are taken: by something of that name, or because a parent is not a directory."""
    return [path for path in paths if (root / path).is_symlink() or (root / path).exists() or not _is_free(root, path)]


def create(root: Path, files: Mapping[str, File]) -> None:
    """Write files that do not exist yet: all of them or, if one fails, none.

    Raises: Refused: a file exists or cannot be written.
    """
    made: list[Path] = []
    try:
        for path, file in files.items():
            _make_parents(root, path, made)
            _create(root / path, file)
            made.append(root / path)
    except BaseException as failure:
        _take_back(made)
        if isinstance(failure, OSError):
            raise Refused(
                f"{failure.filename} cannot be written: {failure.strerror}", "choose another directory"
            ) from None
        raise


def replace(root: Path, path: str, file: File) -> None:
    """Write a file whole or not at all, over the one that is there. Raises: Refused."""
    target = root / path
    temporary = target.with_name(f".{target.name}.{os.getpid()}")
    if target.is_symlink() or not _is_free(root, path):
        raise Refused(f"{path} leads out of the project through a symlink", "replace the link by a file")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        mode = target.stat().st_mode if target.exists() else None
        _create(temporary, file)
        if mode is not None:
            temporary.chmod(mode | (0o111 if file.executable else 0))
        temporary.replace(target)
    except OSError as failure:
        temporary.unlink(missing_ok=True)
        raise Refused(f"{path} cannot be written: {failure.strerror}", "make it writable, and try again") from None


def content(root: Path, path: str) -> bytes | None:
    """A file's content; None: there is no such file. Raises: Refused: it is not a file, or cannot be read."""
    target = root / path
    if target.is_symlink() or not _is_free(root, path):
        raise Refused(f"{path} is, or is behind, a symlink", "replace the link by a file")
    try:
        return target.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as failure:
        raise Refused(f"{path} cannot be read: {failure.strerror}", "make it a readable file") from None


def _is_free(root: Path, path: str) -> bool:
    """Whether every directory above the file is one, or can be made."""
    parents = [root / parent for parent in Path(path).parents if parent != Path()]
    return not any(parent.is_symlink() or (parent.exists() and not parent.is_dir()) for parent in parents)


def _make_parents(root: Path, path: str, made: list[Path]) -> None:
    for directory in reversed((root / path).parents):
        if not directory.exists():
            directory.mkdir()
            made.append(directory)


def _create(path: Path, file: File) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o777 if file.executable else 0o666)
    try:
        with os.fdopen(descriptor, "wb") as opened:
            opened.write(file.text.encode())
    except BaseException:
        path.unlink()
        raise


def _take_back(made: list[Path]) -> None:
    for path in reversed(made):
        path.rmdir() if path.is_dir() else path.unlink()
