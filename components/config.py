"""The stack's configuration, read once. No other module asks Pulumi for a setting."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import pulumi

from tenantry.cluster.stackfile import NAMESPACE, deletions, is_directory
from tenantry.guard.claims import Claim
from tenantry.messages.errors import Refused


@dataclass(frozen=True, slots=True)
class ClusterTarget:
    """The environment's management cluster, reached as kubectl would reach it.

    kubeconfig: a file; None: the one that KUBECONFIG names, else ~/.kube/config. context: None: the file's current one.
    """

    kubeconfig: Path | None = None
    context: str | None = None


@dataclass(frozen=True, slots=True)
class DirectoryTarget:
    """YAML files instead of a cluster, for others to review or to apply."""

    directory: Path


Target: TypeAlias = ClusterTarget | DirectoryTarget


@dataclass(frozen=True, slots=True)
class StackConfig:
    """What a stack is about: the environment that it claims, and how. Relative paths start at the project's directory, where
    program and provider run.

    max_deletions: how many tenants, namespaces and apps one run may remove; None: what the environment says.
    """

    claim: Claim
    fleet: Path
    target: Target
    max_deletions: int | None = None

    @property
    def environment(self) -> str:
        return self.claim.environment


def read_config() -> StackConfig:
    """The running stack's configuration. Empty means not set, since the project declares a default for every key.

    Raises: Refused: a value makes no sense; names the key, and the command that sets it right.
    """
    config = pulumi.Config(NAMESPACE)
    environment = config.get("environment") or pulumi.get_stack()
    claim = Claim(environment, f"{pulumi.get_project()}/{pulumi.get_stack()}")
    return StackConfig(claim, _fleet(config), _target(config, environment), deletions(config.get("maxDeletions")))


def _fleet(config: pulumi.Config) -> Path:
    fleet = Path(config.get("fleet") or "tenants.yaml")
    if not fleet.is_file():
        raise Refused(f"there is no file {fleet} to describe the fleet", f"pulumi config set {NAMESPACE}:fleet FILE")
    return fleet


def _target(config: pulumi.Config, environment: str) -> Target:
    if is_directory(config.get("target")):
        return DirectoryTarget(Path(config.get("directory") or f"rendered/{environment}"))
    kubeconfig = config.get("kubeconfig")
    return ClusterTarget(Path(kubeconfig) if kubeconfig else None, config.get("context") or None)
