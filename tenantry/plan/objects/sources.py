"""Sources: a Flux object for each."""

from __future__ import annotations

import re

from tenantry.kube.objects import KubeObject, ObjectId
from tenantry.messages.errors import Finding, Found, Path
from tenantry.messages.findings import password_in_url
from tenantry.messages.redact import shorten
from tenantry.model import Source
from tenantry.plan.objects.scope import Scope, with_metadata

API = "source.toolkit.fluxcd.io/v1"

_URLS = {
    "git": (re.compile(r"(https?|ssh)://\S+"), "http://, https:// or ssh://"),
    "oci": (re.compile(r"oci://\S+"), "oci://"),
    "helm": (re.compile(r"(https?|oci)://\S+"), "http://, https:// or oci://"),
}
_SCP = re.compile(r"([\w-]+)@([\w.-]+):([\w./~-]+)")
"""An SSH address in scp form: user, host and path."""
_CHART_LAYER = {"mediaType": "application/vnd.cncf.helm.chart.content.v1.tar+gzip", "operation": "copy"}
"""The layer of an OCI artifact that contains a Helm chart. Flux must not unpack it: Helm reads the archive."""


def source_object(scope: Scope, name: str, source: Source, at: Path, *, is_chart: bool = False) -> KubeObject:
    """The object of a source that is declared at a path of the document.

    Args:   is_chart: whether a release uses the source itself as its chart.
    Raises: Found: Flux does not accept its URL.
    """
    block = source.block
    spec = block.model_dump(exclude_none=True, exclude={"updates"})
    if "url" in spec:
        _check_url(source.kind, spec["url"], (*at, source.kind, "url"))
    if source.helm and source.helm.url.startswith("oci://") != (source.helm.type == "oci"):
        raise Found([_wrong_type(source.helm.url, source.helm.type, (*at, "helm", "url"))])
    if source.oci and is_chart:
        spec.setdefault("layerSelector", _CHART_LAYER)
    if source.credentials:
        spec["secretRef"] = {"name": source.credentials}
    planned = scope.object(API, block.flux_kind, name, {"spec": spec}, depends_on=scope.made_home)
    return with_metadata(planned, source.metadata) if source.metadata else planned


def _check_url(kind: str, url: str, at: Path) -> None:
    if finding := password_in_url(at, url):
        raise Found([finding])
    pattern, wanted = _URLS[kind]
    if not pattern.fullmatch(url):
        message = f"'{shorten(url)}' is not a URL that Flux accepts here"
        known = _SCP.fullmatch(url) if kind == "git" and shorten(url) == url else None
        fix = f"write ssh://{known[1]}@{known[2]}/{known[3]}" if known else f"write a URL that begins with {wanted}"
        raise Found([Finding(at, "bad-url", message, fix=fix)])


def _wrong_type(url: str, written: str, at: Path) -> Finding:
    wanted = "oci" if written != "oci" else "default"
    message = f"the URL '{url}' does not go with type '{written}'"
    return Finding(at, "bad-url", message, fix=f"set 'type: {wanted}', or correct the URL")


def reference(id: ObjectId) -> dict[str, str]:
    """A `sourceRef` or `chartRef` to an object in the same namespace."""
    return {"kind": id.kind, "name": id.name}
