"""Charts and plain folders as the files of a chart repository and of an OCI registry, which the content server serves."""

import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from tenantry.charts import files_of
from tenantry_sandbox.layout import SandboxError
from tenantry_sandbox.package import CREATED, Package, packed
from tenantry_sandbox.repositories import folders

MANIFEST = "application/vnd.oci.image.manifest.v1+json"
HELM = ("application/vnd.cncf.helm.config.v1+json", "application/vnd.cncf.helm.chart.content.v1.tar+gzip")
FLUX = ("application/vnd.cncf.flux.config.v1+json", "application/vnd.cncf.flux.content.v1.tar+gzip")
"""The media types of configuration and layer by which Helm and Flux know a chart, and what `flux push artifact` pushes."""
NAME = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"
"""A part of a repository's name, as the distribution specification has it."""


def charts(packages: Iterable[Package]) -> dict[str, bytes]:
    """The files of a chart repository: the charts and their index."""
    files, entries = dict[str, bytes](), defaultdict[str, list[dict[str, Any]]](list)
    for chart in sorted(packages, key=lambda chart: chart.file):
        files[chart.file] = chart.archive
        digest = hashlib.sha256(chart.archive).hexdigest()
        entries[chart.name].append({**chart.metadata, "created": CREATED, "digest": digest, "urls": [chart.file]})
    index = {"apiVersion": "v1", "entries": dict(entries), "generated": CREATED}
    return {**files, "index.yaml": yaml.safe_dump(index).encode()}


def artifacts(packages: Iterable[Package], source: Path) -> dict[str, bytes]:
    """The files of a registry: the charts as `charts/<chart>`, and the folders of `source` as `oci/<owner>/<name>`.

    Their paths are those of the distribution specification below /v2.

    Raises:  SandboxError: a name that registries do not take.
    """
    files, tags = dict[str, bytes](), defaultdict[str, list[str]](list)
    for name, tag, types, config, layer in (*map(_of_chart, packages), *_of_folders(source)):
        if not re.fullmatch(f"{NAME}(/{NAME})*", name):
            fix = "use small letters, digits, and single dots, hyphens or underscores between them"
            raise SandboxError(f"'{name}' can be no repository of an OCI registry", fix)
        tags[name].append(tag)
        # Equal artifacts have equal manifests, so their digest changes with their content only.
        document = {
            "schemaVersion": 2,
            "mediaType": MANIFEST,
            "config": _descriptor(types[0], config),
            "layers": [_descriptor(types[1], layer)],
            "annotations": {"org.opencontainers.image.created": CREATED},
        }
        manifest = _json(document)
        files |= {f"{name}/blobs/{digest(data)}": data for data in (config, layer)}
        files |= {f"{name}/manifests/{reference}": manifest for reference in (tag, digest(manifest))}
    lists = {f"{name}/tags/list": _json({"name": name, "tags": sorted(found)}) for name, found in tags.items()}
    return {**files, **lists}


def digest(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


class Artifact(NamedTuple):
    """One tagged version in a repository. types: the media types of configuration and layer."""

    repository: str
    tag: str
    types: tuple[str, str]
    config: bytes
    layer: bytes


def _of_chart(chart: Package) -> Artifact:
    # Dates of a Chart.yaml are YAML's, which JSON cannot express.
    config = json.dumps(chart.metadata, sort_keys=True, default=str).encode()
    return Artifact(f"charts/{chart.name}", chart.tag, HELM, config, chart.archive)


def _of_folders(source: Path) -> Iterator[Artifact]:
    for name in folders(source):
        yield Artifact(f"oci/{name}", "latest", FLUX, _json({}), packed(files_of(source / name)))


def _descriptor(media_type: str, data: bytes) -> dict[str, Any]:
    return {"mediaType": media_type, "digest": digest(data), "size": len(data)}


def _json(document: Mapping[str, Any]) -> bytes:
    return json.dumps(document, sort_keys=True).encode()
