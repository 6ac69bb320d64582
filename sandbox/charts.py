"""A Helm chart repository made from chart directories.

Archives and index depend on nothing but the files' contents, so that publishing unchanged charts again changes nothing
for Flux.
"""

import gzip
import hashlib
import io
import tarfile
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from sandbox.errors import SandboxError
from sandbox.layout import write_private

INDEX = "index.yaml"
EPOCH = 946684800
CREATED = "2000-01-01T00:00:00Z"
"""The same moment twice, for archives and for the index."""


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
        return {**self.metadata, "created": CREATED, "digest": digest, "urls": [self.file]}


def publish(charts: Iterable[Path], target: Path) -> None:
    """Make the directory hold exactly these charts and their index; what is the same already stays untouched."""
    packages = sorted((package(chart) for chart in charts), key=lambda each: each.file)
    files = {each.file: each.archive for each in packages}
    files[INDEX] = _index(packages)
    for name, data in files.items():
        _replace(target / name, data)
    for path in target.iterdir():
        if path.name not in files:
            path.unlink()


def package(chart: Path) -> Package:
    """Pack a chart directory, every file in it.

    Raises:  SandboxError: it has no Chart.yaml with a name and a version.
    """
    metadata = _metadata(chart / "Chart.yaml")
    return Package(metadata, _archive(chart, str(metadata["name"])))


def _metadata(path: Path) -> dict[str, Any]:
    try:
        metadata = yaml.safe_load(path.read_text())
    except (OSError, yaml.YAMLError) as unreadable:
        raise SandboxError(f"{path} cannot be read: {unreadable}", "name chart directories only") from unreadable
    if not isinstance(metadata, dict) or not {"name", "version"} <= metadata.keys():
        raise SandboxError(f"{path} lacks a name or a version", "give the chart both")
    return metadata


def _archive(chart: Path, name: str) -> bytes:
    packed = io.BytesIO()
    # A file name or a time in the gzip header would differ from run to run.
    with (
        gzip.GzipFile(filename="", mode="wb", fileobj=packed, mtime=EPOCH) as compressed,
        tarfile.open(fileobj=compressed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for path in sorted(path for path in chart.rglob("*") if path.is_file()):
            _add(archive, f"{name}/{path.relative_to(chart).as_posix()}", path.read_bytes())
    return packed.getvalue()


def _add(archive: tarfile.TarFile, name: str, data: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size, member.mtime, member.mode = len(data), EPOCH, 0o644
    archive.addfile(member, io.BytesIO(data))


def _index(packages: Iterable[Package]) -> bytes:
    entries: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for each in packages:
        entries[each.name].append(each.entry())
    return yaml.safe_dump({"apiVersion": "v1", "entries": dict(entries), "generated": CREATED}).encode()


def _replace(path: Path, data: bytes) -> None:
    if not path.is_file() or path.read_bytes() != data:
        write_private(path, data)
