"""Artifacts for the OCI registry, made from charts and plain folders, and served for pulling only."""

import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tenantry.charts.package import CREATED, files_of, package, packed
from tenantry.sandbox import layout as sandbox_layout
from tenantry.sandbox import logins
from tenantry.sandbox.layout import SandboxError
from tenantry.sandbox.logins import Response
from tenantry.sandbox.repositories import folders

INDEX = "index.json"
MANIFEST = "application/vnd.oci.image.manifest.v1+json"
TAG = "org.opencontainers.image.ref.name"
_CREATED = "org.opencontainers.image.created"
LATEST = "latest"
_CONFIG = "application/vnd.cncf.helm.config.v1+json"
_CONTENT = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
"""The media types by which Helm and Flux know a chart: of the configuration and of the layer."""
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
    sandbox_layout.publish_files({**guards, **dict(files)}, target)


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
        kind=_CONFIG,
        # Dates of a Chart.yaml are YAML's, which JSON cannot express.
        config=json.dumps(chart.metadata, sort_keys=True, default=str).encode(),
        content=_CONTENT,
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
    for artifact in artifacts:
        manifest = artifact.manifest()
        for data in (artifact.config, artifact.layer, manifest):
            yield f"{repository}/{blob(digest(data))}", data
        manifests.append(_described(MANIFEST, manifest, {TAG: artifact.tag}))
    yield f"{repository}/oci-layout", _json({"imageLayoutVersion": "1.0.0"})
    yield f"{repository}/{INDEX}", _json({"schemaVersion": 2, "manifests": manifests})


def _described(media_type: str, data: bytes, annotations: Mapping[str, str] | None = None) -> dict[str, Any]:
    """A content descriptor."""
    descriptor = {"mediaType": media_type, "digest": digest(data), "size": len(data)}
    return descriptor | ({"annotations": annotations} if annotations else {})


def _json(document: Mapping[str, Any]) -> bytes:
    return json.dumps(document, sort_keys=True).encode()


ROOT = "/v2"
DIGEST = "sha256:[0-9a-f]{64}"
ROUTE = re.compile(
    rf"{ROOT}/(?P<repository>{NAME}(?:/{NAME})*)"
    rf"/(?:manifests/(?P<reference>[\w.:-]+)|blobs/(?P<digest>{DIGEST})|(?P<tags>tags/list))"
)
"""Repositories are named as they are published: nothing that climbs out of the directory matches."""
HEADERS = {"Docker-Distribution-API-Version": "registry/2.0"}


def serve(directory: Path, target: str, headers: Mapping[str, str]) -> Response:
    """Answer one request for something under /v2."""
    path = urlsplit(target).path
    if path.rstrip("/") == ROOT:
        # Clients ask here first whether to log in, before they say to which repository.
        return _unauthorized() if _is_guarded(directory) and "Authorization" not in headers else _answer({})
    route = ROUTE.fullmatch(path)
    layout = directory / route["repository"] if route else directory
    if route is None or not (layout / INDEX).is_file():
        return _missing("NAME_UNKNOWN")
    if not logins.admitted(layout.parent, headers):
        return _unauthorized()
    manifests = json.loads((layout / INDEX).read_bytes())["manifests"]
    if route["tags"]:
        return _answer({"name": route["repository"], "tags": sorted(_tag(manifest) for manifest in manifests)})
    if route["digest"]:
        return _blob(layout, route["digest"], "application/octet-stream") or _missing("BLOB_UNKNOWN")
    return _manifest(layout, manifests, route["reference"]) or _missing("MANIFEST_UNKNOWN")


def _is_guarded(directory: Path) -> bool:
    return any(directory.glob(f"*/*/{logins.FILE}"))


def _manifest(layout: Path, manifests: list[dict[str, Any]], reference: str) -> Response | None:
    """The manifest of a tag or a digest."""
    for manifest in manifests:
        if reference in (_tag(manifest), manifest["digest"]):
            return _blob(layout, manifest["digest"], manifest["mediaType"])
    return None


def _tag(manifest: dict[str, Any]) -> str:
    return str(manifest["annotations"][TAG])


def _blob(layout: Path, digest: str, media_type: str) -> Response | None:
    try:
        data = (layout / blob(digest)).read_bytes()
    except FileNotFoundError:
        return None
    return Response(HTTPStatus.OK, {**HEADERS, "Content-Type": media_type, "Docker-Content-Digest": digest}, data)


def _answer(document: dict[str, Any], status: HTTPStatus = HTTPStatus.OK) -> Response:
    return Response(status, {**HEADERS, "Content-Type": "application/json"}, json.dumps(document).encode())


def _unauthorized() -> Response:
    refused = _answer({"errors": [{"code": "UNAUTHORIZED"}]}, HTTPStatus.UNAUTHORIZED)
    return refused._replace(headers={**refused.headers, **logins.CHALLENGE})


def _missing(code: str) -> Response:
    return _answer({"errors": [{"code": code}]}, HTTPStatus.NOT_FOUND)
