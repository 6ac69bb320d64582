"""Sources: a Flux object for each."""

from __future__ import annotations

from tenantry.flux.addresses import address_problems
from tenantry.kube.objects import KubeObject, ObjectId
from tenantry.messages.errors import Finding, Found, Path, raise_found
from tenantry.model import Source
from tenantry.plan.objects.scope import Scope, with_metadata

API = "source.toolkit.fluxcd.io/v1"

_CHART_LAYER = {"mediaType": "application/vnd.cncf.helm.chart.content.v1.tar+gzip", "operation": "copy"}
"""The layer of an OCI artifact that contains a Helm chart. Flux must not unpack it: Helm reads the archive."""


def source_object(scope: Scope, name: str, source: Source, at: Path, *, is_chart: bool = False) -> KubeObject:
    """The object of a source that is declared at a path of the document.

    Args:   is_chart: whether a release uses the source itself as its chart.
    Raises: Found: Flux does not accept its address.
    """
    block = source.block
    spec = block.model_dump(exclude_none=True, exclude={"updates"})
    if source.helm and source.helm.url.startswith("oci://") != (source.helm.type == "oci"):
        raise Found([_wrong_type(source.helm.url, source.helm.type, (*at, "helm", "url"))])
    raise_found(address_problems(block.flux_kind, spec, (*at, source.kind)))
    if source.oci and is_chart:
        spec.setdefault("layerSelector", _CHART_LAYER)
    if source.credentials:
        spec["secretRef"] = {"name": source.credentials}
    planned = scope.object(API, block.flux_kind, name, {"spec": spec}, depends_on=scope.made_home)
    return with_metadata(planned, source.metadata) if source.metadata else planned


def _wrong_type(url: str, written: str, at: Path) -> Finding:
    wanted = "oci" if written != "oci" else "default"
    message = f"the URL '{url}' does not go with type '{written}'"
    return Finding(at, "bad-url", message, fix=f"set 'type: {wanted}', or correct the URL")


def reference(id: ObjectId) -> dict[str, str]:
    """A `sourceRef` or `chartRef` to an object in the same namespace."""
    return {"kind": id.kind, "name": id.name}
