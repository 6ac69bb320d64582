"""Checks what a remote cluster has already under the names that the plan uses there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from tenantry.cluster.requests import every
from tenantry.fleet.fleet import Fleet
from tenantry.kube.names import join
from tenantry.kube.objects import Manifest
from tenantry.messages.errors import Problem, error
from tenantry.messages.text import listed
from tenantry.plan.objects.scope import ENVIRONMENT_LABEL, TENANT_LABEL
from tenantry.plan.plan import Plan

if TYPE_CHECKING:
    from tenantry.cluster.client import Client


def namespaces_to_make(fleet: Fleet, plan: Plan, cluster: str) -> dict[str, str]:
    """The namespaces of tenants on a cluster, with the tenant. Tenants that adopt are left out: they may take them over."""
    return {
        namespace: each.tenant
        for each in plan.placements
        if each.cluster == cluster and not fleet.document.tenants[each.tenant].adopt
        for namespace in each.namespaces
    }


def check_namespaces(client: Client, environment: str, wanted: Mapping[str, str]) -> Iterator[Problem]:
    """Namespaces of somebody else, which a baseline does not take over. Raises: Refused: they cannot be read."""
    for there in every(client, "v1", "Namespace", metadata_only=True) if wanted else ():
        name = there["metadata"]["name"]
        if name in wanted and not _is_of(there, environment, wanted[name], name):
            yield error(
                "foreign-namespace",
                f"namespace '{name}' exists on it and was not made for tenant '{wanted[name]}': its baseline cannot be installed",
                f"rename the tenant, or set 'adopt: true' under tenants.{wanted[name]} to take the namespace over",
            )


def _is_of(there: Manifest, environment: str, tenant: str, name: str) -> bool:
    """Whether a namespace has the labels of the fleet, or the annotation of the release that makes it."""
    labels = there["metadata"].get("labels") or {}
    annotations = there["metadata"].get("annotations") or {}
    main = annotations.get("meta.helm.sh/release-name") == join(name, "baseline")
    return main or (labels.get(TENANT_LABEL), labels.get(ENVIRONMENT_LABEL)) == (tenant, environment)


def check_accounts(client: Client, namespace: str, impersonated: tuple[str, ...]) -> Iterator[Problem]:
    """Service accounts that are there under the names that Flux acts as: it would have their rights too.

    Args:   namespace: of the kubeconfig. Raises: Refused: they cannot be read.
    """
    there = {each["metadata"]["name"] for each in every(client, "v1", "ServiceAccount", namespace=namespace)}
    if same := [each for each in impersonated if each in there]:
        yield error(
            "same-account",
            f"it has service accounts of its own in namespace '{namespace}' called {listed(same)}: Flux would act with their"
            " rights",
            "keep the cluster's kubeconfig in a namespace that does not exist on it; or, if they are new, rename the tenants",
        )
