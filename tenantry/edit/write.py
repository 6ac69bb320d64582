"""Writes the edited files of a fleet: all of them as a whole, or none.

Each file is replaced by a new one that has its mode and owner, so that no reader ever sees half a file. What would be lost by that
is refused: another name of the same file, and changes that somebody made since the file was read.
"""

from __future__ import annotations

import os
import shlex
import stat
import tempfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from tenantry.messages.errors import Refused
from tenantry.messages.text import listed

_NOTHING = "nothing was written"


class _Staged(NamedTuple):
    """A file to replace. target: behind all symlinks; new: the file that takes its place; old: another name of the old one.

    created: there is no old one.
    """

    file: Path
    target: Path
    new: Path
    old: Path
    created: bool = False


def write_all(changes: Mapping[Path, tuple[bytes, bytes]], created: Collection[Path] = ()) -> None:
    """Replace the bytes of files. changes: the bytes before and after, by file. created: files that are new. Raises: Refused."""
    with _leftovers() as leftovers:
        staged = [
            _stage_new(file, after, leftovers) if file in created else _stage(file, before, after, leftovers)
            for file, (before, after) in changes.items()
        ]
        for staging in staged:
            if not staging.created:
                _check_unchanged(staging.file, changes[staging.file][0])
        _replace(staged, leftovers)
    for directory in {staging.target.parent for staging in staged}:
        _sync_directory(directory)


@contextmanager
def _leftovers() -> Iterator[list[Path]]:
    """Files that do not stay, whatever happens."""
    found: list[Path] = []
    try:
        yield found
    finally:
        for file in found:
            with suppress(OSError):
                file.rmdir() if file.is_dir() else file.unlink()


def _stage(file: Path, before: bytes, after: bytes, leftovers: list[Path]) -> _Staged:
    """Write the new bytes into a file beside the old one."""
    try:
        target = Path(os.path.realpath(file, strict=True))
        status = target.stat()
        _check_replaceable(file, target, status)
        _check_unchanged(file, before)
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        leftovers.append(Path(name))
        with os.fdopen(handle, "wb") as opened:
            opened.write(after)
            opened.flush()
            if (status.st_uid, status.st_gid) != (os.geteuid(), os.getegid()):
                os.fchown(handle, status.st_uid, status.st_gid)
            os.fchmod(handle, stat.S_IMODE(status.st_mode))
            os.fsync(handle)
    except OSError as error:
        raise _refused(file, error) from None
    return _Staged(file, target, Path(name), Path(f"{name}.old"))


def _stage_new(file: Path, after: bytes, leftovers: list[Path]) -> _Staged:
    """Write the bytes of a new file beside its place. A directory that is made for it goes again, unless the file stays."""
    try:
        missing = [each for each in (file.parent, *file.parent.parents) if not each.exists()]
        file.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{file.name}.", dir=file.parent)
        leftovers += [Path(name), *missing]
        with os.fdopen(handle, "wb") as opened:
            opened.write(after)
            opened.flush()
            os.fchmod(handle, 0o666 & ~_umask())
            os.fsync(handle)
    except OSError as error:
        raise _refused(file, error) from None
    return _Staged(file, file, Path(name), Path(f"{name}.old"), created=True)


def _umask() -> int:
    """The mode that new files do not get. It can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _check_replaceable(file: Path, target: Path, status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise Refused(f"{file} is not a regular file, so {_NOTHING}", "name a file with --file")
    if not (status.st_mode & 0o222 and os.access(target, os.W_OK)):
        raise Refused(f"{file} is read-only, so {_NOTHING}", f"allow writing: chmod u+w {target}")
    if status.st_nlink > 1:
        raise Refused(
            f"{file} has {status.st_nlink} names (hard links), and the others would keep the old text, so {_NOTHING}",
            "remove the other names, or make them symlinks",
        )


def _check_unchanged(file: Path, before: bytes) -> None:
    """Raises: Refused: somebody changed the file since it was read."""
    try:
        now = file.read_bytes()
    except OSError as error:
        raise _refused(file, error) from None
    if now != before:
        raise Refused(f"{file} changed while it was edited, so {_NOTHING}", "run the command again")


def _replace(staged: list[_Staged], leftovers: list[Path]) -> None:
    """Put the new files in place; if one fails, put the old ones back."""
    done: list[_Staged] = []
    for staging in staged:
        try:
            if staging.created:
                os.link(staging.new, staging.target)  # fails if somebody made the file meanwhile
                done.append(staging)
                continue
            if len(staged) > 1:
                os.link(staging.target, staging.old)
                leftovers.append(staging.old)
            staging.new.replace(staging.target)
        except OSError as error:
            _restore(done, leftovers)
            raise _refused(staging.file, error) from None
        except BaseException:
            _restore(done, leftovers)
            raise
        done.append(staging)


def _restore(done: list[_Staged], leftovers: list[Path]) -> None:
    """Put the old files back. Raises: Refused: some could not be put back; their old text stays beside them."""
    left: list[_Staged] = []
    for staging in done:
        try:
            staging.target.unlink() if staging.created else staging.old.replace(staging.target)
        except OSError:
            leftovers.remove(staging.old)
            left.append(staging)
    if left:
        commands = "; ".join(
            f"mv {shlex.quote(str(staging.old))} {shlex.quote(str(staging.target))}" for staging in left
        )
        files = listed([str(staging.file) for staging in left])
        raise Refused(f"another file cannot be written, and {files} could not be put back", commands) from None


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
