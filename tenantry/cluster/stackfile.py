"""What a stack's file says about its management cluster, so that commands beside `pulumi` find the same one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tenantry.guard.claims import Claim
from tenantry.messages.errors import Refused


@dataclass(frozen=True, slots=True)
class StackTarget:
    """None: the stack leaves it to the usual places, and the number to the environment.

    max_deletions: how many tenants, namespaces and apps one run may remove. files: it is no cluster, but a directory.
    claim: what the stack runs; None: there is no such stack.
    """

    kubeconfig: Path | None = None
    context: str | None = None
    max_deletions: int | None = None
    files: bool = False
    claim: Claim | None = None


def stack_target(project: Path, environment: str) -> StackTarget:
    """Read `Pulumi.<environment>.yaml` in the project's directory; nothing is said where there is no such file.

    Raises: Refused: the file is not YAML.
    """
    content = _read(project / f"Pulumi.{environment}.yaml")
    if content is None:
        return StackTarget()
    config = content.get("config") or {}
    kubeconfig, context = config.get("tenantry:kubeconfig"), config.get("tenantry:context")
    deletions = str(config.get("tenantry:maxDeletions", ""))
    return StackTarget(
        project / Path(kubeconfig).expanduser() if kubeconfig else None,
        context,
        int(deletions) if deletions.isdecimal() else None,
        config.get("tenantry:target") == "directory",
        _claim(project, environment, config.get("tenantry:environment") or environment),
    )


def _claim(project: Path, stack: str, environment: str) -> Claim | None:
    name = (_read(project / "Pulumi.yaml") or {}).get("name")
    return Claim(environment, f"{name}/{stack}") if name else None


def _read(file: Path) -> dict[str, Any] | None:
    try:
        content = yaml.safe_load(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (yaml.YAMLError, UnicodeDecodeError):
        raise Refused(
            f"{file} is not YAML", "correct it, or name the cluster with --kubeconfig and --context"
        ) from None
    return content if isinstance(content, dict) else {}
