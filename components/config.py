"""The stack's configuration, read once. No other module reads Pulumi's configuration."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pulumi

from tenantry.guard.claims import Claim
from tenantry.messages.errors import Refused
from tenantry.stacks.file import NAMESPACE, Reach, allowed, deletions


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
