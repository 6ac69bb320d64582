"""What the management cluster holds of the fleet, found by the fleet's labels; reads only."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any

from tenantry import rest
from tenantry.bootstrap import MARKER
from tenantry.claims import CLAIM_LABEL, Claim, claims, other_claims
from tenantry.errors import Refused
from tenantry.fleet import Fleet
from tenantry.kube import Manifest, object_id
from tenantry.model import SecretKey
from tenantry.plan import Plan
from tenantry.problems import Problem, error, refuse
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
            for found in _listed(client, resource, namespace="*", labels=dict(labels)):
                content: dict[str, Any] = found.to_dict()
                # The server leaves these out of the items of a list.
                yield {**content, "apiVersion": f"{group}/{version}", "kind": kind}
        except HTTPStatusError as failure:  # the base of the client's own error, which needs a body in JSON
            if failure.response.status_code == 404:
                message = f"the cluster knows no {kind}: Flux is not installed there"
                raise Refused(message, "install Flux, or name the management cluster") from None
            message = f"can not list {plural}: HTTP {failure.response.status_code}"
            raise Refused(message, "use credentials that may read Flux's objects") from None


def _listed(client: Client, resource: Any, **which: Any) -> list[Any]:
    return rest.patiently(lambda: list(client.list(resource, **which)))


def namespaces_of(client: Client) -> Iterator[Manifest]:
    """All Namespaces. Raises: Refused: the cluster does not let us read."""
    from httpx2 import HTTPStatusError
    from lightkube.resources.core_v1 import Namespace

    try:
        for found in _listed(client, Namespace):
            yield {**found.to_dict(), "apiVersion": "v1", "kind": "Namespace"}
    except HTTPStatusError as failure:
        message = f"can not list namespaces: HTTP {failure.response.status_code}"
        raise Refused(message, "use credentials that may read namespaces") from None


def marked_as(client: Client, platform: str) -> str | None:
    """Which cluster a management cluster says it is; None: it does not say. Raises: Refused: it does not let us read that."""
    from httpx2 import HTTPStatusError
    from lightkube.resources.core_v1 import ConfigMap

    try:
        return (rest.patiently(lambda: client.get(ConfigMap, MARKER, namespace=platform)).data or {}).get("cluster")
    except HTTPStatusError as failure:
        if failure.response.status_code == 404:
            return None
        message = f"can not read ConfigMap {platform}/{MARKER}: HTTP {failure.response.status_code}"
        raise Refused(message, "use credentials that may read the ConfigMaps of that namespace") from None


def check_claim(client: Client, fleet: Fleet, mine: Claim) -> None:
    """Raises: Refused: the stack runs another environment, or another stack runs this one."""
    refuse(against_claim(client, fleet, mine))


def against_claim(client: Client, fleet: Fleet, mine: Claim) -> Iterator[Problem]:
    """What the claims on the management cluster say against a stack's own."""
    platform = fleet.document.platform.namespace
    return other_claims(mine, claims_on(client, platform), platform)


def claims_on(client: Client, platform: str) -> list[Claim]:
    """Which stacks run which environments from here. Raises: Refused: the cluster does not let us read that."""
    from httpx2 import HTTPStatusError
    from lightkube.resources.core_v1 import ConfigMap

    try:
        found = _listed(client, ConfigMap, namespace=platform, labels={CLAIM_LABEL: None})
    except HTTPStatusError as failure:
        message = f"can not list ConfigMaps in {platform}: HTTP {failure.response.status_code}"
        raise Refused(message, "use credentials that may read the ConfigMaps of that namespace") from None
    return list(claims(each.to_dict() for each in found))


def held_on(client: Client, fleet: Fleet, plan: Plan) -> Iterator[Manifest]:
    """What the management cluster of a plan holds: all namespaces, what stands for apps of the environment, and of whatever
    the plan would take over the metadata.

    Raises: Refused: it is another cluster, or does not say which.
    """
    refuse(unmarked(client, fleet, plan))
    return holdings(client, plan)


def holdings(client: Client, plan: Plan) -> Iterator[Manifest]:
    """As `held_on`, whatever the cluster says of itself."""
    labels = {"tenantry/environment": plan.environment}
    return chain(namespaces_of(client), apps_of(client, labels), strangers_on(client, plan))


OTHER_CLUSTER, UNMARKED = "other-cluster", "unmarked-cluster"


def unmarked(client: Client, fleet: Fleet, plan: Plan) -> Iterator[Problem]:
    """Whether the cluster is the plan's management cluster, as far as it says so itself."""
    marked, server = marked_as(client, fleet.document.platform.namespace), client.config.cluster.server
    if marked is None:
        yield error(
            UNMARKED,
            f"cluster {server} does not say that it is '{plan.management}', which environment '{plan.environment}' is managed from",
            f"check the kubeconfig and its context; if it is that cluster: tenantry cluster bootstrap {plan.management}"
            " --kubeconfig FILE --context NAME",
        )
    elif marked != plan.management:
        yield error(
            OTHER_CLUSTER,
            f"cluster {server} says that it is '{marked}', but '{plan.management}' manages environment '{plan.environment}'",
            "choose the kubeconfig and context of that cluster, or the stack of the other environment",
        )


def strangers_on(client: Client, plan: Plan) -> Iterator[Manifest]:
    """The metadata of planned objects that are there and not of the environment; Namespaces are left to `namespaces_of`.

    One list per kind, side by side, of what lacks the label: next to nothing on a cluster that holds the fleet.
    Raises: Refused: the cluster does not let us read.
    """
    planned = {each.id for each in plan.objects}
    kinds = dict.fromkeys((id.api_version, id.kind) for id in planned if id.kind != "Namespace")

    def others(kind: tuple[str, str]) -> list[Manifest]:
        found = rest.every(client, *kind, selector=f"tenantry/environment!={plan.environment}", metadata_only=True)
        return [each for each in found if object_id(each) in planned]

    yield from chain.from_iterable(rest.in_parallel(others, sorted(kinds)))


def secret_of(client: Client, reference: SecretKey) -> FoundSecret | None:
    """The Secret that a cluster's kubeconfig lies in, or None. Raises: Refused: the cluster does not let us read it."""
    from httpx2 import HTTPStatusError
    from lightkube.resources.core_v1 import Secret

    try:
        secret = rest.patiently(lambda: client.get(Secret, reference.name, namespace=reference.namespace))
    except HTTPStatusError as failure:
        if failure.response.status_code == 404:
            return None
        message = f"can not read Secret {reference.namespace}/{reference.name}: HTTP {failure.response.status_code}"
        raise Refused(message, "use credentials that may read the Secrets of that namespace") from None
    labels = (secret.metadata.labels if secret.metadata else None) or {}
    return FoundSecret({key: base64.b64decode(value) for key, value in (secret.data or {}).items()}, labels)
