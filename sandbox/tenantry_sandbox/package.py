"""A chart as one file, as `helm package` makes it, but the same bytes on every machine."""

from __future__ import annotations

import gzip
import io
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tenantry.charts import files_of
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
