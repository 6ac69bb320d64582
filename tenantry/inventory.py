"""What the management cluster holds of the fleet, found by the fleet's labels; reads only."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from tenantry.errors import Refused
from tenantry.kube import Manifest

if TYPE_CHECKING:
    from lightkube import Client

APP_KINDS = {
    "Kustomization": ("kustomize.toolkit.fluxcd.io", "v1", "kustomizations"),
    "HelmRelease": ("helm.toolkit.fluxcd.io", "v2", "helmreleases"),
}
"""Kind -> group, version and plural of what stands for an app."""


def apps_of(client: Client, labels: Mapping[str, str]) -> Iterator[Manifest]:
    """The Kustomizations and HelmReleases of all namespaces that carry the labels.

    Raises: Refused: Flux is not installed on the cluster, or it does not let us read.
    """
    from lightkube.core.exceptions import ApiError
    from lightkube.generic_resource import create_namespaced_resource

    for kind, (group, version, plural) in APP_KINDS.items():
        resource = create_namespaced_resource(group, version, kind, plural)
        try:
            for found in client.list(resource, namespace="*", labels=dict(labels)):
                # The server leaves these out of the items of a list.
                yield {**found.to_dict(), "apiVersion": f"{group}/{version}", "kind": kind}
        except ApiError as error:
            if error.status.code == 404:
                raise Refused(f"the cluster knows no {kind}: Flux is not installed there", "install Flux, or name the management cluster") from None
            raise Refused(f"can not list {plural}: {error.status.message}", "use credentials that may read Flux's objects") from None
