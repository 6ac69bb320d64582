"""The providers of a stack: one for each of its management clusters. Flux reaches remote clusters, so these have none."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pulumi
from pulumi_kubernetes import Provider, ProviderArgs

from tenantry.stacks.file import Reach, reaches

from .config import DirectoryTarget, Target

ALONE = "management"
"""Of an environment with one management cluster, whatever its name and target: which cluster it is, the identifier says."""

_REQUESTS = {"qps": 500, "burst": 1000}
"""By default the client sends 50 requests a second, and previews take twice as long; the server protects itself."""

_ADOPTING: dict[str, Any] = (
    {"upsert_existing_objects": True} if hasattr(ProviderArgs, "upsert_existing_objects") else {}
)
"""Since version 4.29 the provider refuses to create what exists, unless it is told otherwise. Creating has to take over objects
that a killed run left, and those of `adopt: true`; the guard decides beforehand what may be taken over."""

_NO_KUBECONFIG = pulumi.ResourceOptions(env_var_mappings={"PATH": "KUBECONFIG"})
"""Gives the provider's process a KUBECONFIG made of directories, which it cannot load.

It would ask whatever cluster the user's kubeconfig points to about kinds, and, once answered, write files in a preview.
"""


def management_providers(
    target: Target, environment: str, hubs: Sequence[str], former: str = ""
) -> dict[str, Provider]:
    """The providers for the objects of an environment's management clusters, by name; by "" if it has only one.

    former: the cluster that was the only one until now, or is it from now on; its provider keeps its place in the state.
    """
    if isinstance(target, DirectoryTarget):
        if len(hubs) < 2:
            return {"": _writing(ALONE, target.directory)}
        return {hub: _writing(name_of(hub), target.directory / hub) for hub in hubs}
    reached = reaches(environment, hubs, Reach(target.kubeconfig, target.context), target.hubs)
    if len(hubs) < 2:
        return {"": _reaching(ALONE, reached[""], hubs[0], name_of(former) if former else "")}
    return {hub: _reaching(name_of(hub), way, hub, ALONE if hub == former else "") for hub, way in reached.items()}


def name_of(hub: str) -> str:
    """The name of the provider for one of several management clusters."""
    return f"{ALONE}/{hub}"


def _writing(name: str, directory: Path) -> Provider:
    return Provider(name, _NO_KUBECONFIG, kubeconfig="", render_yaml_to_directory=str(directory))


def _reaching(name: str, way: Reach, cluster: str, alias: str) -> Provider:
    """The provider for one cluster. It contacts the cluster only for an object that changes, or that is refreshed.

    The cluster's name is its identity: objects stay when its address changes, and move when the name changes.
    The kubeconfig is passed as a path, so the state holds no credentials. "" stands for the default locations; if the
    argument were missing, the SDK would write the user's KUBECONFIG into the state.
    """
    return Provider(
        name,
        pulumi.ResourceOptions(aliases=[pulumi.Alias(name=alias)]) if alias else None,
        kubeconfig=str(way.kubeconfig) if way.kubeconfig else "",
        context=way.context,
        cluster_identifier=cluster,
        kube_client_settings=_REQUESTS,
        # By default, a changed value deletes the object and creates a new one, and Flux fails in between.
        enable_secret_mutable=True,
        enable_config_map_mutable=True,
        **_ADOPTING,
    )
