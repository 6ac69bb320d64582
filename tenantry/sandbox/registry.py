"""Artifacts for the OCI registry, made from charts and plain folders.

Every repository becomes an OCI image layout, a directory of blobs and an index of the manifests among them, so the server
only has to look things up.
"""

import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tenantry.charts.archive import CREATED, files_of, packed
from tenantry.charts.package import package
from tenantry.charts.push import CONFIG, CONTENT, config_of
from tenantry.sandbox import archives, logins
from tenantry.sandbox.errors import SandboxError
from tenantry.sandbox.repositories import folders

INDEX = "index.json"
MANIFEST = "application/vnd.oci.image.manifest.v1+json"
TAG = "org.opencontainers.image.ref.name"
_CREATED = "org.opencontainers.image.created"
LATEST = "latest"
NAME = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"
"""A part of a repository's name, as the distribution specification has it."""


@dataclass(frozen=True, slots=True)
class Artifact:
    """One tagged version in a repository: a configuration and a layer, each of a media type."""

    repository: str
    tag: str
    kind: str
    """The media type of the configuration, by which a client tells what the artifact is."""
    config: bytes
    content: str
    """The media type of the layer."""
    layer: bytes

    def manifest(self) -> bytes:
        """Equal artifacts have equal manifests, so their digest changes with their content only."""
        return _json(
            {
                "schemaVersion": 2,
                "mediaType": MANIFEST,
                "config": _described(self.kind, self.config),
                "layers": [_described(self.content, self.layer)],
                "annotations": {_CREATED: CREATED},
            }
        )


def publish(chart_folders: Iterable[Path], source: Path, target: Path) -> None:
    """Make the directory hold the charts as `charts/<chart>`, and the folders of `source` as `oci/<owner>/<name>`.

    Raises:  SandboxError: a name that registries do not take.
    """
    repositories: dict[str, list[Artifact]] = defaultdict(list)
    for artifact in (*map(_chart, chart_folders), *_folders(source)):
        if not re.fullmatch(f"{NAME}(/{NAME})*", artifact.repository):
            message = f"'{artifact.repository}' can be no repository of an OCI registry"
            raise SandboxError(
                message, "use small letters, digits, and single dots, hyphens or underscores between them"
            )
        repositories[artifact.repository].append(artifact)
    files = (item for name, artifacts in repositories.items() for item in _layout(name, artifacts))
    guards = {f"oci/{name}": data for name, data in logins.files(source).items()}
    archives.publish({**guards, **dict(files)}, target)


def digest(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def blob(value: str) -> str:
    """The path of a digest's blob in a layout."""
    return f"blobs/{value.replace(':', '/')}"


def _chart(folder: Path) -> Artifact:
    """A chart as Helm pushes it."""
    chart = package(folder)
    return Artifact(
        repository=f"charts/{chart.name}",
        tag=chart.tag,
        kind=CONFIG,
        config=config_of(chart.metadata),
        content=CONTENT,
        layer=chart.archive,
    )


def _folders(source: Path) -> Iterator[Artifact]:
    """Folders as `flux push artifact` pushes them."""
    for name in folders(source):
        yield Artifact(
            repository=f"oci/{name}",
            tag=LATEST,
            kind="application/vnd.cncf.flux.config.v1+json",
            config=_json({}),
            content="application/vnd.cncf.flux.content.v1.tar+gzip",
            layer=packed(files_of(source / name)),
        )


def _layout(repository: str, artifacts: Iterable[Artifact]) -> Iterator[tuple[str, bytes]]:
    """The files of an image layout. The index is the last: what it names is there by then."""
    manifests = []
    for each in artifacts:
        manifest = each.manifest()
        for data in (each.config, each.layer, manifest):
            yield f"{repository}/{blob(digest(data))}", data
        manifests.append(_described(MANIFEST, manifest, {TAG: each.tag}))
    yield f"{repository}/oci-layout", _json({"imageLayoutVersion": "1.0.0"})
    yield f"{repository}/{INDEX}", _json({"schemaVersion": 2, "manifests": manifests})


def _described(media_type: str, data: bytes, annotations: Mapping[str, str] | None = None) -> dict[str, Any]:
    """A content descriptor."""
    descriptor = {"mediaType": media_type, "digest": digest(data), "size": len(data)}
    return descriptor | ({"annotations": annotations} if annotations else {})


def _json(document: Mapping[str, Any]) -> bytes:
    return json.dumps(document, sort_keys=True).encode()
