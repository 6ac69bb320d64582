"""The stack's configuration, read once. No other module reads Pulumi's configuration."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

import pulumi

from tenantry.guard.claims import Claim
from tenantry.messages.errors import Refused
from tenantry.stacks.file import (
    NAMESPACE,
    Reach,
    allowed,
    check_without,
    deletions,
    directory_of,
    hubs_in,
    is_directory,
    reaches,
    without_in,
)
from tenantry.stacks.outcome import left_out


@dataclass(frozen=True, slots=True)
class ClusterTarget:
    """How to reach the environment's management cluster; `hubs`: one of several, by name."""

    kubeconfig: Path | None = None
    context: str | None = None
    hubs: Mapping[str, Reach] = field(default_factory=dict)
    without: frozenset[str] = frozenset()
    """The management clusters that this run does not contact. Their objects stay as they are."""

    def ways(self, environment: str, hubs: Sequence[str]) -> dict[str, Reach]:
        """How the management clusters that this run contacts are reached, as `reaches` says it.

        Raises: Refused: as `reaches`; or the run would leave out a cluster that is none of them, or all of them.
        """
        check_without(environment, hubs, self.without)
        contacted = [name for name in hubs if name not in self.without]
        found = reaches(environment, hubs, Reach(self.kubeconfig, self.context), self.hubs)
        return found if len(hubs) < 2 else {name: found[name] for name in contacted}


@dataclass(frozen=True, slots=True)
class DirectoryTarget:
    """The stack writes YAML files, to be reviewed or applied by others, instead of changing a cluster."""

    directory: Path


Target: TypeAlias = ClusterTarget | DirectoryTarget


@dataclass(frozen=True, slots=True)
class StackConfig:
    """What the stack runs, and how. Relative paths start at the project's directory, where program and provider run.

    max_deletions: how many tenants, namespaces and apps one run may remove; None: the environment's own limit applies.
    allowed_deletions: what it may remove besides, by name.
    """

    claim: Claim
    fleet: Path
    target: Target
    max_deletions: int | str | None = None
    allowed_deletions: tuple[str, ...] = ()

    @property
    def environment(self) -> str:
        return self.claim.environment

    @property
    def without(self) -> frozenset[str]:
        """The management clusters that this run leaves out."""
        return self.target.without if isinstance(self.target, ClusterTarget) else frozenset()


def read_config(environment: str | None = None, file: str | Path | None = None) -> StackConfig:
    """The running stack's configuration. An empty value means "not set", because the project declares a default for every key.

    Args:   environment, file: what the program says instead of the configuration.
    Raises: Refused: a value is invalid; the message names the key and the command that sets it.
    """
    config = pulumi.Config(NAMESPACE)
    environment = environment or config.get("environment") or pulumi.get_stack()
    claim = Claim(environment, f"{pulumi.get_project()}/{pulumi.get_stack()}")
    limit, names = deletions(config.get("maxDeletions")), allowed(_list(config, "allowDeletions"))
    return StackConfig(claim, _fleet(config, file), _target(config, claim), limit, names)


def _list(config: pulumi.Config, key: str) -> object:
    """A list or mapping in the stack's file, which Pulumi passes as JSON; text that is not JSON is returned as it is."""
    text = config.get(key)
    try:
        return json.loads(text) if text else None
    except ValueError:
        return text


def _fleet(config: pulumi.Config, file: str | Path | None) -> Path:
    fleet = Path(file or config.get("fleet") or "tenants.yaml")
    if not fleet.is_file():
        raise Refused(f"there is no file {fleet} to describe the fleet", f"pulumi config set {NAMESPACE}:fleet FILE")
    return fleet


def _target(config: pulumi.Config, claim: Claim) -> Target:
    if is_directory(config.get("target")):
        return DirectoryTarget(Path(config.get("directory") or directory_of(claim.environment)))
    kubeconfig = config.get("kubeconfig")
    hubs, without = hubs_in(_list(config, "hubs")), _list(config, "without")
    return ClusterTarget(
        Path(kubeconfig) if kubeconfig else None,
        config.get("context") or None,
        hubs,
        left_out() or frozenset(without_in(without)),
    )
