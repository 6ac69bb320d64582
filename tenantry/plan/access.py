"""What Flux needs to act as the platform team on a remote cluster."""

from __future__ import annotations

from collections.abc import Iterator

from tenantry.fleet.fleet import Fleet
from tenantry.fleet.sharing import platform_account
from tenantry.kube.objects import KubeObject, Owner
from tenantry.messages.errors import Path
from tenantry.model import ConfigMap, SecretKey
from tenantry.plan.objects.remote import service_account, workload_identity


def kubeconfig_of(fleet: Fleet, environment: str, cluster: str) -> SecretKey | ConfigMap | None:
    """Where the kubeconfig of a remote cluster is; None: it is the environment's management cluster."""
    declared = fleet.clusters[cluster].kubeconfig
    return declared.resolved if declared and cluster != fleet.environments[environment].management else None


def access_objects(fleet: Fleet, environment: str, cluster: str) -> Iterator[tuple[KubeObject, Path]]:
    """The service account of the platform team, and the ConfigMap for tokens if the fleet makes it, each with its place."""
    if kubeconfig := kubeconfig_of(fleet, environment, cluster):
        account = platform_account(fleet, environment, cluster)
        yield service_account(account, kubeconfig.namespace, environment, Owner()), ("clusters", cluster)
    if identity := identity_of(fleet, environment, cluster):
        yield identity, ("clusters", cluster, "kubeconfig")


def identity_of(fleet: Fleet, environment: str, cluster: str) -> KubeObject | None:
    """The ConfigMap by which Flux gets tokens for a cluster; None: the cluster has none, or it is not the fleet's."""
    kubeconfig = kubeconfig_of(fleet, environment, cluster)
    if not isinstance(kubeconfig, ConfigMap) or kubeconfig.provider is None:
        return None
    return workload_identity(kubeconfig, environment, cluster)
