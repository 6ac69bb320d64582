"""Serves published image layouts as an OCI registry, for pulling only.

Source:  github.com/opencontainers/distribution-spec, "Pull" and "Content Discovery".
"""

import json
import re
from collections.abc import Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tenantry.sandbox import logins
from tenantry.sandbox.registry import INDEX, NAME, TAG, blob
from tenantry.sandbox.response import Response

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
        return _answer({"name": route["repository"], "tags": sorted(_tag(each) for each in manifests)})
    if route["digest"]:
        return _blob(layout, route["digest"], "application/octet-stream") or _missing("BLOB_UNKNOWN")
    return _manifest(layout, manifests, route["reference"]) or _missing("MANIFEST_UNKNOWN")


def _is_guarded(directory: Path) -> bool:
    return any(directory.glob(f"*/*/{logins.FILE}"))


def _manifest(layout: Path, manifests: list[dict[str, Any]], reference: str) -> Response | None:
    """The manifest of a tag or a digest."""
    for each in manifests:
        if reference in (_tag(each), each["digest"]):
            return _blob(layout, each["digest"], each["mediaType"])
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
