"""The only provider of a stack, for its management cluster. Remote clusters have no provider, because Flux reaches them."""

from __future__ import annotations

from typing import Any, assert_never

import pulumi
from pulumi_kubernetes import Provider, ProviderArgs

from .config import ClusterTarget, DirectoryTarget, Target

_NAME = "management"
"""The same for all clusters and targets: which cluster it is, the identifier says."""

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


def management_provider(target: Target, cluster: str) -> Provider:
    """The provider for a management cluster's objects.

    The cluster's name is its identity: objects stay when its address changes, and move when the name changes.
    The kubeconfig is passed as a path, so the state holds no credentials. "" stands for the default locations; if the
    argument were missing, the SDK would write the user's KUBECONFIG into the state.
    """
    match target:
        case ClusterTarget(kubeconfig, context):
            path = str(kubeconfig) if kubeconfig else ""
            return Provider(
                _NAME,
                kubeconfig=path,
                context=context,
                cluster_identifier=cluster,
                kube_client_settings=_REQUESTS,
                # By default, a changed value deletes the object and creates a new one, and Flux fails in between.
                enable_secret_mutable=True,
                enable_config_map_mutable=True,
                **_ADOPTING,
            )
        case DirectoryTarget(directory):
            return Provider(_NAME, _NO_KUBECONFIG, kubeconfig="", render_yaml_to_directory=str(directory))
        case _:
            assert_never(target)
