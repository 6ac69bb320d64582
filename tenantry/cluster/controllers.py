"""The Deployments of Flux's controllers on a management cluster."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tenantry.cluster.requests import every
from tenantry.flux.lockdown import LOCKDOWN
from tenantry.kube.objects import Manifest, labels_of
from tenantry.plan.objects.scope import TENANT_LABEL

if TYPE_CHECKING:
    from tenantry.cluster.client import Client

_LABEL = "app.kubernetes.io/part-of=flux"


def deployments_of(client: Client) -> list[Manifest]:
    """The Deployments with Flux's label; if there are none, all. Raises: Refused: reading is not allowed.

    Those in tenants' namespaces are left out: a tenant's, with Flux's labels, would hide the controllers.
    """
    return _outside_of_tenants(client, _LABEL) or _outside_of_tenants(client)


def _outside_of_tenants(client: Client, selector: str = "") -> list[Manifest]:
    found = list(every(client, "apps/v1", "Deployment", selector=selector))
    marked = every(client, "v1", "Namespace", selector=TENANT_LABEL, metadata_only=True) if found else ()
    tenants = {each["metadata"]["name"] for each in marked if TENANT_LABEL in labels_of(each)}
    return [each for each in found if each["metadata"].get("namespace") not in tenants]


def controller_of(deployment: Manifest) -> str:
    """The Flux controller that a Deployment runs, also if it is a shard with another name; "" if it runs none."""
    images = {_software(container) for container in containers_of(deployment)}
    return next((name for name in LOCKDOWN if name in images or name == deployment["metadata"]["name"]), "")


def _software(container: Mapping[str, Any]) -> str:
    """ghcr.io/fluxcd/kustomize-controller:v1.9.5@sha256:0a -> kustomize-controller"""
    return str(container.get("image", "")).partition("@")[0].rpartition("/")[2].partition(":")[0]


def containers_of(deployment: Manifest) -> list[Mapping[str, Any]]:
    containers: list[Mapping[str, Any]] = deployment["spec"]["template"]["spec"]["containers"]
    return containers


def position_of(deployment: Manifest, controller: str) -> int:
    """The index of the controller's container; the first if no image has its name."""
    software = [_software(container) for container in containers_of(deployment)]
    return software.index(controller) if controller in software else 0
