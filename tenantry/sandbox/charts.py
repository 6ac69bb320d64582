"""A Helm chart repository made from chart directories."""

import hashlib
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tenantry.sandbox import archives
from tenantry.sandbox.errors import SandboxError

INDEX = "index.yaml"


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
    def file(self) -> str:
        return f"{self.name}-{self.metadata['version']}.tgz"

    def entry(self) -> dict[str, Any]:
        """What the index says about it."""
        digest = hashlib.sha256(self.archive).hexdigest()
        return {**self.metadata, "created": archives.CREATED, "digest": digest, "urls": [self.file]}


def publish(charts: Iterable[Path], target: Path) -> None:
    """Make the directory hold exactly these charts and their index; unchanged files are not written."""
    packages = sorted((package(chart) for chart in charts), key=lambda each: each.file)
    files = {each.file: each.archive for each in packages}
    files[INDEX] = _index(packages)
    archives.publish(files, target)


def package(chart: Path) -> Package:
    """Pack a chart directory, every file in it.

    Raises:  SandboxError: it has no Chart.yaml with a name and a version.
    """
    metadata = _metadata(chart / "Chart.yaml")
    return Package(metadata, archives.packed(chart, f"{metadata['name']}/"))


def _metadata(path: Path) -> dict[str, Any]:
    try:
        metadata = yaml.safe_load(path.read_text())
    except (OSError, yaml.YAMLError) as unreadable:
        raise SandboxError(f"{path} cannot be read: {unreadable}", "name chart directories only") from unreadable
    if not isinstance(metadata, dict) or not {"name", "version"} <= metadata.keys():
        raise SandboxError(f"{path} lacks a name or a version", "give the chart both")
    return metadata


def _index(packages: Iterable[Package]) -> bytes:
    entries: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for each in packages:
        entries[each.name].append(each.entry())
    return yaml.safe_dump({"apiVersion": "v1", "entries": dict(entries), "generated": archives.CREATED}).encode()
