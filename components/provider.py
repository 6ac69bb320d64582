"""How a run reaches its management cluster: by its provider and by a client. Flux reaches remotes, so these have neither."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pulumi
from pulumi_kubernetes import Provider

from tenantry.cluster import connect
from tenantry.stacks.file import Reach

if TYPE_CHECKING:
    from tenantry.cluster.client import Client


_NAME = "management"
"""Whatever the cluster's name: which cluster it is, the identifier says."""

_REQUESTS = {"qps": 500, "burst": 1000}
"""By default the client sends 50 requests a second, and previews take twice as long; the server protects itself."""


def management_provider(way: Reach, cluster: str) -> Provider:
    """The provider for the management cluster. It contacts the cluster only for an object that changes, or that is refreshed.

    Creating takes over what exists: objects that a killed run left, and those of `adopt: true`. The guard decides beforehand.

    The cluster's name is its identity: objects stay when its address changes, and move when the name changes.
    The kubeconfig is passed as a path, so the state holds no credentials. "" stands for the default locations; if the
    argument were missing, the SDK would write the user's KUBECONFIG into the state.
    """
    return Provider(
        _NAME,
        kubeconfig=str(way.kubeconfig) if way.kubeconfig else "",
        context=way.context,
        cluster_identifier=cluster,
        kube_client_settings=_REQUESTS,
        # By default, a changed value deletes the object and creates a new one, and Flux fails in between.
        enable_secret_mutable=True,
        enable_config_map_mutable=True,
    )


@contextmanager
def connected(target: Reach) -> Iterator[Client]:
    """A client for the management cluster.

    A preview may do without Secrets, which it takes note of; a run has to read those that it writes.
    Raises: Refused: it cannot be reached.
    """
    with connect.connected(target) as client:
        if pulumi.runtime.is_dry_run():
            client.unread = set()
        yield client
