"""The stack's configuration, read once, and how a run reaches the management cluster that it names: by its provider, by a client.

No other module reads Pulumi's configuration, apart from the secret one. Flux reaches remote clusters, so these have neither.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pulumi
from pulumi_kubernetes import Provider

from tenantry.cluster import connect
from tenantry.guard.claims import Claim
from tenantry.messages.errors import Refused
from tenantry.stacks.file import NAMESPACE, Reach, allowed, deletions

if TYPE_CHECKING:
    from tenantry.cluster.client import Client


@dataclass(frozen=True, slots=True)
class StackConfig:
    """What the stack runs, and how. Relative paths start at the project's directory, where program and provider run.

    target: how the management cluster is reached.
    max_deletions: how many tenants, namespaces and apps one run may remove; None: the environment's own limit applies.
    allowed_deletions: what it may remove besides, by name.
    """

    claim: Claim
    fleet: Path
    target: Reach
    max_deletions: int | str | None = None
    allowed_deletions: tuple[str, ...] = ()

    @property
    def environment(self) -> str:
        return self.claim.environment


def read_config(environment: str | None = None, file: str | Path | None = None) -> StackConfig:
    """The running stack's configuration. An empty value means "not set", because the project declares a default for every key.

    Args:   environment, file: what the program says instead of the configuration.
    Raises: Refused: a value is invalid; the message names the key and the command that sets it.
    """
    config = pulumi.Config(NAMESPACE)
    environment = environment or config.get("environment") or pulumi.get_stack()
    claim = Claim(environment, f"{pulumi.get_project()}/{pulumi.get_stack()}")
    limit, names = deletions(config.get("maxDeletions")), allowed(_list(config, "allowDeletions"))
    fleet = Path(file or config.get("fleet") or "tenants.yaml")
    if not fleet.is_file():
        raise Refused(f"there is no file {fleet} to describe the fleet", f"pulumi config set {NAMESPACE}:fleet FILE")
    kubeconfig = config.get("kubeconfig")
    target = Reach(Path(kubeconfig) if kubeconfig else None, config.get("context") or None)
    return StackConfig(claim, fleet, target, limit, names)


def _list(config: pulumi.Config, key: str) -> object:
    """A list or mapping in the stack's file, which Pulumi passes as JSON; text that is not JSON is returned as it is."""
    text = config.get(key)
    try:
        return json.loads(text) if text else None
    except ValueError:
        return text


# --- the management cluster -------------------------------------------------------------------------------------------

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
        "management",  # whatever the cluster's name: which cluster it is, the identifier says
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
