"""A chart as one file, as `helm package` makes it, but the same bytes on every machine; or as a directory of a repository."""

from __future__ import annotations

import gzip
import io
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tenantry.messages.errors import Refused

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
            member = tarfile.TarInfo(f"{below}{name}")
            member.size, member.mtime, member.mode = len(data), EPOCH, 0o644
            members.addfile(member, io.BytesIO(data))
    return archive.getvalue()


def files_of(folder: Path) -> dict[str, bytes]:
    """The content of a folder's files by their path in it; empty if there is no such folder."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


DESCRIPTION = "Chart.yaml"


@dataclass(frozen=True, slots=True)
class Package:
    """One chart, packed."""

    metadata: dict[str, Any]
    """What its Chart.yaml says."""
    archive: bytes

    @property
    def name(self) -> str:
        return str(self.metadata["name"])

    @property
    def version(self) -> str:
        return str(self.metadata["version"])

    @property
    def file(self) -> str:
        return f"{self.name}-{self.version}.tgz"

    @property
    def tag(self) -> str:
        """The version as a tag. Tags cannot contain a plus sign; Helm replaces it in the same way."""
        return self.version.replace("+", "_")


def package(chart: Path) -> Package:
    """Pack a chart directory, every file in it. Raises: Refused: it has no Chart.yaml with a name and a version."""
    files = files_of(chart)
    metadata = _metadata(chart / DESCRIPTION, files.get(DESCRIPTION))
    return Package(metadata, packed(files, f"{metadata['name']}/"))


def _metadata(path: Path, text: bytes | None) -> dict[str, Any]:
    if text is None:
        raise Refused(f"{path} does not exist", "name a directory with a chart")
    try:
        metadata = yaml.safe_load(text)
    except yaml.YAMLError as invalid:
        raise Refused(f"{path} is not valid YAML: {invalid}", "correct it") from None
    if not isinstance(metadata, dict) or not {"name", "version"} <= metadata.keys():
        raise Refused(f"{path} lacks a name or a version", "give the chart both")
    return metadata


def copy(chart: Path, target: Path) -> tuple[str, ...]:
    """Make a directory contain exactly the chart's files. Returns: those that were written.

    Raises: Refused: it has files that the chart does not have, or a file cannot be written.
    """
    wanted, present = files_of(chart), files_of(target)
    if foreign := sorted(present.keys() - wanted.keys()):
        message = (
            f"{target} has files that are not the chart's ({', '.join(foreign[:3])}{', ...' if foreign[3:] else ''})"
        )
        raise Refused(message, "name another directory, or remove these files: Helm would install templates among them")
    changed = tuple(name for name, data in wanted.items() if present.get(name) != data)
    try:
        for name in changed:
            path = target / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(wanted[name])
    except OSError as error:
        raise Refused(f"{error.filename} cannot be written: {error.strerror}", "name another directory") from None
    return changed
