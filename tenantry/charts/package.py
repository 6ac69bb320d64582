"""A chart as one file, as `helm package` makes it, but the same bytes on every machine."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tenantry.charts.archive import files_of, packed
from tenantry.messages.errors import Refused

DESCRIPTION = "Chart.yaml"
_VERSION = re.compile(
    r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?(\+[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?"
)
_LINE = re.compile(rb"^version:.*$", re.MULTILINE)


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


def package(chart: Path, version: str = "") -> Package:
    """Pack a chart directory, every file in it; version: instead of the one in its Chart.yaml.

    Raises: Refused: it has no Chart.yaml with a name and a version, or the version is not a semantic version.
    """
    files = files_of(chart)
    if version:
        if not _VERSION.fullmatch(version):
            raise Refused(f"'{version}' is not a version of a chart", "write a semantic version, such as 1.2.3")
        files[DESCRIPTION] = _LINE.sub(f"version: {version}".encode(), files[DESCRIPTION])
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
