"""Writes the edited files of a fleet: all of them as a whole, or none.

Each file is replaced by a new one that has its mode and owner, so that no reader ever sees half a file. What would be lost by that
is refused: another name of the same file, and changes that somebody made since the file was read.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from pathlib import Path

from tenantry.messages.errors import Refused

_NOTHING = "nothing was written"


def write_all(changes: Mapping[Path, tuple[bytes, bytes]]) -> None:
    """Replace the bytes of files. changes: the bytes before and after, by file. Raises: Refused."""
    with ExitStack() as undo:
        staged = []
        for file, (before, after) in changes.items():
            target = _checked(file, before)
            staged.append((file, target, _staged(file, target, after, undo)))
        for file, (before, _) in changes.items():
            _checked(file, before)
        with ExitStack() as put_back:
            for file, target, new in staged:
                old = _staged(file, target, changes[file][0], undo) if len(staged) > 1 else None
                try:
                    new.replace(target)
                except OSError as error:
                    raise _refused(file, error) from None
                if old:
                    put_back.callback(old.replace, target)
            put_back.pop_all()
    for directory in {target.parent for _, target, _ in staged}:
        _sync_directory(directory)


def _checked(file: Path, before: bytes) -> Path:
    """The file behind all symlinks. Raises: Refused: it cannot be replaced, or somebody changed it since it was read."""
    try:
        target = Path(os.path.realpath(file, strict=True))
        status = target.stat()
        if not stat.S_ISREG(status.st_mode):
            raise Refused(f"{file} is not a regular file, so {_NOTHING}", "name a file with --file")
        if not (status.st_mode & 0o222 and os.access(target, os.W_OK)):
            raise Refused(f"{file} is read-only, so {_NOTHING}", f"allow writing: chmod u+w {target}")
        if status.st_nlink > 1:
            raise Refused(
                f"{file} has {status.st_nlink} names (hard links), and the others would keep the old text, so {_NOTHING}",
                "remove the other names, or make them symlinks",
            )
        if file.read_bytes() != before:
            raise Refused(f"{file} changed while it was edited, so {_NOTHING}", "run the command again")
    except OSError as error:
        raise _refused(file, error) from None
    return target


def _staged(file: Path, target: Path, content: bytes, undo: ExitStack) -> Path:
    """Write bytes into a file beside the target, with its mode and owner. It is removed unless it is used."""
    try:
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        undo.callback(Path(name).unlink, missing_ok=True)
        with os.fdopen(handle, "wb") as opened:
            opened.write(content)
            opened.flush()
            status = target.stat()
            if (status.st_uid, status.st_gid) != (os.geteuid(), os.getegid()):
                os.fchown(handle, status.st_uid, status.st_gid)
            os.fchmod(handle, stat.S_IMODE(status.st_mode))
            os.fsync(handle)
    except OSError as error:
        raise _refused(file, error) from None
    return Path(name)


def _sync_directory(directory: Path) -> None:
    """Make the new name last through a loss of power. Some filesystems cannot; the file itself is complete anyway."""
    with suppress(OSError):
        handle = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _refused(file: Path, error: OSError) -> Refused:
    return Refused(
        f"{file} cannot be written ({error.strerror}), so {_NOTHING}", "correct that, and run the command again"
    )
