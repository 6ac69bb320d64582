"""What the management cluster holds of the fleet, found by the fleet's labels; reads only."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any

from tenantry.bootstrap import MARKER
from tenantry.claims import CLAIM_LABEL, Claim, claims
from tenantry.errors import Refused
from tenantry.fleet import Fleet
from tenantry.kube import Manifest
from tenantry.model import SecretKey
from tenantry.plan import Plan
from tenantry.secretcheck import FoundSecret

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
    from httpx2 import HTTPStatusError
    from lightkube.generic_resource import create_namespaced_resource

    for kind, (group, version, plural) in APP_KINDS.items():
        resource = create_namespaced_resource(group, version, kind, plural)
        try:
            for found in client.list(resource, namespace="*", labels=dict(labels)):
                content: dict[str, Any] = found.to_dict()  # type: ignore[no-untyped-call]
                # The server leaves these out of the items of a list.
                yield {**content, "apiVersion": f"{group}/{version}", "kind": kind}
        except HTTPStatusError as error:  # the base of the client's own error, which needs a body in JSON
            if error.response.status_code == 404:
                message = f"the cluster knows no {kind}: Flux is not installed there"
                raise Refused(message, "install Flux, or name the management cluster") from None
            message = f"can not list {plural}: HTTP {error.response.status_code}"
            raise Refused(message, "use credentials that may read Flux's objects") from None


def namespaces_of(client: Client) -> Iterator[Manifest]:
    """All Namespaces. Raises: Refused: the cluster does not let us read."""
    from httpx2 import HTTPStatusError
    from lightkube.resources.core_v1 import Namespace

    try:
        for found in client.list(Namespace):
            yield {**found.to_dict(), "apiVersion": "v1", "kind": "Namespace"}
    except HTTPStatusError as error:
        message = f"can not list namespaces: HTTP {error.response.status_code}"
        raise Refused(message, "use credentials that may read namespaces") from None


def marked_as(client: Client, platform: str) -> str | None:
    """Which cluster a management cluster says it is; None: it does not say. Raises: Refused: it does not let us read that."""
    from httpx2 import HTTPStatusError
    from lightkube.resources.core_v1 import ConfigMap

    try:
        return (client.get(ConfigMap, MARKER, namespace=platform).data or {}).get("cluster")
    except HTTPStatusError as error:
        if error.response.status_code == 404:
            return None
        message = f"can not read ConfigMap {platform}/{MARKER}: HTTP {error.response.status_code}"
        raise Refused(message, "use credentials that may read the ConfigMaps of that namespace") from None


def claims_on(client: Client, platform: str) -> list[Claim]:
    """Which stacks run which environments from here. Raises: Refused: the cluster does not let us read that."""
    from httpx2 import HTTPStatusError
    from lightkube.resources.core_v1 import ConfigMap

    try:
        found = list(client.list(ConfigMap, namespace=platform, labels={CLAIM_LABEL: None}))
    except HTTPStatusError as error:
        message = f"can not list ConfigMaps in {platform}: HTTP {error.response.status_code}"
        raise Refused(message, "use credentials that may read the ConfigMaps of that namespace") from None
    return list(claims(each.to_dict() for each in found))


def held_on(client: Client, fleet: Fleet, plan: Plan) -> Iterator[Manifest]:
    """What the management cluster of a plan holds: all namespaces, and what stands for apps of the environment.

    Raises: Refused: it is another cluster, or does not say which.
    """
    platform = fleet.document.platform.namespace
    marked, server = marked_as(client, platform), client.config.cluster.server
    if marked is None:
        raise Refused(
            f"cluster {server} does not say that it is '{plan.management}', which environment '{plan.environment}' is managed from",
            f"check the kubeconfig and its context; if it is that cluster: tenantry cluster bootstrap {plan.management}"
            " --kubeconfig FILE --context NAME",
        )
    if marked != plan.management:
        raise Refused(
            f"cluster {server} says that it is '{marked}', but '{plan.management}' manages environment '{plan.environment}'",
            "choose the kubeconfig and context of that cluster, or the stack of the other environment",
        )
    labels = {"tenantry/environment": plan.environment}
    return chain(namespaces_of(client), apps_of(client, labels))


def secret_of(client: Client, reference: SecretKey) -> FoundSecret | None:
    """The Secret that a cluster's kubeconfig lies in, or None. Raises: Refused: the cluster does not let us read it."""
    from httpx2 import HTTPStatusError
    from lightkube.resources.core_v1 import Secret

    try:
        secret = client.get(Secret, reference.name, namespace=reference.namespace)
    except HTTPStatusError as error:
        if error.response.status_code == 404:
            return None
        message = f"can not read Secret {reference.namespace}/{reference.name}: HTTP {error.response.status_code}"
        raise Refused(message, "use credentials that may read the Secrets of that namespace") from None
    labels = (secret.metadata.labels if secret.metadata else None) or {}
    return FoundSecret({key: base64.b64decode(value) for key, value in (secret.data or {}).items()}, labels)
