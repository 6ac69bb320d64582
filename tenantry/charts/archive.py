"""Directories as archives whose bytes depend on the files' names and contents alone: not on times, owners or modes."""

from __future__ import annotations

import gzip
import io
import tarfile
from collections.abc import Mapping
from pathlib import Path

EPOCH = 946684800
CREATED = "2000-01-01T00:00:00Z"
"""The same time in two forms: for archives, and for their descriptions."""


def packed(files: Mapping[str, bytes], below: str = "") -> bytes:
    """Files by their path as a compressed archive, the paths in it beginning with `below`."""
    archive = io.BytesIO()
    # A file name or a time in the gzip header would differ from run to run.
    with (
        gzip.GzipFile(filename="", mode="wb", fileobj=archive, mtime=EPOCH) as compressed,
        tarfile.open(fileobj=compressed, mode="w", format=tarfile.PAX_FORMAT) as members,
    ):
        for name, data in files.items():
            _add(members, f"{below}{name}", data)
    return archive.getvalue()


def files_of(folder: Path) -> dict[str, bytes]:
    """The content of a folder's files by their path in it; empty if there is no such folder."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def _add(archive: tarfile.TarFile, name: str, data: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size, member.mtime, member.mode = len(data), EPOCH, 0o644
    archive.addfile(member, io.BytesIO(data))
