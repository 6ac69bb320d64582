"""Pulls one layer of an OCI artifact, or lists the tags of its repository: `python -m tenantry.manifests.pull`.

It is a process of its own, whose time and files are bounded. Reads the request from its only argument, a document in JSON;
writes the layer to a file or prints the tags, or says on stderr why not.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

from tenantry.versions.semver import highest

_MANIFESTS = ["application/vnd.oci.image.manifest.v1+json", "application/vnd.docker.distribution.manifest.v2+json"]


def main(text: str) -> None:
    from oras.provider import Registry  # type: ignore[import-untyped]

    request = json.loads(text)
    host, _, name = request["url"].removeprefix("oci://").partition("/")
    registry = Registry(hostname=host, insecure=request["insecure"])
    if "into" not in request:
        print(json.dumps(_tags(registry, f"{host}/{name}", request["configs"])))
        return
    container = registry.get_container(f"{host}/{name}{_reference(registry, host, name, request['ref'])}")
    layer = _layer(registry.get_manifest(container, allowed_media_type=_MANIFESTS), request["mediaType"])
    target = Path(request["into"])
    registry.download_blob(container, layer["digest"], str(target))
    if f"sha256:{hashlib.sha256(target.read_bytes()).hexdigest()}" != layer["digest"]:
        raise ValueError("the layer does not have the digest that the manifest names")


def _reference(registry: Any, host: str, name: str, ref: dict[str, str]) -> str:
    """By digest, range or tag, in this order; the default is the tag `latest`."""
    if digest := ref.get("digest"):
        return f"@{digest}"
    if semver := ref.get("semver"):
        tag = highest(_tags(registry, f"{host}/{name}", []), semver)
        if tag is None:
            raise ValueError(f"no tag is in the range '{semver}'")
        return f":{tag}"
    return f":{ref.get('tag', 'latest')}"


def _tags(registry: Any, repository: str, configs: list[str]) -> list[str]:
    """configs: files with logins, beside the one of `docker login`."""
    container = registry.get_container(repository)
    registry.auth.load_configs(container, configs)
    return list(registry.get_tags(container))


def _layer(manifest: dict[str, Any], wanted: str) -> dict[str, str]:
    """The first layer of a media type; without one, the first layer."""
    for layer in manifest.get("layers") or ():
        if not wanted or layer["mediaType"] == wanted:
            return dict(layer)
    raise ValueError(f"it has no layer of the type '{wanted}'" if wanted else "it has no layers")


if __name__ == "__main__":
    try:
        main(sys.argv[1])
    except Exception as failed:  # the caller shows the message
        sys.exit(str(failed) or type(failed).__name__)
